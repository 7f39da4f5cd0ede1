// Checks arguments, then queues the work on a GPU.
#include "lapsum/cuda/lap_sum_inverse.h"

#include "cuda/instantiate.h"
#include "cuda/lap_sum_inverse.h"
#include "ops/check.h"

namespace lapsum::cuda {
namespace {

template <class T>
ops::Check check(const char* operation, Rows<const T> r, const Levels& k, const PerRow& alpha,
                 const Launch& where) {
  const ops::Check check(operation, "r", r, alpha, where);
  check.level("k", k, r.count, static_cast<double>(r.length), "n");
  check.workspace(where, gpu::lap_sum_inverse_workspace(r.count, r.length, k.count()));
  return check;
}

}  // namespace

std::size_t lap_sum_inverse_workspace(std::ptrdiff_t rows, std::ptrdiff_t n, std::ptrdiff_t m) {
  return gpu::lap_sum_inverse_workspace(rows, n, m);
}

template <class T>
void lap_sum_inverse(Rows<const T> r, Levels k, PerRow alpha, Rows<T> b, const Launch& where) {
  const ops::Check checked = check("lap_sum_inverse", r, k, alpha, where);
  checked.output("b", b, r.count, k.count());
  gpu::lap_sum_inverse(r, k, 1, alpha, b, Order::ascending, where);
}

template <class T>
void lap_sum_inverse_vjp(Rows<const T> r, Levels k, PerRow alpha, Rows<const T> g, Rows<T> gr,
                         double* gk, double* galpha, const Launch& where) {
  const ops::Check checked = check("lap_sum_inverse_vjp", r, k, alpha, where);
  checked.input("g", g, r.count, k.count());
  checked.optional_output("gr", gr, r.count, r.length);
  gpu::lap_sum_inverse_vjp(r, k, 1, alpha, g, gr, gk, galpha, Order::ascending, where);
}

template <class T>
void lap_sum_inverse_jvp(Rows<const T> r, Levels k, PerRow alpha, Rows<const T> dr,
                         const double* dk, const double* dalpha, Rows<T> db, const Launch& where) {
  const ops::Check checked = check("lap_sum_inverse_jvp", r, k, alpha, where);
  checked.optional_input("dr", dr, r.count, r.length);
  checked.output("db", db, r.count, k.count());
  gpu::lap_sum_inverse_jvp(r, k, 1, alpha, dr, dk, dalpha, db, Order::ascending, where);
}

LAPSUM_INSTANTIATE_CUDA(lap_sum_inverse)
LAPSUM_INSTANTIATE_CUDA(lap_sum_inverse_vjp)
LAPSUM_INSTANTIATE_CUDA(lap_sum_inverse_jvp)

}  // namespace lapsum::cuda
