// Checks arguments, then queues the work on a GPU.
#include "lapsum/cuda/soft_sort.h"

#include "cuda/instantiate.h"
#include "cuda/soft_sort.h"
#include "ops/check.h"

namespace lapsum::cuda {
namespace {

template <class T>
ops::Check check(const char* operation, Rows<const T> x, const PerRow& alpha, const Launch& where) {
  const ops::Check check(operation, "x", x, alpha, where);
  check.workspace(where, gpu::soft_sort_workspace(x.count, x.length));
  return check;
}

}  // namespace

std::size_t soft_sort_workspace(std::ptrdiff_t rows, std::ptrdiff_t n) {
  return gpu::soft_sort_workspace(rows, n);
}

template <class T>
void soft_sort(Rows<const T> x, PerRow alpha, Rows<T> sorted, Order order, const Launch& where) {
  const ops::Check checked = check("soft_sort", x, alpha, where);
  checked.output("sorted", sorted, x.count, x.length);
  gpu::soft_sort(x, alpha, sorted, order, where);
}

template <class T>
void soft_sort_vjp(Rows<const T> x, PerRow alpha, Rows<const T> g, Rows<T> gx, double* galpha,
                   Order order, const Launch& where) {
  const ops::Check checked = check("soft_sort_vjp", x, alpha, where);
  checked.input("g", g, x.count, x.length);
  checked.optional_output("gx", gx, x.count, x.length);
  gpu::soft_sort_vjp(x, alpha, g, gx, galpha, order, where);
}

template <class T>
void soft_sort_jvp(Rows<const T> x, PerRow alpha, Rows<const T> dx, const double* dalpha,
                   Rows<T> dsorted, Order order, const Launch& where) {
  const ops::Check checked = check("soft_sort_jvp", x, alpha, where);
  checked.optional_input("dx", dx, x.count, x.length);
  checked.output("dsorted", dsorted, x.count, x.length);
  gpu::soft_sort_jvp(x, alpha, dx, dalpha, dsorted, order, where);
}

LAPSUM_INSTANTIATE_CUDA(soft_sort)
LAPSUM_INSTANTIATE_CUDA(soft_sort_vjp)
LAPSUM_INSTANTIATE_CUDA(soft_sort_jvp)

}  // namespace lapsum::cuda
