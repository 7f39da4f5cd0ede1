// Checks arguments, then queues the work on a GPU.
#include "lapsum/cuda/soft_kth_value.h"

#include "cuda/instantiate.h"
#include "cuda/lap_sum_inverse.h"
#include "ops/check.h"

namespace lapsum::cuda {
namespace {

template <class T>
ops::Check check(const char* operation, Rows<const T> x, const Levels& k, const PerRow& alpha,
                 const Launch& where) {
  const ops::Check check(operation, "x", x, alpha, where);
  check.level("k", k, x.count, static_cast<double>(x.length), "n");
  check.workspace(where, gpu::lap_sum_inverse_workspace(x.count, x.length, k.count()));
  return check;
}

}  // namespace

std::size_t soft_kth_value_workspace(std::ptrdiff_t rows, std::ptrdiff_t n, std::ptrdiff_t m) {
  return gpu::lap_sum_inverse_workspace(rows, n, m);
}

template <class T>
void soft_kth_value(Rows<const T> x, Levels k, PerRow alpha, Rows<T> b, Order order,
                    const Launch& where) {
  const ops::Check checked = check("soft_kth_value", x, k, alpha, where);
  checked.output("b", b, x.count, k.count());
  gpu::lap_sum_inverse(x, k, 1, alpha, b, order, where);
}

template <class T>
void soft_kth_value_vjp(Rows<const T> x, Levels k, PerRow alpha, Rows<const T> g, Rows<T> gx,
                        double* gk, double* galpha, Order order, const Launch& where) {
  const ops::Check checked = check("soft_kth_value_vjp", x, k, alpha, where);
  checked.input("g", g, x.count, k.count());
  checked.optional_output("gx", gx, x.count, x.length);
  gpu::lap_sum_inverse_vjp(x, k, 1, alpha, g, gx, gk, galpha, order, where);
}

template <class T>
void soft_kth_value_jvp(Rows<const T> x, Levels k, PerRow alpha, Rows<const T> dx, const double* dk,
                        const double* dalpha, Rows<T> db, Order order, const Launch& where) {
  const ops::Check checked = check("soft_kth_value_jvp", x, k, alpha, where);
  checked.optional_input("dx", dx, x.count, x.length);
  checked.output("db", db, x.count, k.count());
  gpu::lap_sum_inverse_jvp(x, k, 1, alpha, dx, dk, dalpha, db, order, where);
}

LAPSUM_INSTANTIATE_CUDA(soft_kth_value)
LAPSUM_INSTANTIATE_CUDA(soft_kth_value_vjp)
LAPSUM_INSTANTIATE_CUDA(soft_kth_value_jvp)

}  // namespace lapsum::cuda
