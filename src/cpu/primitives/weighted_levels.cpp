// Elements without weight are left out before the row is sorted: so every end of an interval has a
// sum that is not 0, and no plateau underflows. Weights are counted in two doubles, for what a level
// exceeds a count by is small against both.
#include "cpu/primitives/weighted_levels.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "cpu/primitives/decayed_scan.h"
#include "cpu/primitives/row.h"
#include "cpu/primitives/walk.h"
#include "math/interval.h"

namespace lapsum::cpu {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

// The finite elements that have a weight, in ascending order.
struct Counted {
  std::span<const double> w;
  std::span<const Compensated> weight;  // of all values up to each
  Decays decays;
  Scans<0> sums;

  std::ptrdiff_t size() const { return decays.size(); }
  bool is_beyond(const Compensated& k, std::ptrdiff_t j) const {
    // LapSum(r_j) = weight_j - w_j / 2 + (behind - before) / 2.
    return k.minus(weight[j]) + 0.5 * w[j] > 0.5 * (sums.left[0][j] - sums.right[0][j]);
  }
};

template <class T>
Counted count(const WeightedRow<T>& row, Arena& arena, int threads) {
  std::span<T> x = arena.take<T>(row.n);
  std::span<T> w = arena.take<T>(row.n);
  std::ptrdiff_t m = 0;
  for (std::ptrdiff_t i = 0; i < row.n; ++i) {
    x[m] = row.x[i];
    w[m] = row.w[i];
    m += std::isfinite(row.x[i]) && row.w[i] > 0;
  }
  std::span<double> sorted = arena.take<double>(m);
  std::span<Index> order = arena.take<Index>(m);
  argsort(x.data(), m, row.orientation.sign < 0, sorted.data(), order.data(), arena, threads);
  std::span<double> weights = arena.take<double>(m);
  std::span<Compensated> weight = arena.take<Compensated>(m);
  Compensated so_far;
  for (std::ptrdiff_t j = 0; j < m; ++j) {
    weights[j] = static_cast<double>(w[order[j]]);
    so_far.add(weights[j]);
    weight[j] = so_far;
  }
  Counted out{weights, weight, make_decays(sorted, row.orientation.alpha, arena, threads), {}};
  out.sums = scan_both<0>(out.decays, {weights}, arena, threads);
  return out;
}

// The root with `lefts` values on its left. Sums are seen in units of the larger one: the product of
// two small weights must not underflow.
WeightedRoot solve(const Counted& row, std::ptrdiff_t lefts, double excess) {
  math::Interval at{-kInf, 0, kInf, 0};
  if (lefts > 0) {
    at.left_nearest = row.decays.r[lefts - 1];
    at.left_sum = row.sums.right[0][lefts - 1];
  }
  if (lefts < row.size()) {
    at.right_nearest = row.decays.r[lefts];
    at.right_sum = row.sums.left[0][lefts];
  }
  const double unit = std::max(at.left_sum, at.right_sum);
  at.left_sum /= unit;
  at.right_sum /= unit;
  const math::Root root = math::solve_interval(at, excess / unit, row.decays.alpha);
  return {root.b,
          at.left_nearest,
          at.right_nearest,
          root.left_z,
          root.right_z,
          root.left_weight / unit,
          root.right_weight / unit,
          std::min(1 / (root.total * unit), 1e300)};
}

}  // namespace

template <class T>
bool WeightedRow<T>::is_known() const {
  bool known = true;
  for (std::ptrdiff_t i = 0; i < n; ++i) {
    known &= x[i] == x[i] && w[i] >= 0 && w[i] <= std::numeric_limits<T>::max();
  }
  return known;
}

template <class T>
Compensated WeightedRow<T>::below() const {
  Compensated sum;
  for (std::ptrdiff_t i = 0; i < n; ++i) {
    if (static_cast<double>(x[i]) == -orientation.sign * kInf) sum.add(static_cast<double>(w[i]));
  }
  return sum;
}

template <class T>
Compensated WeightedRow<T>::total() const {
  Compensated sum;
  for (std::ptrdiff_t i = 0; i < n; ++i) sum.add(static_cast<double>(w[i]));
  return sum;
}

template <class T>
void solve_weighted_levels(const WeightedRow<T>& row, std::span<const Compensated> k,
                           std::span<WeightedRoot> roots, Arena& arena, int threads) {
  const Arena::Scope scope(arena);
  std::fill(roots.begin(), roots.end(), WeightedRoot{{kNaN, 0}});
  if (!row.orientation.valid || !row.is_known()) return;
  const Counted counted = count(row, arena, threads);
  const Compensated below = row.below();
  if (!std::isfinite(below.sum)) return;
  if (counted.size() > 0 && !std::isfinite(counted.weight.back().sum)) return;
  const std::ptrdiff_t m = std::ssize(k);
  std::span<Compensated> rest = arena.take<Compensated>(m);
  std::span<double> queries = arena.take<double>(m);
  for (std::ptrdiff_t t = 0; t < m; ++t) {
    rest[t] = k[t];
    rest[t].add(-below.sum);
    rest[t].add(-below.rest);
    queries[t] = rest[t].value();
  }
  const auto beyond = [&](std::ptrdiff_t t, std::ptrdiff_t j) {
    return counted.is_beyond(rest[t], j);
  };
  walk(counted.size(), queries, arena, threads, beyond, [&](std::ptrdiff_t t, std::ptrdiff_t j) {
    const double level = k[t].value();
    const double excess = j < 0 ? queries[t] : rest[t].minus(counted.weight[j]);
    if (std::isnan(level)) return;
    if (level <= 0 || std::isinf(level)) {
      roots[t].b = {level > 0 ? kInf : -kInf, 0};
    } else if (queries[t] <= 0) {
      roots[t].b = {-kInf, std::min(level / below.value(), 1.0)};
    } else if (j + 1 == counted.size() && excess >= 0) {
      roots[t].b = {kInf, 0};
    } else {
      roots[t] = solve(counted, j + 1, excess);
    }
  });
}

template struct WeightedRow<float>;
template struct WeightedRow<double>;
template void solve_weighted_levels(const WeightedRow<float>&, std::span<const Compensated>,
                                    std::span<WeightedRoot>, Arena&, int);
template void solve_weighted_levels(const WeightedRow<double>&, std::span<const Compensated>,
                                    std::span<WeightedRoot>, Arena&, int);

}  // namespace lapsum::cpu
