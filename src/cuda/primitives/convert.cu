// One thread per element; a block takes kTile of them.
#include "cuda/instantiate.h"
#include "cuda/primitives/convert.h"
#include "cuda/primitives/element.h"
#include "cuda/primitives/launch.h"
#include "cuda/primitives/numbers.h"
#include "math/orientation.h"

namespace lapsum::gpu {
namespace {

constexpr int kThreads = 256;
constexpr std::ptrdiff_t kTile = 4 * kThreads;

std::ptrdiff_t tiles(std::ptrdiff_t elements) { return (elements + kTile - 1) / kTile; }

// body(row, column) for every element of a batch.
template <class Body>
__device__ void for_each_element(std::ptrdiff_t rows, std::ptrdiff_t n, Body&& body) {
  for_each_item((rows * n + kTile - 1) / kTile, [&](std::ptrdiff_t tile) {
    for (std::ptrdiff_t i = tile * kTile + threadIdx.x; i < (tile + 1) * kTile; i += kThreads) {
      if (i < rows * n) body(i / n, i % n);
    }
  });
}

template <class T>
__global__ void __launch_bounds__(kThreads)
    load_kernel(Rows<const T> x, Numbers alpha, Order order, double* r) {
  for_each_element(x.count, x.length, [&](std::ptrdiff_t row, std::ptrdiff_t i) {
    const Orientation orientation(alpha.at(row), order);
    r[row * x.length + i] =
        orientation.valid ? orientation.sign * to_double(x[row][i]) : static_cast<double>(NAN);
  });
}

template <class T>
__global__ void __launch_bounds__(kThreads) store_kernel(const double* y, Rows<T> out) {
  for_each_element(out.count, out.length, [&](std::ptrdiff_t row, std::ptrdiff_t i) {
    out[row][i] = narrow<T>(y[row * out.length + i]);
  });
}

}  // namespace

template <class T>
void load_rows(Rows<const T> x, const PerRow& alpha, Order order, double* r,
               const cuda::Launch& where) {
  launch(where.stream, load_kernel<T>, tiles(x.count * x.length), kThreads, x, Numbers(alpha),
         order, r);
}

template <class T>
void store_rows(const double* y, Rows<T> out, const cuda::Launch& where) {
  launch(where.stream, store_kernel<T>, tiles(out.count * out.length), kThreads, y, out);
}

LAPSUM_INSTANTIATE_CUDA(load_rows)
LAPSUM_INSTANTIATE_CUDA(store_rows)

}  // namespace lapsum::gpu
