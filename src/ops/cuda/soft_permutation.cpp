// Checks arguments, then queues the work on a GPU.
#include "lapsum/cuda/soft_permutation.h"

#include "cuda/instantiate.h"
#include "cuda/soft_permutation.h"
#include "ops/check.h"

namespace lapsum::cuda {
namespace {

template <class T>
ops::Check check(const char* operation, Rows<const T> x, const PerRow& alpha, const Launch& where) {
  const ops::Check check(operation, "x", x, alpha, where);
  check.workspace(where, gpu::soft_permutation_workspace(x.count, x.length));
  return check;
}

}  // namespace

std::size_t soft_permutation_workspace(std::ptrdiff_t rows, std::ptrdiff_t n) {
  return gpu::soft_permutation_workspace(rows, n);
}

template <class T>
void soft_permutation(Rows<const T> x, PerRow alpha, Rows<T> matrix, Order order,
                      const Launch& where) {
  const ops::Check checked = check("soft_permutation", x, alpha, where);
  checked.output("matrix", matrix, x.count, x.length * x.length);
  gpu::soft_permutation(x, alpha, matrix, order, where);
}

template <class T>
void soft_permutation_vjp(Rows<const T> x, PerRow alpha, Rows<const T> g, Rows<T> gx,
                          double* galpha, Order order, const Launch& where) {
  const ops::Check checked = check("soft_permutation_vjp", x, alpha, where);
  checked.input("g", g, x.count, x.length * x.length);
  checked.optional_output("gx", gx, x.count, x.length);
  gpu::soft_permutation_vjp(x, alpha, g, gx, galpha, order, where);
}

template <class T>
void soft_permutation_jvp(Rows<const T> x, PerRow alpha, Rows<const T> dx, const double* dalpha,
                          Rows<T> dmatrix, Order order, const Launch& where) {
  const ops::Check checked = check("soft_permutation_jvp", x, alpha, where);
  checked.optional_input("dx", dx, x.count, x.length);
  checked.output("dmatrix", dmatrix, x.count, x.length * x.length);
  gpu::soft_permutation_jvp(x, alpha, dx, dalpha, dmatrix, order, where);
}

LAPSUM_INSTANTIATE_CUDA(soft_permutation)
LAPSUM_INSTANTIATE_CUDA(soft_permutation_vjp)
LAPSUM_INSTANTIATE_CUDA(soft_permutation_jvp)

}  // namespace lapsum::cuda
