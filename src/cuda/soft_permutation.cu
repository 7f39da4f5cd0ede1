// Row i of the matrix is the difference of the top-(i+1) and the top-i mask of the smallest
// elements, formed without cancellation. Derivatives are those of the masks: with s = e^-|z| / (2
// alpha) at threshold t, dF = s (<q, pull> - pull), pull = dr + z dalpha.
#include "cuda/soft_permutation.h"

#include "cuda/instantiate.h"
#include "cuda/primitives/cut_masks.h"
#include "cuda/primitives/slabs.h"
#include "cuda/primitives/sum_rows.h"

namespace lapsum::gpu {
namespace {

template <class T>
void value(Queue& queue, Rows<const T> x, const PerRow& alpha, Rows<T> matrix, Order order) {
  for_each_slab(queue, x.count, x.length, [&](const Slab& slab) {
    const Cuts cuts = cut_rows(queue, slab.of(x), slab.of(alpha), order);
    for_each(queue, slab.count * x.length, x.length, Shares<T>{cuts, slab.of(matrix)});
  });
}

template <class T>
void vjp(Queue& queue, Rows<const T> x, const PerRow& alpha, Rows<const T> g, Rows<T> gx,
         double* galpha, Order order) {
  for_each_slab(queue, x.count, x.length, [&](const Slab& slab) {
    const Cuts cuts = cut_rows(queue, slab.of(x), slab.of(alpha), order);
    const std::ptrdiff_t m = cuts.roots.points.m;
    const GivenAt<T> given{slab.of(g), x.length};
    double* const means = queue.take<double>(slab.count * m);
    double* const parts = galpha ? queue.take<double>(slab.count * m) : nullptr;
    find_means(queue, cuts, given, means, parts);
    if (gx.data) {
      double* const gr = queue.take<double>(slab.count * x.length);
      for_each(queue, slab.count, x.length, PullElement<T>{cuts, given, means, gr});
      store(queue, gr, slab.of(gx));
    }
    if (galpha) {
      double* const sums = slab.of(galpha);
      sum_rows(queue, parts, slab.count, m, sums);
      row_factors(queue, cuts.sorted, {.alpha_sign = true}, 1, sums, sums);
    }
  });
}

template <class T>
void jvp(Queue& queue, Rows<const T> x, const PerRow& alpha, Rows<const T> dx, const double* dalpha,
         Rows<T> dmatrix, Order order) {
  for_each_slab(queue, x.count, x.length, [&](const Slab& slab) {
    const Cuts cuts = cut_rows(queue, slab.of(x), slab.of(alpha), order);
    PullAt pull{nullptr, nullptr, x.length};
    if (dx.data) pull.dr = load(queue, slab.of(dx), slab.of(alpha), order);
    if (dalpha) {
      pull.dalpha = row_factors(queue, cuts.sorted, {.alpha_sign = true}, 1, slab.of(dalpha));
    }
    double* const means = queue.take<double>(slab.count * cuts.roots.points.m);
    find_means(queue, cuts, pull, means, nullptr);
    for_each(queue, slab.count * x.length, x.length,
             MoveEntry<T>{cuts, pull, means, slab.of(dmatrix)});
  });
}

}  // namespace

std::size_t soft_permutation_workspace(std::ptrdiff_t rows, std::ptrdiff_t n) {
  Queue counting;
  const auto x = some_rows<const double>(rows, n);
  const auto matrix = some_rows<double>(rows, n * n);
  value(counting, x, 1, matrix, Order::ascending);
  vjp<double>(counting, x, 1, matrix, some_rows<double>(rows, n), some<double>(), Order::ascending);
  jvp(counting, x, 1, x, some<const double>(), matrix, Order::ascending);
  return counting.most();
}

template <class T>
void soft_permutation(Rows<const T> x, const PerRow& alpha, Rows<T> matrix, Order order,
                      const cuda::Launch& where) {
  Queue queue(where);
  value(queue, x, alpha, matrix, order);
}

template <class T>
void soft_permutation_vjp(Rows<const T> x, const PerRow& alpha, Rows<const T> g, Rows<T> gx,
                          double* galpha, Order order, const cuda::Launch& where) {
  Queue queue(where);
  vjp(queue, x, alpha, g, gx, galpha, order);
}

template <class T>
void soft_permutation_jvp(Rows<const T> x, const PerRow& alpha, Rows<const T> dx,
                          const double* dalpha, Rows<T> dmatrix, Order order,
                          const cuda::Launch& where) {
  Queue queue(where);
  jvp(queue, x, alpha, dx, dalpha, dmatrix, order);
}

LAPSUM_INSTANTIATE_CUDA(soft_permutation)
LAPSUM_INSTANTIATE_CUDA(soft_permutation_vjp)
LAPSUM_INSTANTIATE_CUDA(soft_permutation_jvp)

}  // namespace lapsum::gpu
