// Checks arguments, then queues the work on a GPU.
#include "lapsum/cuda/lap_sum.h"

#include "cuda/instantiate.h"
#include "cuda/lap_sum.h"
#include "ops/check.h"

namespace lapsum::cuda {
namespace {

template <class T>
ops::Check check(const char* operation, Rows<const T> r, Rows<const T> x, const PerRow& alpha,
                 const Launch& where) {
  const ops::Check check(operation, "r", r, alpha, where);
  check.input("x", x, r.count, x.length);
  check.sortable("x", x.length);
  check.workspace(where, gpu::lap_sum_workspace(r.count, r.length, x.length));
  return check;
}

}  // namespace

std::size_t lap_sum_workspace(std::ptrdiff_t rows, std::ptrdiff_t n, std::ptrdiff_t m) {
  return gpu::lap_sum_workspace(rows, n, m);
}

template <class T>
void lap_sum(Rows<const T> r, Rows<const T> x, PerRow alpha, Rows<T> y, const Launch& where) {
  const ops::Check checked = check("lap_sum", r, x, alpha, where);
  checked.output("y", y, r.count, x.length);
  gpu::lap_sum(r, x, alpha, y, where);
}

template <class T>
void lap_sum_vjp(Rows<const T> r, Rows<const T> x, PerRow alpha, Rows<const T> g, Rows<T> gr,
                 Rows<T> gx, double* galpha, const Launch& where) {
  const ops::Check checked = check("lap_sum_vjp", r, x, alpha, where);
  checked.input("g", g, r.count, x.length);
  checked.optional_output("gr", gr, r.count, r.length);
  checked.optional_output("gx", gx, r.count, x.length);
  gpu::lap_sum_vjp(r, x, alpha, g, gr, gx, galpha, where);
}

template <class T>
void lap_sum_jvp(Rows<const T> r, Rows<const T> x, PerRow alpha, Rows<const T> dr, Rows<const T> dx,
                 const double* dalpha, Rows<T> dy, const Launch& where) {
  const ops::Check checked = check("lap_sum_jvp", r, x, alpha, where);
  checked.optional_input("dr", dr, r.count, r.length);
  checked.optional_input("dx", dx, r.count, x.length);
  checked.output("dy", dy, r.count, x.length);
  gpu::lap_sum_jvp(r, x, alpha, dr, dx, dalpha, dy, where);
}

LAPSUM_INSTANTIATE_CUDA(lap_sum)
LAPSUM_INSTANTIATE_CUDA(lap_sum_vjp)
LAPSUM_INSTANTIATE_CUDA(lap_sum_jvp)

}  // namespace lapsum::cuda
