// rank_j = j + (behind_j - before_j) / 2 at sorted place j, before and behind being the decayed
// scans of ones. The Jacobian in r is symmetric: (Jv)_j = peak (v_j K_1(r_j) - K_v(r_j)), so that
// one function serves both modes; d rank_j / dalpha = -peak Z_1(r_j), Z being the odd first moment.
#include "cuda/soft_rank.h"

#include "cuda/instantiate.h"
#include "cuda/primitives/for_each.h"
#include "cuda/primitives/row_factors.h"
#include "cuda/primitives/slabs.h"
#include "cuda/primitives/sum_rows.h"

namespace lapsum::gpu {
namespace {

struct Rank {
  SortedRows sorted;
  Scans<0> ones;
  double* out;
  __device__ void operator()(std::ptrdiff_t row, std::ptrdiff_t j) const {
    const RowFacts& facts = sorted.facts[row];
    const std::ptrdiff_t i = row * sorted.n + j;
    double rank = static_cast<double>(j) + 0.5 * (ones.left[0][i] - ones.right[0][i]);
    if (j < facts.below) rank = 0.5 * static_cast<double>(facts.below - 1);
    if (j >= facts.end()) rank = 0.5 * static_cast<double>(facts.end() + sorted.n - 1);
    out[i] = facts.unit * rank;
  }
};

// The element itself stands in both scans of both sums: it cancels.
struct ApplyJacobian {
  SortedRows sorted;
  const double* v;
  Scans<0> ones, sums;
  double* out;
  __device__ void operator()(std::ptrdiff_t row, std::ptrdiff_t j) const {
    const RowFacts& facts = sorted.facts[row];
    const std::ptrdiff_t i = row * sorted.n + j;
    const bool finite = j >= facts.below && j < facts.end();
    const double moved =
        (v[i] * ones.right[0][i] - sums.right[0][i]) + (v[i] * ones.left[0][i] - sums.left[0][i]);
    out[i] = facts.peak * (finite ? moved : 0);
  }
};

// out = v times d rank / d|alpha|, added to what is there if asked for; v is given for every
// element, or for every row.
struct AlphaSlopes {
  SortedRows sorted;
  Scans<1> ones;
  const double* v;
  bool of_rows;
  double* out;
  __device__ void operator()(std::ptrdiff_t row, std::ptrdiff_t j) const {
    const RowFacts& facts = sorted.facts[row];
    const std::ptrdiff_t i = row * sorted.n + j;
    const bool finite = j >= facts.below && j < facts.end();
    const double slope = -facts.peak * (ones.right[1][i] - ones.left[1][i]);
    const double part = finite ? slope * (of_rows ? v[row] : v[i]) : 0;
    out[i] = of_rows ? out[i] + part : part;
  }
};

double* apply_jacobian(Queue& queue, const SortedRows& sorted, const double* v) {
  double* const out = queue.take<double>(sorted.rows * sorted.n);
  const Scans<0> ones = scan_both<0>(queue, sorted.gaps(), nullptr);
  const Scans<0> sums = scan_both<0>(queue, sorted.gaps(), v);
  for_each(queue, sorted.rows, sorted.n, ApplyJacobian{sorted, v, ones, sums, out});
  return out;
}

template <class T>
void value(Queue& queue, Rows<const T> x, const PerRow& alpha, Rows<T> rank, Order order) {
  for_each_slab(queue, x.count, x.length, [&](const Slab& slab) {
    const SortedRows sorted = sort_rows(queue, slab.of(x), slab.of(alpha), order);
    double* const out = queue.take<double>(slab.count * x.length);
    for_each(queue, slab.count, x.length,
             Rank{sorted, scan_both<0>(queue, sorted.gaps(), nullptr), out});
    store(queue, back_in_place(queue, sorted, out), slab.of(rank));
  });
}

template <class T>
void vjp(Queue& queue, Rows<const T> x, const PerRow& alpha, Rows<const T> g, Rows<T> gx,
         double* galpha, Order order) {
  for_each_slab(queue, x.count, x.length, [&](const Slab& slab) {
    const SortedRows sorted = sort_rows(queue, slab.of(x), slab.of(alpha), order);
    const double* const v = in_order(queue, sorted, load(queue, slab.of(g)));
    if (gx.data) {
      const Queue::Scope scope(queue);
      double* const moved = apply_jacobian(queue, sorted, v);
      scale_rows(queue, sorted, {.sign = true}, x.length, moved);
      store(queue, back_in_place(queue, sorted, moved), slab.of(gx));
    }
    if (galpha) {
      const Queue::Scope scope(queue);
      double* const parts = queue.take<double>(slab.count * x.length);
      double* const sums = slab.of(galpha);
      for_each(queue, slab.count, x.length,
               AlphaSlopes{sorted, scan_both<1>(queue, sorted.gaps(), nullptr), v, false, parts});
      sum_rows(queue, parts, slab.count, x.length, sums);
      row_factors(queue, sorted, {.alpha_sign = true}, 1, sums, sums);
    }
  });
}

template <class T>
void jvp(Queue& queue, Rows<const T> x, const PerRow& alpha, Rows<const T> dx, const double* dalpha,
         Rows<T> drank, Order order) {
  for_each_slab(queue, x.count, x.length, [&](const Slab& slab) {
    const SortedRows sorted = sort_rows(queue, slab.of(x), slab.of(alpha), order);
    double* total;
    if (dx.data) {
      const double* const moved = load(queue, slab.of(dx), slab.of(alpha), order);
      total = apply_jacobian(queue, sorted, in_order(queue, sorted, moved));
    } else {
      total = queue.take<double>(slab.count * x.length);
      fill(queue, sorted, x.length, 0, total);
    }
    if (dalpha) {
      const double* const factors =
          row_factors(queue, sorted, {.alpha_sign = true}, 1, slab.of(dalpha));
      for_each(
          queue, slab.count, x.length,
          AlphaSlopes{sorted, scan_both<1>(queue, sorted.gaps(), nullptr), factors, true, total});
    }
    store(queue, back_in_place(queue, sorted, total), slab.of(drank));
  });
}

}  // namespace

std::size_t soft_rank_workspace(std::ptrdiff_t rows, std::ptrdiff_t n) {
  Queue counting;
  const auto x = some_rows<const double>(rows, n);
  const auto out = some_rows<double>(rows, n);
  value(counting, x, 1, out, Order::ascending);
  vjp(counting, x, 1, x, out, some<double>(), Order::ascending);
  jvp(counting, x, 1, x, some<const double>(), out, Order::ascending);
  return counting.most();
}

template <class T>
void soft_rank(Rows<const T> x, const PerRow& alpha, Rows<T> rank, Order order,
               const cuda::Launch& where) {
  Queue queue(where);
  value(queue, x, alpha, rank, order);
}

template <class T>
void soft_rank_vjp(Rows<const T> x, const PerRow& alpha, Rows<const T> g, Rows<T> gx,
                   double* galpha, Order order, const cuda::Launch& where) {
  Queue queue(where);
  vjp(queue, x, alpha, g, gx, galpha, order);
}

template <class T>
void soft_rank_jvp(Rows<const T> x, const PerRow& alpha, Rows<const T> dx, const double* dalpha,
                   Rows<T> drank, Order order, const cuda::Launch& where) {
  Queue queue(where);
  jvp(queue, x, alpha, dx, dalpha, drank, order);
}

LAPSUM_INSTANTIATE_CUDA(soft_rank)
LAPSUM_INSTANTIATE_CUDA(soft_rank_vjp)
LAPSUM_INSTANTIATE_CUDA(soft_rank_jvp)

}  // namespace lapsum::gpu
