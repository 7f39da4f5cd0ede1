// Every element on its own.
#include "cuda/primitives/convert.h"

#include "cuda/instantiate.h"
#include "cuda/primitives/element.h"
#include "cuda/primitives/for_each.h"
#include "cuda/primitives/numbers.h"
#include "math/orientation.h"

namespace lapsum::gpu {
namespace {

template <class T>
struct Load {
  Rows<const T> x;
  Numbers alpha;
  Order order;
  double* r;
  __device__ void operator()(std::ptrdiff_t row, std::ptrdiff_t i) const {
    const Orientation orientation(alpha.at(row), order);
    r[row * x.length + i] = orientation.valid ? orientation.sign * to_double(x[row][i]) : NAN;
  }
};

template <class T>
struct Store {
  const double* y;
  Rows<T> out;
  __device__ void operator()(std::ptrdiff_t row, std::ptrdiff_t i) const {
    out[row][i] = narrow<T>(y[row * out.length + i]);
  }
};

}  // namespace

template <class T>
void load_rows(Queue& queue, Rows<const T> x, const PerRow& alpha, Order order, double* r) {
  for_each(queue, x.count, x.length, Load<T>{x, alpha, order, r});
}

template <class T>
void store_rows(Queue& queue, const double* y, Rows<T> out) {
  for_each(queue, out.count, out.length, Store<T>{y, out});
}

LAPSUM_INSTANTIATE_CUDA(load_rows)
LAPSUM_INSTANTIATE_CUDA(store_rows)

}  // namespace lapsum::gpu
