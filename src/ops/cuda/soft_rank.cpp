// Checks arguments, then queues the work on a GPU.
#include "lapsum/cuda/soft_rank.h"

#include "cuda/instantiate.h"
#include "cuda/soft_rank.h"
#include "ops/check.h"

namespace lapsum::cuda {
namespace {

template <class T>
ops::Check check(const char* operation, Rows<const T> x, const PerRow& alpha, const Launch& where) {
  const ops::Check check(operation, "x", x, alpha, where);
  check.workspace(where, gpu::soft_rank_workspace(x.count, x.length));
  return check;
}

}  // namespace

std::size_t soft_rank_workspace(std::ptrdiff_t rows, std::ptrdiff_t n) {
  return gpu::soft_rank_workspace(rows, n);
}

template <class T>
void soft_rank(Rows<const T> x, PerRow alpha, Rows<T> rank, Order order, const Launch& where) {
  const ops::Check checked = check("soft_rank", x, alpha, where);
  checked.output("rank", rank, x.count, x.length);
  gpu::soft_rank(x, alpha, rank, order, where);
}

template <class T>
void soft_rank_vjp(Rows<const T> x, PerRow alpha, Rows<const T> g, Rows<T> gx, double* galpha,
                   Order order, const Launch& where) {
  const ops::Check checked = check("soft_rank_vjp", x, alpha, where);
  checked.input("g", g, x.count, x.length);
  checked.optional_output("gx", gx, x.count, x.length);
  gpu::soft_rank_vjp(x, alpha, g, gx, galpha, order, where);
}

template <class T>
void soft_rank_jvp(Rows<const T> x, PerRow alpha, Rows<const T> dx, const double* dalpha,
                   Rows<T> drank, Order order, const Launch& where) {
  const ops::Check checked = check("soft_rank_jvp", x, alpha, where);
  checked.optional_input("dx", dx, x.count, x.length);
  checked.output("drank", drank, x.count, x.length);
  gpu::soft_rank_jvp(x, alpha, dx, dalpha, drank, order, where);
}

LAPSUM_INSTANTIATE_CUDA(soft_rank)
LAPSUM_INSTANTIATE_CUDA(soft_rank_vjp)
LAPSUM_INSTANTIATE_CUDA(soft_rank_jvp)

}  // namespace lapsum::cuda
