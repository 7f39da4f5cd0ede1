// log p = log F(z): a mask of the logarithm of the CDF.
#include "cuda/log_soft_topk.h"

#include "cuda/instantiate.h"
#include "cuda/primitives/mask.h"

namespace lapsum::gpu {

std::size_t log_soft_topk_workspace(std::ptrdiff_t rows, std::ptrdiff_t n, std::ptrdiff_t m) {
  return mask_workspace(rows, m, Tiling(n));
}

template <class T>
void log_soft_topk(Rows<const T> x, const Levels& k, const PerRow& alpha, Rows<T> logp,
                   Threshold* thresholds, Order order, const cuda::Launch& where) {
  mask(Curve::log_cdf, x, k, alpha, logp, thresholds, order, where, Tiling(x.length));
}

template <class T>
void log_soft_topk_vjp(Rows<const T> x, const Levels& k, const PerRow& alpha,
                       const Threshold* thresholds, Rows<const T> g, Rows<T> gx, double* gk,
                       double* galpha, Order order, const cuda::Launch& where) {
  mask_vjp(Curve::log_cdf, x, k, alpha, thresholds, g, gx, gk, galpha, order, where,
           Tiling(x.length));
}

template <class T>
void log_soft_topk_jvp(Rows<const T> x, const Levels& k, const PerRow& alpha,
                       const Threshold* thresholds, Rows<const T> dx, const double* dk,
                       const double* dalpha, Rows<T> dlogp, Order order,
                       const cuda::Launch& where) {
  mask_jvp(Curve::log_cdf, x, k, alpha, thresholds, dx, dk, dalpha, dlogp, order, where,
           Tiling(x.length));
}

LAPSUM_INSTANTIATE_CUDA(log_soft_topk)
LAPSUM_INSTANTIATE_CUDA(log_soft_topk_vjp)
LAPSUM_INSTANTIATE_CUDA(log_soft_topk_jvp)

}  // namespace lapsum::gpu
