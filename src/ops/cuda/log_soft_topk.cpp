// Checks arguments, then queues the work on a GPU.
#include "lapsum/cuda/log_soft_topk.h"

#include "cuda/instantiate.h"
#include "cuda/log_soft_topk.h"
#include "ops/check.h"

namespace lapsum::cuda {
namespace {

template <class T>
ops::Check check(const char* operation, Rows<const T> x, const Levels& k, const PerRow& alpha,
                 const Launch& where) {
  const ops::Check check(operation, "x", x, alpha, where);
  check.level("k", k, x.count, static_cast<double>(x.length), "n");
  check.workspace(where, gpu::log_soft_topk_workspace(x.count, x.length, k.count()));
  return check;
}

}  // namespace

std::size_t log_soft_topk_workspace(std::ptrdiff_t rows, std::ptrdiff_t n, std::ptrdiff_t m) {
  return gpu::log_soft_topk_workspace(rows, n, m);
}

template <class T>
void log_soft_topk(Rows<const T> x, Levels k, PerRow alpha, Rows<T> logp, Threshold* thresholds,
                   Order order, const Launch& where) {
  const ops::Check checked = check("log_soft_topk", x, k, alpha, where);
  checked.output("logp", logp, x.count * k.count(), x.length);
  gpu::log_soft_topk(x, k, alpha, logp, thresholds, order, where);
}

template <class T>
void log_soft_topk_vjp(Rows<const T> x, Levels k, PerRow alpha, const Threshold* thresholds,
                       Rows<const T> g, Rows<T> gx, double* gk, double* galpha, Order order,
                       const Launch& where) {
  const ops::Check checked = check("log_soft_topk_vjp", x, k, alpha, where);
  checked.input("g", g, x.count * k.count(), x.length);
  checked.optional_output("gx", gx, x.count, x.length);
  gpu::log_soft_topk_vjp(x, k, alpha, thresholds, g, gx, gk, galpha, order, where);
}

template <class T>
void log_soft_topk_jvp(Rows<const T> x, Levels k, PerRow alpha, const Threshold* thresholds,
                       Rows<const T> dx, const double* dk, const double* dalpha, Rows<T> dlogp,
                       Order order, const Launch& where) {
  const ops::Check checked = check("log_soft_topk_jvp", x, k, alpha, where);
  checked.optional_input("dx", dx, x.count, x.length);
  checked.output("dlogp", dlogp, x.count * k.count(), x.length);
  gpu::log_soft_topk_jvp(x, k, alpha, thresholds, dx, dk, dalpha, dlogp, order, where);
}

LAPSUM_INSTANTIATE_CUDA(log_soft_topk)
LAPSUM_INSTANTIATE_CUDA(log_soft_topk_vjp)
LAPSUM_INSTANTIATE_CUDA(log_soft_topk_jvp)

}  // namespace lapsum::cuda
