// The inverse at given levels.
#include "cuda/lap_sum_inverse.h"

#include "cuda/instantiate.h"
#include "cuda/primitives/inverse.h"

namespace lapsum::gpu {

std::size_t lap_sum_inverse_workspace(std::ptrdiff_t rows, std::ptrdiff_t n, std::ptrdiff_t m) {
  return inverse_workspace(rows, n, RowLevels::of({nullptr, m, m}));
}

template <class T>
void lap_sum_inverse(Rows<const T> r, const Levels& k, double scale, const PerRow& alpha, Rows<T> b,
                     Order order, const cuda::Launch& where) {
  Queue queue(where);
  inverse(queue, r, RowLevels::of(k, scale), alpha, b, order);
}

template <class T>
void lap_sum_inverse_vjp(Rows<const T> r, const Levels& k, double scale, const PerRow& alpha,
                         Rows<const T> g, Rows<T> gr, double* gk, double* galpha, Order order,
                         const cuda::Launch& where) {
  Queue queue(where);
  inverse_vjp(queue, r, RowLevels::of(k, scale), alpha, g, gr, gk, galpha, order);
}

template <class T>
void lap_sum_inverse_jvp(Rows<const T> r, const Levels& k, double scale, const PerRow& alpha,
                         Rows<const T> dr, const double* dk, const double* dalpha, Rows<T> db,
                         Order order, const cuda::Launch& where) {
  Queue queue(where);
  inverse_jvp(queue, r, RowLevels::of(k, scale), alpha, dr, dk, dalpha, db, order);
}

LAPSUM_INSTANTIATE_CUDA(lap_sum_inverse)
LAPSUM_INSTANTIATE_CUDA(lap_sum_inverse_vjp)
LAPSUM_INSTANTIATE_CUDA(lap_sum_inverse_jvp)

}  // namespace lapsum::gpu
