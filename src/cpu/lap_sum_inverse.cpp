// db = <q, dr> + 2 alpha / total dk + <q, z> dalpha, q and total being the weights of the root. Few
// levels of a long row are found by search, as those of a top-k, and need no sort.
#include "cpu/lap_sum_inverse.h"

#include <optional>

#include "cpu/primitives/points.h"
#include "cpu/primitives/pulled_row.h"
#include "cpu/primitives/sorted_row.h"
#include "instantiate.h"

namespace lapsum::cpu {
namespace {

// Levels among the finite values: those of the row less the elements at -inf.
RowLevels finite_levels(const SortedRow& row, const RowLevels& k, Arena& arena) {
  const auto below = static_cast<double>(row.below);
  if (row.below == 0) return k;
  if (k.are_steps()) return RowLevels::in_steps(k[0] - below, k.size());
  std::span<double> out = arena.take<double>(k.size());
  for (std::ptrdiff_t t = 0; t < k.size(); ++t) out[t] = k[t] - below;
  return std::span<const double>(out);
}

// db/dk; capped, for it grows without bound on a plateau.
double level_slope(const RootWeights& roots, std::ptrdiff_t t, double alpha) {
  const bool seen = roots.left[t] + roots.right[t] != 0;
  return seen ? std::min(2 * alpha / roots.total[t], 1e300) : 0;
}

// <q, z> at every level: db/d|alpha|.
std::span<double> alpha_slopes(const Decays& decays, const RowLevels& k, Arena& arena,
                               int threads) {
  const Scans<1> ones = scan_both<1>(decays, {}, arena, threads);
  const Roots roots = solve_levels(decays, lowest(ones), k, arena, threads);
  const std::span<const Point> points = root_points(decays, roots, arena, threads);
  std::span<double> out = arena.take<double>(k.size());
  for_each_chunk(k.size(), threads, [&](std::ptrdiff_t begin, std::ptrdiff_t end) {
    for (std::ptrdiff_t t = begin; t < end; ++t) out[t] = gather(ones, points[t]).odd();
  });
  return out;
}

// Whether levels are searched for: by the shape alone, not by what a row holds.
bool are_few(std::ptrdiff_t n, const AllLevels& k) { return k.count() <= 4 && n > 64; }

std::span<Threshold> search(std::span<const double> x, const Orientation& orientation,
                            const RowLevels& k, Arena& arena, int threads) {
  std::span<Threshold> b = arena.take<Threshold>(k.size());
  solve_thresholds(x.data(), std::ssize(x), orientation.sign, k.values(), orientation.alpha, b,
                   arena, threads);
  return b;
}

// The gradients of a row at few levels; false, and nothing done, on a plateau and for NaN.
template <class T>
bool few_vjp(std::span<const double> x, const Orientation& orientation, const RowLevels& k,
             std::span<const T> g, T* gr, double* gk, double* galpha, Arena& arena, int threads) {
  const std::ptrdiff_t n = std::ssize(x);
  if (!orientation.valid || !is_plain(orientation.alpha)) return false;
  const std::span<const Threshold> b = search(x, orientation, k, arena, threads);
  const MaskedRow<double> row{x.data(), n, orientation, b};
  std::span<double> zeros = arena.take<double>(n);
  std::fill(zeros.begin(), zeros.end(), 0.0);
  std::span<Pull<double>> pulls = arena.take<Pull<double>>(std::ssize(g));
  std::span<double> slopes = arena.take<double>(std::ssize(g));
  std::size_t finite = 0;
  double ga = 0;
  for (std::size_t t = 0; t < g.size(); ++t) {
    slopes[t] = 0;
    if (std::isnan(b[t].anchor)) return false;
    if (std::isinf(b[t].anchor)) continue;
    DensitySums sums;
    Pull<double>& pull = pulls[finite++];
    if (!weigh_level(row, static_cast<std::ptrdiff_t>(t), zeros.data(), true, Curve::cdf, kPlateau,
                     threads, pull, sums)) {
      return false;
    }
    const double given = static_cast<double>(g[t]);
    pull.mean = given / sums.total;
    slopes[t] = orientation.sign * given * (2 * orientation.alpha / sums.total);
    ga += orientation.sign * given * (sums.z / sums.total);
  }
  for (std::size_t t = 0; gk && t < g.size(); ++t) gk[t] = capped<T>(slopes[t]);
  if (galpha) *galpha = orientation.alpha_sign * ga;
  if (gr && finite == 0) fill(gr, n, 0);
  if (!gr || finite == 0) return true;
  std::span<double> out = arena.take<double>(n);
  for_each_chunk(n, threads, [&](std::ptrdiff_t begin, std::ptrdiff_t end) {
    pull_density<double>(x.data() + begin, end - begin, orientation.sign, pulls.first(finite),
                         begin, orientation.alpha, 1, out.data() + begin);
    narrow_all(begin, end, gr, [&](std::ptrdiff_t j) { return out[j]; });
  });
  return true;
}

}  // namespace

template <class T>
void lap_sum_inverse(Rows<const T> r, const AllLevels& k, const PerRow& alpha, Rows<T> b,
                     Order order, Threads threads, Rows<Index> keep) {
  const std::ptrdiff_t m = k.count();
  for_each_row(r.count, r.length + m, threads, [&](std::ptrdiff_t i, Arena& arena, int inner) {
    const Orientation orientation(alpha[i], order);
    if (orientation.valid && are_few(r.length, k)) {
      const auto roots =
          search(load(r[i], r.length, 1, arena, inner), orientation, k[i], arena, inner);
      return narrow_all(0, m, b[i], [&](std::ptrdiff_t t) {
        return orientation.sign * (roots[t].anchor + roots[t].offset);
      });
    }
    const SortedRow row =
        sort_values(r[i], r.length, orientation, Need::keys, arena, inner, keep[i]);
    if (!row.valid || r.length == 0) return fill(b[i], m, kNaN);
    level_values<T>(row.decays.r, orientation.alpha, finite_levels(row, k[i], arena), arena, inner,
                    [&](std::ptrdiff_t t, std::span<double> values) {
                      for (double& value : values) value *= orientation.sign;
                      narrow_row(values.data(), std::ssize(values), b[i] + t);
                    });
  });
}

template <class T>
void lap_sum_inverse_vjp(Rows<const T> r, const AllLevels& k, const PerRow& alpha, Rows<const T> g,
                         Rows<T> gr, double* gk, double* galpha, Order order, Threads threads,
                         Rows<const Index> kept) {
  const std::ptrdiff_t m = k.count();
  for_each_row(r.count, r.length + m, threads, [&](std::ptrdiff_t i, Arena& arena, int inner) {
    const Orientation orientation(alpha[i], order);
    if (are_few(r.length, k) &&
        few_vjp<T>(load(r[i], r.length, 1, arena, inner), orientation, k[i],
                   {g[i], static_cast<std::size_t>(m)}, gr.data ? gr[i] : nullptr,
                   gk ? gk + i * m : nullptr, galpha ? galpha + i : nullptr, arena, inner)) {
      return;
    }
    const SortedRow row = order_values(r[i], r.length, orientation, kept[i], arena, inner);
    if (!row.valid) {
      if (gr.data) fill(gr[i], r.length, kNaN);
      if (galpha) galpha[i] = kNaN;
      if (gk) fill(gk + i * m, m, kNaN);
      return;
    }
    const RowLevels levels = finite_levels(row, k[i], arena);
    const std::span<const double> u = load(g[i], m, orientation.sign, arena, inner);
    std::optional<RootWeights> roots;
    if (gk) roots = level_weights<T>(row.decays.r, orientation.alpha, levels, arena, inner);
    if (gr.data) {
      const Arena::Scope scope(arena);
      row.clear_infinite(gr[i]);
      Scattered<T> results = row.scattered(gr[i], arena, inner);
      const auto store = [&](const ChunkOfScans& at) {
        const double* right = at.scans[0].right[0].data();
        const double* left = at.scans[0].left[0].data();
        results.put(at.begin, at.end, [&](std::ptrdiff_t j, int count, double* to) {
          const std::ptrdiff_t from = j - at.begin;
          for (int l = 0; l < count; ++l) {
            to[l] = orientation.sign * (right[from + l] + left[from + l]);
          }
        });
      };
      scatter<T>(row.decays.r, orientation.alpha, levels, roots ? &*roots : nullptr, u, arena,
                 inner, store);
      results.finish();
    }
    if (gk) {
      for (std::ptrdiff_t t = 0; t < m; ++t) {
        gk[i * m + t] = capped<T>(u[t] * level_slope(*roots, t, orientation.alpha));
      }
    }
    if (galpha) {
      const Decays decays = make_decays(row.decays.r, orientation.alpha, arena, inner);
      const std::span<const double> slopes = alpha_slopes(decays, levels, arena, inner);
      galpha[i] = orientation.alpha_sign *
                  sum_over(m, inner, [&](std::ptrdiff_t t) { return u[t] * slopes[t]; });
    }
  });
}

template <class T>
void lap_sum_inverse_jvp(Rows<const T> r, const AllLevels& k, const PerRow& alpha, Rows<const T> dr,
                         const double* dk, const double* dalpha, Rows<T> db, Order order,
                         Threads threads, Rows<const Index> kept) {
  const std::ptrdiff_t m = k.count();
  for_each_row(r.count, r.length + m, threads, [&](std::ptrdiff_t i, Arena& arena, int inner) {
    const Orientation orientation(alpha[i], order);
    const SortedRow row = order_row(r[i], r.length, orientation, kept[i], arena, inner);
    if (!row.valid) return fill(db[i], m, kNaN);
    const RowLevels levels = finite_levels(row, k[i], arena);
    const RootWeights roots =
        level_weights<T>(row.decays.r, orientation.alpha, levels, arena, inner);
    std::span<double> total = arena.take<double>(m);
    std::fill(total.begin(), total.end(), 0.0);
    const auto add = [&](auto&& part) {
      for (std::ptrdiff_t t = 0; t < m; ++t) total[t] += part(t);
    };
    if (dr.data) {
      const Scans<0> moved = scan_both<0>(
          row.decays, {row.gather(dr[i], 1, arena, inner, orientation.sign)}, arena, inner);
      add([&](std::ptrdiff_t t) { return gather(moved, roots, t); });
    }
    if (dk) {
      add([&](std::ptrdiff_t t) {
        return capped<double>(dk[i * m + t] * level_slope(roots, t, orientation.alpha));
      });
    }
    if (dalpha) {
      const std::span<const double> slopes = alpha_slopes(row.decays, levels, arena, inner);
      add([&](std::ptrdiff_t t) { return orientation.alpha_sign * dalpha[i] * slopes[t]; });
    }
    for (std::ptrdiff_t t = 0; t < m; ++t) db[i][t] = narrow<T>(orientation.sign * total[t]);
  });
}

LAPSUM_INSTANTIATE(lap_sum_inverse)
LAPSUM_INSTANTIATE(lap_sum_inverse_vjp)
LAPSUM_INSTANTIATE(lap_sum_inverse_jvp)

}  // namespace lapsum::cpu
