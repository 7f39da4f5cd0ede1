// Checks arguments, then queues the work on a GPU.
#include "lapsum/cuda/soft_quantile.h"

#include "cuda/instantiate.h"
#include "cuda/lap_sum_inverse.h"
#include "ops/check.h"

namespace lapsum::cuda {
namespace {

template <class T>
ops::Check check(const char* operation, Rows<const T> x, const Levels& q, const PerRow& alpha,
                 const Launch& where) {
  const ops::Check check(operation, "x", x, alpha, where);
  check.level("q", q, x.count, 1, "1");
  check.workspace(where, gpu::lap_sum_inverse_workspace(x.count, x.length, q.count()));
  return check;
}

}  // namespace

std::size_t soft_quantile_workspace(std::ptrdiff_t rows, std::ptrdiff_t n, std::ptrdiff_t m) {
  return gpu::lap_sum_inverse_workspace(rows, n, m);
}

template <class T>
void soft_quantile(Rows<const T> x, Levels q, PerRow alpha, Rows<T> b, const Launch& where) {
  const ops::Check checked = check("soft_quantile", x, q, alpha, where);
  checked.output("b", b, x.count, q.count());
  gpu::lap_sum_inverse(x, q, static_cast<double>(x.length), alpha, b, Order::ascending, where);
}

template <class T>
void soft_quantile_vjp(Rows<const T> x, Levels q, PerRow alpha, Rows<const T> g, Rows<T> gx,
                       double* gq, double* galpha, const Launch& where) {
  const ops::Check checked = check("soft_quantile_vjp", x, q, alpha, where);
  checked.input("g", g, x.count, q.count());
  checked.optional_output("gx", gx, x.count, x.length);
  gpu::lap_sum_inverse_vjp(x, q, static_cast<double>(x.length), alpha, g, gx, gq, galpha,
                           Order::ascending, where);
}

template <class T>
void soft_quantile_jvp(Rows<const T> x, Levels q, PerRow alpha, Rows<const T> dx, const double* dq,
                       const double* dalpha, Rows<T> db, const Launch& where) {
  const ops::Check checked = check("soft_quantile_jvp", x, q, alpha, where);
  checked.optional_input("dx", dx, x.count, x.length);
  checked.output("db", db, x.count, q.count());
  gpu::lap_sum_inverse_jvp(x, q, static_cast<double>(x.length), alpha, dx, dq, dalpha, db,
                           Order::ascending, where);
}

LAPSUM_INSTANTIATE_CUDA(soft_quantile)
LAPSUM_INSTANTIATE_CUDA(soft_quantile_vjp)
LAPSUM_INSTANTIATE_CUDA(soft_quantile_jvp)

}  // namespace lapsum::cuda
