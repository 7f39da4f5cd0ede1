// With K_w and Z_w the even and the odd first-order kernel sums of the row, peak = 1 / (2 alpha):
//   dy = peak (K_1(x) dx - K_dr(x) - Z_1(x) dalpha).
#include "cpu/lap_sum.h"

#include "cpu/primitives/points.h"
#include "cpu/primitives/sorted_row.h"
#include "instantiate.h"

namespace lapsum::cpu {
namespace {

// LapSum at an infinite or NaN point: the limit, elements at that same infinity counting half.
double at_the_end(const SortedRow& row, double x) {
  if (std::isnan(x)) return kNaN;
  return x < 0 ? 0.5 * static_cast<double>(row.below)
               : static_cast<double>(row.n) - 0.5 * static_cast<double>(row.above);
}

}  // namespace

template <class T>
void lap_sum(Rows<const T> r, Rows<const T> x, const PerRow& alpha, Rows<T> y, Threads threads) {
  for_each_row(
      r.count, r.length + x.length, threads, [&](std::ptrdiff_t i, Arena& arena, int inner) {
        const Orientation orientation(alpha[i], Order::ascending);
        const SortedRow row = sort_row(r[i], r.length, orientation, Need::keys, arena, inner);
        if (!row.valid) return fill(y[i], x.length, kNaN);
        const Scans<0> ones = scan_both<0>(row.decays, {}, arena, inner);
        const std::span<const double> at = load(x[i], x.length, orientation.sign, arena, inner);
        const std::span<const Point> points = locate(row.decays, at, true, arena, inner);
        for (std::ptrdiff_t t = 0; t < x.length; ++t) {
          const double count = static_cast<double>(row.below + points[t].j + 1);
          y[i][t] =
              static_cast<T>(std::isfinite(at[t]) ? count - 0.5 * gather(ones, points[t]).odd()
                                                  : at_the_end(row, at[t]));
        }
      });
}

template <class T>
void lap_sum_vjp(Rows<const T> r, Rows<const T> x, const PerRow& alpha, Rows<const T> g, Rows<T> gr,
                 Rows<T> gx, double* galpha, Threads threads) {
  for_each_row(
      r.count, r.length + x.length, threads, [&](std::ptrdiff_t i, Arena& arena, int inner) {
        const Orientation orientation(alpha[i], Order::ascending);
        const SortedRow row = sort_row(r[i], r.length, orientation, Need::order, arena, inner);
        if (gr.data) fill(gr[i], r.length, row.valid ? 0 : kNaN);
        if (gx.data) fill(gx[i], x.length, row.valid ? 0 : kNaN);
        if (galpha) galpha[i] = row.valid ? 0 : kNaN;
        if (!row.valid) return;
        const double peak = orientation.peak();
        const std::span<const double> u = load(g[i], x.length, 1, arena, inner);
        const std::span<const double> at = load(x[i], x.length, orientation.sign, arena, inner);
        const std::span<const Point> points = locate(row.decays, at, true, arena, inner);
        if (gx.data) {
          const Scans<0> ones = scan_both<0>(row.decays, {}, arena, inner);
          for (std::ptrdiff_t t = 0; t < x.length; ++t) {
            gx[i][t] = narrow<T>(orientation.sign * peak * u[t] * gather(ones, points[t]).even());
          }
        }
        if (gr.data) {
          const Scans<0> seen = scatter<0>(row.decays, points, u, arena, inner);
          row.scatter(gr[i], arena, inner, [&](std::ptrdiff_t j) {
            return -orientation.sign * peak * (seen.right[0][j] + seen.left[0][j]);
          });
        }
        if (galpha) {
          const Scans<1> ones = scan_both<1>(row.decays, {}, arena, inner);
          galpha[i] =
              -orientation.alpha_sign * peak * sum_over(x.length, inner, [&](std::ptrdiff_t t) {
                return u[t] * gather(ones, points[t]).odd();
              });
        }
      });
}

template <class T>
void lap_sum_jvp(Rows<const T> r, Rows<const T> x, const PerRow& alpha, Rows<const T> dr,
                 Rows<const T> dx, const double* dalpha, Rows<T> dy, Threads threads) {
  for_each_row(
      r.count, r.length + x.length, threads, [&](std::ptrdiff_t i, Arena& arena, int inner) {
        const Orientation orientation(alpha[i], Order::ascending);
        const SortedRow row = sort_row(r[i], r.length, orientation, Need::order, arena, inner);
        if (!row.valid) return fill(dy[i], x.length, kNaN);
        const std::span<const double> at = load(x[i], x.length, orientation.sign, arena, inner);
        const std::span<const Point> points = locate(row.decays, at, true, arena, inner);
        std::span<double> total = arena.take<double>(x.length);
        std::fill(total.begin(), total.end(), 0.0);
        const auto add = [&](auto&& part) {
          for (std::ptrdiff_t t = 0; t < x.length; ++t) total[t] += part(t);
        };
        if (dx.data) {
          const Scans<0> ones = scan_both<0>(row.decays, {}, arena, inner);
          add([&](std::ptrdiff_t t) {
            return orientation.sign * static_cast<double>(dx[i][t]) *
                   gather(ones, points[t]).even();
          });
        }
        if (dr.data) {
          const Scans<0> moved = scan_both<0>(
              row.decays, {row.gather(dr[i], 1, arena, inner, orientation.sign)}, arena, inner);
          add([&](std::ptrdiff_t t) { return -gather(moved, points[t]).even(); });
        }
        if (dalpha) {
          const Scans<1> ones = scan_both<1>(row.decays, {}, arena, inner);
          add([&](std::ptrdiff_t t) {
            return -orientation.alpha_sign * dalpha[i] * gather(ones, points[t]).odd();
          });
        }
        for (std::ptrdiff_t t = 0; t < x.length; ++t) {
          dy[i][t] = narrow<T>(orientation.peak() * total[t]);
        }
      });
}

LAPSUM_INSTANTIATE(lap_sum)
LAPSUM_INSTANTIATE(lap_sum_vjp)
LAPSUM_INSTANTIATE(lap_sum_jvp)

}  // namespace lapsum::cpu
