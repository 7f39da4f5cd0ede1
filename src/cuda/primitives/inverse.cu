// db = <q, dr> + 2 alpha / total dk + <q, z> dalpha, q and total being the weights and the scale of
// the root.
#include "cuda/primitives/inverse.h"

#include "cuda/instantiate.h"
#include "cuda/primitives/element.h"
#include "cuda/primitives/for_each.h"
#include "cuda/primitives/row_factors.h"
#include "cuda/primitives/slabs.h"
#include "cuda/primitives/spread.h"
#include "cuda/primitives/sum_rows.h"

namespace lapsum::gpu {
namespace {

struct TakeRoots {
  const RowFacts* facts;
  std::ptrdiff_t n, m;
  const Threshold* b;
  double* out;
  __device__ void operator()(std::ptrdiff_t row, std::ptrdiff_t t) const {
    const std::ptrdiff_t i = row * m + t;
    const double root = facts[row].sign * (b[i].anchor + b[i].offset);
    out[i] = n > 0 ? root : static_cast<double>(NAN);
  }
};

// NaN for levels that are NaN, else 0.
struct Unknown {
  Points points;
  double* out;
  __device__ void operator()(std::ptrdiff_t row, std::ptrdiff_t t) const {
    const std::ptrdiff_t i = row * points.m + t;
    out[i] = 0 * (points.at[i].left_weight + points.at[i].right_weight);
  }
};

// NaN in the whole row if one of its levels is, however far apart its elements are; 0 for infinite
// elements.
struct AddSides {
  const RowFacts* facts;
  Scans<0> scans;
  std::ptrdiff_t n;
  const double* unknown;
  double* out;
  __device__ void operator()(std::ptrdiff_t row, std::ptrdiff_t j) const {
    const std::ptrdiff_t i = row * n + j;
    const bool finite = j >= facts[row].below && j < facts[row].end();
    out[i] = finite ? scans.right[0][i] + scans.left[0][i] + unknown[row] : 0;
  }
};

// out += db/dk times v, neither beyond `largest`: db/dk grows without bound on a plateau.
struct AddLevels {
  const RowFacts* facts;
  Points points;
  const double* v;
  double scale, largest;
  double* out;
  __device__ void operator()(std::ptrdiff_t row, std::ptrdiff_t t) const {
    const std::ptrdiff_t i = row * points.m + t;
    const Point& at = points.at[i];
    const bool seen = at.left_weight + at.right_weight != 0;
    const double most = 2 * facts[row].alpha / at.scale;
    const double slope = !seen ? 0 : most > 1e300 ? 1e300 : most;
    const double part = v[i] * slope * scale;
    out[i] += part > largest ? largest : part < -largest ? -largest : part;
  }
};

// Levels of the rows of a slab.
RowLevels of(const Slab& slab, const RowLevels& levels) {
  RowLevels out = levels;
  out.given = slab.of(levels.given);
  return out;
}

}  // namespace

template <class T>
void inverse(Queue& queue, Rows<const T> r, const RowLevels& levels, const PerRow& alpha, Rows<T> b,
             Order order) {
  const std::ptrdiff_t m = levels.count;
  for_each_slab(queue, r.count, std::max(r.length, m), [&](const Slab& slab) {
    const SortedRows sorted = sort_rows(queue, slab.of(r), slab.of(alpha), order);
    const Scans<0> ones = scan_both<0>(queue, sorted.gaps(), nullptr);
    const Roots roots = solve_levels(queue, sorted, ones, of(slab, levels));
    double* const out = queue.take<double>(slab.count * m);
    for_each(queue, slab.count, m, TakeRoots{sorted.facts, sorted.n, m, roots.b, out});
    store(queue, out, slab.of(b));
  });
}

template <class T>
void inverse_vjp(Queue& queue, Rows<const T> r, const RowLevels& levels, const PerRow& alpha,
                 Rows<const T> g, Rows<T> gr, double* gk, double* galpha, Order order) {
  const std::ptrdiff_t m = levels.count;
  for_each_slab(queue, r.count, std::max(r.length, m), [&](const Slab& slab) {
    const SortedRows sorted = sort_rows(queue, slab.of(r), slab.of(alpha), order);
    const double* const u = load(queue, slab.of(g), slab.of(alpha), order);
    const Scans<0> ones = scan_both<0>(queue, sorted.gaps(), nullptr);
    const Points points = solve_levels(queue, sorted, ones, of(slab, levels)).points;
    if (gr.data) {
      const Queue::Scope scope(queue);
      const Runs runs = find_runs(queue, points, levels.steps);
      double* const sums = queue.take<double>(slab.count * r.length);
      double* const by_level = queue.take<double>(slab.count * m);
      double* const by_row = queue.take<double>(slab.count);
      for_each(queue, slab.count, m, Unknown{points, by_level});
      sum_rows(queue, by_level, slab.count, m, by_row);
      for_each(queue, slab.count, r.length,
               AddSides{sorted.facts, spread<0>(queue, sorted, points, runs, u), r.length, by_row,
                        sums});
      scale_rows(queue, sorted, {.sign = true}, r.length, sums);
      store(queue, back_in_place(queue, sorted, sums), slab.of(gr));
    }
    if (gk) {
      double* const to = slab.of(gk, m);
      fill(queue, sorted, m, 0, to);
      for_each(queue, slab.count, m,
               AddLevels{sorted.facts, points, u, levels.scale, Element<T>::kMax, to});
    }
    if (galpha) {
      const Queue::Scope scope(queue);
      double* const parts = queue.take<double>(slab.count * m);
      double* const sums = slab.of(galpha);
      gather(queue, scan_both<1>(queue, sorted.gaps(), nullptr), sorted.n, points,
             {.odd = true, .factor = u}, parts);
      sum_rows(queue, parts, slab.count, m, sums);
      row_factors(queue, sorted, {.alpha_sign = true}, 1, sums, sums);
    }
  });
}

template <class T>
void inverse_jvp(Queue& queue, Rows<const T> r, const RowLevels& levels, const PerRow& alpha,
                 Rows<const T> dr, const double* dk, const double* dalpha, Rows<T> db,
                 Order order) {
  const std::ptrdiff_t m = levels.count;
  for_each_slab(queue, r.count, std::max(r.length, m), [&](const Slab& slab) {
    const SortedRows sorted = sort_rows(queue, slab.of(r), slab.of(alpha), order);
    const Scans<0> ones = scan_both<0>(queue, sorted.gaps(), nullptr);
    const Points points = solve_levels(queue, sorted, ones, of(slab, levels)).points;
    double* const total = queue.take<double>(slab.count * m);
    fill(queue, sorted, m, 0, total);
    if (dr.data) {
      const Queue::Scope scope(queue);
      const double* const moved = load(queue, slab.of(dr), slab.of(alpha), order);
      gather(queue, scan_both<0>(queue, sorted.gaps(), in_order(queue, sorted, moved)), sorted.n,
             points, {.add = true}, total);
    }
    if (dk) {
      for_each(queue, slab.count, m,
               AddLevels{sorted.facts, points, slab.of(dk, m), levels.scale, Element<double>::kMax,
                         total});
    }
    if (dalpha) {
      const Queue::Scope scope(queue);
      const double* const factors =
          row_factors(queue, sorted, {.alpha_sign = true}, 1, slab.of(dalpha));
      gather(queue, scan_both<1>(queue, sorted.gaps(), nullptr), sorted.n, points,
             {.odd = true, .row_factor = factors, .add = true}, total);
    }
    scale_rows(queue, sorted, {.sign = true}, m, total);
    store(queue, total, slab.of(db));
  });
}

std::size_t inverse_workspace(std::ptrdiff_t rows, std::ptrdiff_t n, const RowLevels& levels) {
  Queue counting;
  const auto r = some_rows<const double>(rows, n);
  const auto at_levels = some_rows<double>(rows, levels.count);
  inverse<double>(counting, r, levels, 1, at_levels, Order::ascending);
  inverse_vjp<double>(counting, r, levels, 1, at_levels, some_rows<double>(rows, n), some<double>(),
                      some<double>(), Order::ascending);
  inverse_jvp<double>(counting, r, levels, 1, r, some<double>(), some<double>(), at_levels,
                      Order::ascending);
  return counting.most();
}

LAPSUM_INSTANTIATE_CUDA(inverse)
LAPSUM_INSTANTIATE_CUDA(inverse_vjp)
LAPSUM_INSTANTIATE_CUDA(inverse_jvp)

}  // namespace lapsum::gpu
