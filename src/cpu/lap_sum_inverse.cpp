// db = <q, dr> + 2 alpha / total dk + <q, z> dalpha, q and total being the weights of the root.
#include "cpu/lap_sum_inverse.h"

#include "cpu/primitives/points.h"
#include "cpu/primitives/sorted_row.h"
#include "instantiate.h"

namespace lapsum::cpu {
namespace {

// Levels among the finite values: those of the row less the elements at -inf.
std::span<const double> finite_levels(const SortedRow& row, const double* k, std::ptrdiff_t count,
                                      Arena& arena) {
  std::span<double> out = arena.take<double>(count);
  for (std::ptrdiff_t t = 0; t < count; ++t) out[t] = k[t] - static_cast<double>(row.below);
  return out;
}

// db/dk; capped, for it grows without bound on a plateau.
double level_slope(const Point& root, double alpha) {
  const bool seen = root.left_weight + root.right_weight != 0;
  return seen ? std::min(2 * alpha / root.scale, 1e300) : 0;
}

}  // namespace

template <class T>
void lap_sum_inverse(Rows<const T> r, const Levels& k, const PerRow& alpha, Rows<T> b, Order order,
                     Threads threads) {
  const std::ptrdiff_t m = k.count();
  for_each_row(r.count, r.length + m, threads, [&](std::ptrdiff_t i, Arena& arena, int inner) {
    const Orientation orientation(alpha[i], order);
    const SortedRow row = sort_row(r[i], r.length, orientation, Need::keys, arena, inner);
    if (!row.valid || r.length == 0) return fill(b[i], m, kNaN);
    const Scans<0> ones = scan_both<0>(row.decays, {}, arena, inner);
    const Roots roots =
        solve_levels(row.decays, ones, finite_levels(row, k[i], m, arena), arena, inner);
    for_each_chunk(m, inner, [&](std::ptrdiff_t begin, std::ptrdiff_t end) {
      for (std::ptrdiff_t t = begin; t < end; ++t) {
        b[i][t] = narrow<T>(orientation.sign * (roots.b[t].anchor + roots.b[t].offset));
      }
    });
  });
}

template <class T>
void lap_sum_inverse_vjp(Rows<const T> r, const Levels& k, const PerRow& alpha, Rows<const T> g,
                         Rows<T> gr, double* gk, double* galpha, Order order, Threads threads) {
  const std::ptrdiff_t m = k.count();
  for_each_row(r.count, r.length + m, threads, [&](std::ptrdiff_t i, Arena& arena, int inner) {
    const Orientation orientation(alpha[i], order);
    const SortedRow row = sort_row(r[i], r.length, orientation, Need::order, arena, inner);
    if (gr.data) fill(gr[i], r.length, row.valid ? 0 : kNaN);
    if (gk) fill(gk + i * m, m, row.valid ? 0 : kNaN);
    if (galpha) galpha[i] = row.valid ? 0 : kNaN;
    if (!row.valid) return;
    const Scans<1> ones = scan_both<1>(row.decays, {}, arena, inner);
    const Roots roots =
        solve_levels(row.decays, lowest(ones), finite_levels(row, k[i], m, arena), arena, inner);
    const std::span<const double> u = load(g[i], m, orientation.sign, arena, inner);
    if (gr.data) {
      const Scans<0> seen = scatter<0>(row.decays, roots.points, u, arena, inner);
      const std::span<const Index> element = row.finite_order();
      for (std::ptrdiff_t j = 0; j < row.finite(); ++j) {
        gr[i][element[j]] = narrow<T>(orientation.sign * (seen.right[0][j] + seen.left[0][j]));
      }
    }
    if (gk) {
      for (std::ptrdiff_t t = 0; t < m; ++t) {
        gk[i * m + t] = capped<T>(u[t] * level_slope(roots.points[t], orientation.alpha));
      }
    }
    if (galpha) {
      galpha[i] = orientation.alpha_sign * sum_over(m, inner, [&](std::ptrdiff_t t) {
                    return u[t] * gather(ones, roots.points[t]).odd();
                  });
    }
  });
}

template <class T>
void lap_sum_inverse_jvp(Rows<const T> r, const Levels& k, const PerRow& alpha, Rows<const T> dr,
                         const double* dk, const double* dalpha, Rows<T> db, Order order,
                         Threads threads) {
  const std::ptrdiff_t m = k.count();
  for_each_row(r.count, r.length + m, threads, [&](std::ptrdiff_t i, Arena& arena, int inner) {
    const Orientation orientation(alpha[i], order);
    const SortedRow row = sort_row(r[i], r.length, orientation, Need::order, arena, inner);
    if (!row.valid) return fill(db[i], m, kNaN);
    const Scans<1> ones = scan_both<1>(row.decays, {}, arena, inner);
    const Roots roots =
        solve_levels(row.decays, lowest(ones), finite_levels(row, k[i], m, arena), arena, inner);
    std::span<double> total = arena.take<double>(m);
    std::fill(total.begin(), total.end(), 0.0);
    const auto add = [&](auto&& part) {
      for (std::ptrdiff_t t = 0; t < m; ++t) total[t] += part(t);
    };
    if (dr.data) {
      const Scans<0> moved =
          scan_both<0>(row.decays, {row.gather(dr[i], 1, arena, orientation.sign)}, arena, inner);
      add([&](std::ptrdiff_t t) { return gather(moved, roots.points[t]).even(); });
    }
    if (dk) {
      add([&](std::ptrdiff_t t) {
        return capped<double>(dk[i * m + t] * level_slope(roots.points[t], orientation.alpha));
      });
    }
    if (dalpha) {
      add([&](std::ptrdiff_t t) {
        return orientation.alpha_sign * dalpha[i] * gather(ones, roots.points[t]).odd();
      });
    }
    for (std::ptrdiff_t t = 0; t < m; ++t) db[i][t] = narrow<T>(orientation.sign * total[t]);
  });
}

LAPSUM_INSTANTIATE(lap_sum_inverse)
LAPSUM_INSTANTIATE(lap_sum_inverse_vjp)
LAPSUM_INSTANTIATE(lap_sum_inverse_jvp)

}  // namespace lapsum::cpu
