// Stands in for all of src/cuda in a build without CUDA: the same symbols, which throw.
#include <stdexcept>

#include "cuda/instantiate.h"
#include "cuda/log_soft_topk.h"
#include "cuda/soft_topk.h"

namespace lapsum::gpu {
namespace {

[[noreturn]] void off() {
  throw std::runtime_error(
      "lapsum: this build has no CUDA; build it with -DLAPSUM_CUDA=ON to run on a GPU");
}

using Size = std::ptrdiff_t;
using cuda::Launch;
template <class T>
using In = Rows<const T>;
template <class T>
using Out = Rows<T>;
using Roots = const Threshold*;
using Given = const double*;
using Sum = double*;

}  // namespace

std::size_t soft_topk_workspace(Size, Size, Size) { off(); }
template <class T>
void soft_topk(In<T>, const Levels&, const PerRow&, Out<T>, Threshold*, Order, const Launch&) {
  off();
}
template <class T>
void soft_topk_vjp(In<T>, const Levels&, const PerRow&, Roots, In<T>, Out<T>, Sum, Sum, Order,
                   const Launch&) {
  off();
}
template <class T>
void soft_topk_jvp(In<T>, const Levels&, const PerRow&, Roots, In<T>, Given, Given, Out<T>, Order,
                   const Launch&) {
  off();
}
LAPSUM_INSTANTIATE_CUDA(soft_topk)
LAPSUM_INSTANTIATE_CUDA(soft_topk_vjp)
LAPSUM_INSTANTIATE_CUDA(soft_topk_jvp)

std::size_t log_soft_topk_workspace(Size, Size, Size) { off(); }
template <class T>
void log_soft_topk(In<T>, const Levels&, const PerRow&, Out<T>, Threshold*, Order, const Launch&) {
  off();
}
template <class T>
void log_soft_topk_vjp(In<T>, const Levels&, const PerRow&, Roots, In<T>, Out<T>, Sum, Sum, Order,
                       const Launch&) {
  off();
}
template <class T>
void log_soft_topk_jvp(In<T>, const Levels&, const PerRow&, Roots, In<T>, Given, Given, Out<T>,
                       Order, const Launch&) {
  off();
}
LAPSUM_INSTANTIATE_CUDA(log_soft_topk)
LAPSUM_INSTANTIATE_CUDA(log_soft_topk_vjp)
LAPSUM_INSTANTIATE_CUDA(log_soft_topk_jvp)

}  // namespace lapsum::gpu
