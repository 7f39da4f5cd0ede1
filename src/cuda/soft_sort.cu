// The inverse at the levels 1/2, 3/2, ..., n - 1/2, the same for every row.
#include "cuda/soft_sort.h"

#include "cuda/instantiate.h"
#include "cuda/primitives/inverse.h"

namespace lapsum::gpu {

std::size_t soft_sort_workspace(std::ptrdiff_t rows, std::ptrdiff_t n) {
  return inverse_workspace(rows, n, RowLevels::halves(n));
}

template <class T>
void soft_sort(Rows<const T> x, const PerRow& alpha, Rows<T> sorted, Order order,
               const cuda::Launch& where) {
  Queue queue(where);
  inverse(queue, x, RowLevels::halves(x.length), alpha, sorted, order);
}

template <class T>
void soft_sort_vjp(Rows<const T> x, const PerRow& alpha, Rows<const T> g, Rows<T> gx,
                   double* galpha, Order order, const cuda::Launch& where) {
  Queue queue(where);
  inverse_vjp(queue, x, RowLevels::halves(x.length), alpha, g, gx, nullptr, galpha, order);
}

template <class T>
void soft_sort_jvp(Rows<const T> x, const PerRow& alpha, Rows<const T> dx, const double* dalpha,
                   Rows<T> dsorted, Order order, const cuda::Launch& where) {
  Queue queue(where);
  inverse_jvp(queue, x, RowLevels::halves(x.length), alpha, dx, nullptr, dalpha, dsorted, order);
}

LAPSUM_INSTANTIATE_CUDA(soft_sort)
LAPSUM_INSTANTIATE_CUDA(soft_sort_vjp)
LAPSUM_INSTANTIATE_CUDA(soft_sort_jvp)

}  // namespace lapsum::gpu
