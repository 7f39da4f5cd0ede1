// Masks over rows, forward, reverse and tangent: what soft top-k and its logarithm share.
#pragma once

#include <vector>

#include "cpu/primitives/laned_rows.h"
#include "cpu/primitives/laplace.h"
#include "cpu/primitives/masked_row.h"
#include "cpu/primitives/pulled_row.h"
#include "cpu/primitives/softmax.h"

namespace lapsum::cpu {

/// The derivative of a mask's elements: d out_i / dz_i = unit * u[i] and d out_i / dk = per_level *
/// u[i] / total, total being the softmax's. Two factors, so that neither underflows before its
/// time.
struct Slopes {
  std::span<const double> u;
  double unit, per_level;
};

// A Mask gives the three maps in which soft top-k and its logarithm differ:
//   is_cdf                              whether it is F(z), which lanes write themselves
//   values(x, n, sign, b, alpha, out)   the mask at a finite threshold
//   slopes(softmax, arena)              the Slopes there
//   saturated(p, dp/dk)                 the same for an element that has none
//   try_mask, if is_cdf                 threshold and mask of one level by a shorter way, or false
//   try_vjp, try_jvp                    the derivatives of one row by a shorter way, or false

/// The masks of a row at its thresholds, one row of `out` each.
template <class Mask, class T>
void fill_masks(const MaskedRow<T>& row, Rows<T> out, int threads) {
  for (std::ptrdiff_t l = 0; l < out.count; ++l) {
    T* to = out[l];
    const double anchor = row.b[l].anchor;
    if (std::isnan(anchor)) {
      fill(to, row.n, kNaN);
    } else if (std::isinf(anchor)) {
      row.for_each_saturated(l, [&](std::ptrdiff_t j, const Saturated& p) {
        to[j] = narrow<T>(Mask::saturated(p).value);
      });
    } else {
      for_each_chunk(row.n, threads, [&](std::ptrdiff_t begin, std::ptrdiff_t end) {
        Mask::values(row.x + begin, end - begin, row.orientation.sign, row.b[l],
                     row.orientation.alpha, to + begin);
      });
    }
  }
}

/// The thresholds of a batch as far as they are known before its rows are visited: those that are
/// saved, or those of short rows, solved to `keep` if given, else to `own`. Null: there are none.
template <class T>
const Threshold* known_thresholds(Rows<const T> x, const Levels& k, const PerRow& alpha,
                                  const Threshold* saved, Threshold* keep,
                                  std::vector<Threshold>& own, Order order, Threads threads) {
  if (saved || !fits_lanes(x.length)) return saved;
  if (!keep) own.resize(static_cast<std::size_t>(x.count * k.count()));
  Threshold* b = keep ? keep : own.data();
  solve_short_rows(x, k, alpha, b, Rows<T>(), order, threads, [](auto&&...) {});
  return b;
}

/// out = Mask(x), as lapsum/soft_topk.h says.
template <class Mask, class T>
void mask(Rows<const T> x, const Levels& k, const PerRow& alpha, Rows<T> out, Threshold* keep,
          Order order, Threads threads) {
  const auto solve = [&](std::ptrdiff_t i, const MaskedRow<T>& row, std::span<Threshold> b,
                         Arena& arena, int inner) {
    if constexpr (Mask::is_cdf) {
      if (b.size() == 1 && Mask::try_mask(row, k[i][0], b[0], out[i], arena, inner)) return true;
    }
    solve_row(row, {k[i], b.size()}, b, arena, inner);
    return false;
  };
  const auto body = [&](std::ptrdiff_t i, const MaskedRow<T>& row, Arena&, int inner) {
    fill_masks<Mask>(row, Rows<T>(out[i * k.count()], k.count(), x.length, out.stride), inner);
  };
  if constexpr (Mask::is_cdf) {
    if (fits_lanes(x.length)) {
      const auto fill = [](const MaskedRow<T>& row, Rows<T> p) { fill_masks<Mask>(row, p, 1); };
      return solve_short_rows(x, k, alpha, keep, out, order, threads, fill);
    }
  }
  std::vector<Threshold> own;
  const Threshold* b = known_thresholds(x, k, alpha, nullptr, keep, own, order, threads);
  for_each_masked_row(x, k.count(), alpha, b, keep, order, threads, solve, body);
}

/// With u, unit and q: gr = unit / alpha (<u, g> q - u g), gk = per_level <u, g> / total,
/// galpha = unit / alpha (<u, g> <q, z> - <u, g z>).
template <class Mask, class T>
void mask_vjp(Rows<const T> x, const Levels& k, const PerRow& alpha, const Threshold* saved,
              Rows<const T> g, Rows<T> gx, double* gk, double* galpha, Order order,
              Threads threads) {
  std::vector<Threshold> own;
  saved = known_thresholds(x, k, alpha, saved, nullptr, own, order, threads);
  const auto body = [&](std::ptrdiff_t i, const MaskedRow<T>& row, Arena& arena, int inner) {
    const std::ptrdiff_t n = x.length;
    const Rows<const T> given(g[i * k.count()], k.count(), n, g.stride);
    T* to = gx.data ? gx[i] : nullptr;
    double* to_k = gk ? gk + i * k.count() : nullptr;
    double* to_alpha = galpha ? galpha + i : nullptr;
    if (Mask::try_vjp(row, given, to, to_k, to_alpha, arena, inner)) return;
    // The others have the same bits whether or not alpha is asked for.
    if (to_alpha && Mask::try_vjp(row, given, to, to_k, nullptr, arena, inner)) {
      to = nullptr;
      to_k = nullptr;
    }
    const std::span<const double> r = load(row.x, n, row.orientation.sign, arena, inner);
    std::span<double> gr = arena.take<double>(to ? n : 0);
    std::fill(gr.begin(), gr.end(), 0.0);
    double ga = 0;
    for (std::ptrdiff_t l = 0; l < k.count(); ++l) {
      const auto v = [&](std::ptrdiff_t j) { return to_double(given[l][j]); };
      double level_gk = 0;
      if (std::isnan(row.b[l].anchor)) {
        std::fill(gr.begin(), gr.end(), kNaN);
        ga = level_gk = kNaN;
      } else if (std::isinf(row.b[l].anchor)) {
        row.for_each_saturated(l, [&](std::ptrdiff_t j, const Saturated& p) {
          const double slope = Mask::saturated(p).per_level;
          if (slope > 0) level_gk += slope * v(j);
        });
      } else {
        const Arena::Scope scope(arena);
        const Softmax q = softmax_at(r, row.b[l], row.orientation.alpha, arena, inner);
        const Slopes slopes = Mask::slopes(q, arena, inner);
        const double ug = sum_over(n, inner, [&](std::ptrdiff_t j) { return slopes.u[j] * v(j); });
        const double height = 2 * row.orientation.peak() * slopes.unit;
        level_gk = slopes.per_level * (ug / q.total);
        for_each_chunk(std::ssize(gr), inner, [&](std::ptrdiff_t begin, std::ptrdiff_t end) {
          for (std::ptrdiff_t j = begin; j < end; ++j) {
            gr[j] += height * (ug / q.total * q.e[j] - slopes.u[j] * v(j));
          }
        });
        if (to_alpha) {
          const double mean_z = q.mean(inner, [&](std::ptrdiff_t j) { return q.z[j]; });
          ga += height * sum_over(n, inner, [&](std::ptrdiff_t j) {
                  return slopes.u[j] * v(j) * (mean_z - q.z[j]);
                });
        }
      }
      if (to_k) to_k[l] = capped<Work<T>>(level_gk);
    }
    for (std::ptrdiff_t j = 0; j < std::ssize(gr); ++j) {
      to[j] = narrow<T>(row.orientation.sign * gr[j]);
    }
    if (to_alpha) *to_alpha = row.orientation.alpha_sign * ga;
  };
  if constexpr (Mask::is_cdf && !kIsHalf<T>) {
    if (saved && gx.data && !galpha && k.count() == 1 && x.length <= kPulledLength) {
      const auto alone = [&](std::ptrdiff_t i, const MaskedRow<T>& row, Arena& arena) {
        body(i, row, arena, 1);
      };
      return pull_short_rows(x, alpha, saved, g, gx, gk, kPlateau, order, threads, alone);
    }
  }
  for_each_masked_row(x, k, alpha, saved, nullptr, order, threads, body);
}

/// dout = u (unit / alpha (<q, pull> - pull) + per_level / total dk), pull = dr + z dalpha.
template <class Mask, class T>
void mask_jvp(Rows<const T> x, const Levels& k, const PerRow& alpha, const Threshold* saved,
              Rows<const T> dx, const double* dk, const double* dalpha, Rows<T> dout, Order order,
              Threads threads) {
  std::vector<Threshold> own;
  saved = known_thresholds(x, k, alpha, saved, nullptr, own, order, threads);
  const auto body = [&](std::ptrdiff_t i, const MaskedRow<T>& row, Arena& arena, int inner) {
    const Rows<T> all(dout[i * k.count()], k.count(), x.length, dout.stride);
    if (dx.data && !dk && !dalpha && Mask::try_jvp(row, dx[i], all, arena, inner)) return;
    const std::span<const double> r = load(row.x, row.n, row.orientation.sign, arena, inner);
    const double da = dalpha ? row.orientation.alpha_sign * dalpha[i] : 0;
    for (std::ptrdiff_t l = 0; l < k.count(); ++l) {
      const double dlevel = dk ? dk[i * k.count() + l] : 0;
      T* to = all[l];
      if (std::isnan(row.b[l].anchor)) {
        fill(to, x.length, kNaN);
      } else if (std::isinf(row.b[l].anchor)) {
        row.for_each_saturated(l, [&](std::ptrdiff_t j, const Saturated& p) {
          to[j] = narrow<T>(Mask::saturated(p).per_level * dlevel);
        });
      } else {
        const Arena::Scope scope(arena);
        const Softmax q = softmax_at(r, row.b[l], row.orientation.alpha, arena, inner);
        const Slopes slopes = Mask::slopes(q, arena, inner);
        const auto pull = [&](std::ptrdiff_t j) {
          const double dr = dx.data ? row.orientation.sign * to_double(dx[i][j]) : 0;
          return dr + q.z[j] * da;
        };
        const double mean = q.mean(inner, pull);
        const double height = 2 * row.orientation.peak() * slopes.unit;
        const double lift = dlevel == 0 ? 0 : slopes.per_level * (dlevel / q.total);
        for_each_chunk(x.length, inner, [&](std::ptrdiff_t begin, std::ptrdiff_t end) {
          for (std::ptrdiff_t j = begin; j < end; ++j) {
            const double u = slopes.u[j];
            to[j] = capped<T>(u == 0 ? 0 : u * (height * (mean - pull(j)) + lift));
          }
        });
      }
    }
  };
  for_each_masked_row(x, k, alpha, saved, nullptr, order, threads, body);
}

}  // namespace lapsum::cpu
