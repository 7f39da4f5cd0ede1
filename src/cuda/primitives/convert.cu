// Every element on its own.
#include "cuda/instantiate.h"
#include "cuda/primitives/convert.h"
#include "cuda/primitives/element.h"
#include "cuda/primitives/elements.h"
#include "cuda/primitives/numbers.h"
#include "math/orientation.h"

namespace lapsum::gpu {
namespace {

template <class T>
__global__ void __launch_bounds__(kElementThreads)
    load_kernel(Rows<const T> x, Numbers alpha, Order order, double* r) {
  for_each_element(x.count, x.length, [&](std::ptrdiff_t row, std::ptrdiff_t i) {
    const Orientation orientation(alpha.at(row), order);
    r[row * x.length + i] = orientation.valid ? orientation.sign * to_double(x[row][i]) : NAN;
  });
}

template <class T>
__global__ void __launch_bounds__(kElementThreads) store_kernel(const double* y, Rows<T> out) {
  for_each_element(out.count, out.length, [&](std::ptrdiff_t row, std::ptrdiff_t i) {
    out[row][i] = narrow<T>(y[row * out.length + i]);
  });
}

}  // namespace

template <class T>
void load_rows(Rows<const T> x, const PerRow& alpha, Order order, double* r,
               const cuda::Launch& where) {
  launch(where.stream, load_kernel<T>, element_tiles(x.count * x.length), kElementThreads, x,
         Numbers(alpha), order, r);
}

template <class T>
void store_rows(const double* y, Rows<T> out, const cuda::Launch& where) {
  launch(where.stream, store_kernel<T>, element_tiles(out.count * out.length), kElementThreads, y,
         out);
}

LAPSUM_INSTANTIATE_CUDA(load_rows)
LAPSUM_INSTANTIATE_CUDA(store_rows)

}  // namespace lapsum::gpu
