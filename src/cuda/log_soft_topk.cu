// log p = log F(z): the slope in z is min(p, 1 - p) / p, and 1 wherever p < 1/2.
#include "cuda/instantiate.h"
#include "cuda/log_soft_topk.h"

namespace lapsum::gpu {

std::size_t log_soft_topk_workspace(std::ptrdiff_t, std::ptrdiff_t, std::ptrdiff_t) { return 0; }

template <class T>
void log_soft_topk(Rows<const T>, const Levels&, const PerRow&, Rows<T>, Threshold*, Order,
                   const cuda::Launch&) {}

template <class T>
void log_soft_topk_vjp(Rows<const T>, const Levels&, const PerRow&, const Threshold*, Rows<const T>,
                       Rows<T>, double*, double*, Order, const cuda::Launch&) {}

template <class T>
void log_soft_topk_jvp(Rows<const T>, const Levels&, const PerRow&, const Threshold*, Rows<const T>,
                       const double*, const double*, Rows<T>, Order, const cuda::Launch&) {}

LAPSUM_INSTANTIATE_CUDA(log_soft_topk)
LAPSUM_INSTANTIATE_CUDA(log_soft_topk_vjp)
LAPSUM_INSTANTIATE_CUDA(log_soft_topk_jvp)

}  // namespace lapsum::gpu
