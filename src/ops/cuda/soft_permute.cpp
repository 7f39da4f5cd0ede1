// Checks arguments, then queues the work on a GPU.
#include "lapsum/cuda/soft_permute.h"

#include "cuda/instantiate.h"
#include "cuda/soft_permute.h"
#include "ops/check.h"

namespace lapsum::cuda {
namespace {

template <class T>
ops::Check check(const char* operation, Rows<const T> x, Rows<const T> values,
                 std::ptrdiff_t columns, const PerRow& alpha, const Launch& where) {
  const ops::Check check(operation, "x", x, alpha, where);
  check.sortable("columns", columns);
  check.input("values", values, x.count, x.length * columns);
  check.workspace(where, gpu::soft_permute_workspace(x.count, x.length, columns));
  return check;
}

}  // namespace

std::size_t soft_permute_workspace(std::ptrdiff_t rows, std::ptrdiff_t n, std::ptrdiff_t columns) {
  return gpu::soft_permute_workspace(rows, n, columns);
}

template <class T>
void soft_permute(Rows<const T> x, Rows<const T> values, std::ptrdiff_t columns, PerRow alpha,
                  Rows<T> out, Apply apply, Order order, const Launch& where) {
  const ops::Check checked = check("soft_permute", x, values, columns, alpha, where);
  checked.output("out", out, x.count, x.length * columns);
  gpu::soft_permute(x, values, columns, alpha, out, apply, order, where);
}

template <class T>
void soft_permute_vjp(Rows<const T> x, Rows<const T> values, std::ptrdiff_t columns, PerRow alpha,
                      Rows<const T> g, Rows<T> gx, Rows<T> gvalues, double* galpha, Apply apply,
                      Order order, const Launch& where) {
  const ops::Check checked = check("soft_permute_vjp", x, values, columns, alpha, where);
  checked.input("g", g, x.count, x.length * columns);
  checked.optional_output("gx", gx, x.count, x.length);
  checked.optional_output("gvalues", gvalues, x.count, x.length * columns);
  gpu::soft_permute_vjp(x, values, columns, alpha, g, gx, gvalues, galpha, apply, order, where);
}

template <class T>
void soft_permute_jvp(Rows<const T> x, Rows<const T> values, std::ptrdiff_t columns, PerRow alpha,
                      Rows<const T> dx, Rows<const T> dvalues, const double* dalpha, Rows<T> dout,
                      Apply apply, Order order, const Launch& where) {
  const ops::Check checked = check("soft_permute_jvp", x, values, columns, alpha, where);
  checked.optional_input("dx", dx, x.count, x.length);
  checked.optional_input("dvalues", dvalues, x.count, x.length * columns);
  checked.output("dout", dout, x.count, x.length * columns);
  gpu::soft_permute_jvp(x, values, columns, alpha, dx, dvalues, dalpha, dout, apply, order, where);
}

LAPSUM_INSTANTIATE_CUDA(soft_permute)
LAPSUM_INSTANTIATE_CUDA(soft_permute_vjp)
LAPSUM_INSTANTIATE_CUDA(soft_permute_jvp)

}  // namespace lapsum::cuda
