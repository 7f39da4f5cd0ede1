// p = F(z): the slope in z is e^-|z| / 2, so that dp/dk = q.
#include "cuda/instantiate.h"
#include "cuda/soft_topk.h"

namespace lapsum::gpu {

std::size_t soft_topk_workspace(std::ptrdiff_t, std::ptrdiff_t, std::ptrdiff_t) { return 0; }

template <class T>
void soft_topk(Rows<const T>, const Levels&, const PerRow&, Rows<T>, Threshold*, Order,
               const cuda::Launch&) {}

template <class T>
void soft_topk_vjp(Rows<const T>, const Levels&, const PerRow&, const Threshold*, Rows<const T>,
                   Rows<T>, double*, double*, Order, const cuda::Launch&) {}

template <class T>
void soft_topk_jvp(Rows<const T>, const Levels&, const PerRow&, const Threshold*, Rows<const T>,
                   const double*, const double*, Rows<T>, Order, const cuda::Launch&) {}

LAPSUM_INSTANTIATE_CUDA(soft_topk)
LAPSUM_INSTANTIATE_CUDA(soft_topk_vjp)
LAPSUM_INSTANTIATE_CUDA(soft_topk_jvp)

}  // namespace lapsum::gpu
