// Stands in for all of src/cuda in a build without CUDA: the same symbols, which throw.
#include <stdexcept>

#include "cuda/instantiate.h"
#include "cuda/lap_kernel.h"
#include "cuda/lap_sum.h"
#include "cuda/lap_sum_inverse.h"
#include "cuda/log_soft_topk.h"
#include "cuda/soft_permutation.h"
#include "cuda/soft_permute.h"
#include "cuda/soft_rank.h"
#include "cuda/soft_sort.h"
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

std::size_t lap_kernel_workspace(Size, Size, Size) { off(); }
template <class T>
void lap_kernel(In<T>, In<T>, In<T>, const PerRow&, Kernel, Out<T>, const Launch&) {
  off();
}
LAPSUM_INSTANTIATE_CUDA(lap_kernel)

std::size_t lap_sum_workspace(Size, Size, Size) { off(); }
template <class T>
void lap_sum(In<T>, In<T>, const PerRow&, Out<T>, const Launch&) {
  off();
}
template <class T>
void lap_sum_vjp(In<T>, In<T>, const PerRow&, In<T>, Out<T>, Out<T>, Sum, const Launch&) {
  off();
}
template <class T>
void lap_sum_jvp(In<T>, In<T>, const PerRow&, In<T>, In<T>, Given, Out<T>, const Launch&) {
  off();
}
LAPSUM_INSTANTIATE_CUDA(lap_sum)
LAPSUM_INSTANTIATE_CUDA(lap_sum_vjp)
LAPSUM_INSTANTIATE_CUDA(lap_sum_jvp)

std::size_t lap_sum_inverse_workspace(Size, Size, Size) { off(); }
template <class T>
void lap_sum_inverse(In<T>, const Levels&, double, const PerRow&, Out<T>, Order, const Launch&) {
  off();
}
template <class T>
void lap_sum_inverse_vjp(In<T>, const Levels&, double, const PerRow&, In<T>, Out<T>, Sum, Sum,
                         Order, const Launch&) {
  off();
}
template <class T>
void lap_sum_inverse_jvp(In<T>, const Levels&, double, const PerRow&, In<T>, Given, Given, Out<T>,
                         Order, const Launch&) {
  off();
}
LAPSUM_INSTANTIATE_CUDA(lap_sum_inverse)
LAPSUM_INSTANTIATE_CUDA(lap_sum_inverse_vjp)
LAPSUM_INSTANTIATE_CUDA(lap_sum_inverse_jvp)

std::size_t soft_rank_workspace(Size, Size) { off(); }
template <class T>
void soft_rank(In<T>, const PerRow&, Out<T>, Order, const Launch&) {
  off();
}
template <class T>
void soft_rank_vjp(In<T>, const PerRow&, In<T>, Out<T>, Sum, Order, const Launch&) {
  off();
}
template <class T>
void soft_rank_jvp(In<T>, const PerRow&, In<T>, Given, Out<T>, Order, const Launch&) {
  off();
}
LAPSUM_INSTANTIATE_CUDA(soft_rank)
LAPSUM_INSTANTIATE_CUDA(soft_rank_vjp)
LAPSUM_INSTANTIATE_CUDA(soft_rank_jvp)

std::size_t soft_sort_workspace(Size, Size) { off(); }
template <class T>
void soft_sort(In<T>, const PerRow&, Out<T>, Order, const Launch&) {
  off();
}
template <class T>
void soft_sort_vjp(In<T>, const PerRow&, In<T>, Out<T>, Sum, Order, const Launch&) {
  off();
}
template <class T>
void soft_sort_jvp(In<T>, const PerRow&, In<T>, Given, Out<T>, Order, const Launch&) {
  off();
}
LAPSUM_INSTANTIATE_CUDA(soft_sort)
LAPSUM_INSTANTIATE_CUDA(soft_sort_vjp)
LAPSUM_INSTANTIATE_CUDA(soft_sort_jvp)

std::size_t soft_permutation_workspace(Size, Size) { off(); }
template <class T>
void soft_permutation(In<T>, const PerRow&, Out<T>, Order, const Launch&) {
  off();
}
template <class T>
void soft_permutation_vjp(In<T>, const PerRow&, In<T>, Out<T>, Sum, Order, const Launch&) {
  off();
}
template <class T>
void soft_permutation_jvp(In<T>, const PerRow&, In<T>, Given, Out<T>, Order, const Launch&) {
  off();
}
LAPSUM_INSTANTIATE_CUDA(soft_permutation)
LAPSUM_INSTANTIATE_CUDA(soft_permutation_vjp)
LAPSUM_INSTANTIATE_CUDA(soft_permutation_jvp)

std::size_t soft_permute_workspace(Size, Size, Size) { off(); }
template <class T>
void soft_permute(In<T>, In<T>, Size, const PerRow&, Out<T>, Apply, Order, const Launch&) {
  off();
}
template <class T>
void soft_permute_vjp(In<T>, In<T>, Size, const PerRow&, In<T>, Out<T>, Out<T>, Sum, Apply, Order,
                      const Launch&) {
  off();
}
template <class T>
void soft_permute_jvp(In<T>, In<T>, Size, const PerRow&, In<T>, In<T>, Given, Out<T>, Apply, Order,
                      const Launch&) {
  off();
}
LAPSUM_INSTANTIATE_CUDA(soft_permute)
LAPSUM_INSTANTIATE_CUDA(soft_permute_vjp)
LAPSUM_INSTANTIATE_CUDA(soft_permute_jvp)

}  // namespace lapsum::gpu
