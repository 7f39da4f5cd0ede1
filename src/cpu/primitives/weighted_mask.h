// Masks over rows whose elements have weights: as mask.h, but sum_i w_i p_i = k. Thresholds need a
// sorted row, derivatives a pass for each level. With v the slope of the mask in z and lift in k:
//   dout_i = v_i / alpha (<q, pull> - pull_i) + lift_i (dk - <F, dw>),   pull = dr + z dalpha.
#pragma once

#include "cpu/primitives/laplace.h"
#include "cpu/primitives/mask.h"
#include "cpu/primitives/softmax.h"
#include "cpu/primitives/weighted_levels.h"

namespace lapsum::cpu {

// A Mask gives two maps more than mask.h asks for:
//   slope(z, e)              d out / dz of a finite element, e being e^-|z|
//   lift(softmax, i, slope)  d out_i / dk

/// A weighted row at a finite threshold: distribution functions and slopes of its elements.
struct WeightedLevel {
  WeightedSoftmax q;
  std::span<double> f, v, lift;
};

template <class Mask>
WeightedLevel see_level(std::span<const double> r, std::span<const double> w, const Threshold& b,
                        double alpha, Arena& arena, int threads) {
  const std::ptrdiff_t n = std::ssize(r);
  WeightedLevel at{weighted_softmax_at(r, w, b, alpha, arena, threads), arena.take<double>(n),
                   arena.take<double>(n), arena.take<double>(n)};
  for_each_chunk(n, threads, [&](std::ptrdiff_t begin, std::ptrdiff_t end) {
    exp_abs(at.q.z.data() + begin, end - begin, at.v.data() + begin);
    cdf(at.q.z.data() + begin, end - begin, at.f.data() + begin);
    for (std::ptrdiff_t j = begin; j < end; ++j) {
      at.v[j] = std::isinf(r[j]) ? 0 : Mask::slope(at.q.z[j], at.v[j]);
      at.lift[j] = std::isinf(r[j]) ? 0 : Mask::lift(at.q, j, at.v[j]);
    }
  });
  return at;
}

template <class T, class Body>
void for_each_weighted_row(Rows<const T> x, Rows<const T> w, const Levels& k, const PerRow& alpha,
                           const Threshold* saved, Threshold* keep, Order order, Threads threads,
                           Body&& body) {
  const auto solve = [&](std::ptrdiff_t i, const MaskedRow<T>& row, std::span<Threshold> b,
                         Arena& arena, int inner) {
    std::span<Compensated> levels = arena.take<Compensated>(k.count());
    std::span<WeightedRoot> roots = arena.take<WeightedRoot>(k.count());
    for (std::ptrdiff_t l = 0; l < k.count(); ++l) levels[l] = {k[i][l], 0};
    solve_weighted_levels<T>({row.x, w[i], row.n, row.orientation}, levels, roots, arena, inner);
    for (std::size_t l = 0; l < b.size(); ++l) b[l] = roots[l].b;
    return false;
  };
  for_each_masked_row(x, k.count(), alpha, saved, keep, order, threads, solve, body);
}

/// What the elements weigh that share a level, for MaskedRow::for_each_saturated.
template <class T>
auto weight_of_near(const MaskedRow<T>& row, const T* w) {
  return [&row, w] { return WeightedRow<T>{row.x, w, row.n, row.orientation}.below().value(); };
}

template <class Mask, class T>
void weighted_mask(Rows<const T> x, Rows<const T> w, const Levels& k, const PerRow& alpha,
                   Rows<T> out, Threshold* keep, Order order, Threads threads) {
  const auto body = [&](std::ptrdiff_t i, const MaskedRow<T>& row, Arena&, int inner) {
    fill_masks<Mask>(row, Rows<T>(out[i * k.count()], k.count(), x.length, out.stride), inner);
  };
  for_each_weighted_row(x, w, k, alpha, nullptr, keep, order, threads, body);
}

template <class Mask, class T>
void weighted_mask_vjp(Rows<const T> x, Rows<const T> w, const Levels& k, const PerRow& alpha,
                       const Threshold* saved, Rows<const T> g, Rows<T> gx, Rows<T> gw, double* gk,
                       double* galpha, Order order, Threads threads) {
  const auto body = [&](std::ptrdiff_t i, const MaskedRow<T>& row, Arena& arena, int inner) {
    const std::ptrdiff_t n = x.length;
    const std::span<const double> r = load(row.x, n, row.orientation.sign, arena, inner);
    const std::span<const double> weights = load(w[i], n, 1, arena, inner);
    std::span<double> to_r = arena.take<double>(n);
    std::span<double> to_w = arena.take<double>(n);
    std::fill(to_r.begin(), to_r.end(), 0.0);
    std::fill(to_w.begin(), to_w.end(), 0.0);
    double ga = 0;
    for (std::ptrdiff_t l = 0; l < k.count(); ++l) {
      const T* given = g[i * k.count() + l];
      const auto v = [&](std::ptrdiff_t j) { return static_cast<double>(given[j]); };
      double level_gk = 0;
      if (std::isnan(row.b[l].anchor)) {
        std::fill(to_r.begin(), to_r.end(), kNaN);
        std::fill(to_w.begin(), to_w.end(), kNaN);
        ga = level_gk = kNaN;
      } else if (std::isinf(row.b[l].anchor)) {
        const auto near = weight_of_near(row, w[i]);
        row.for_each_saturated(l, near, [&](std::ptrdiff_t j, const Saturated& p) {
          const double slope = Mask::saturated(p).per_level;
          if (slope > 0) level_gk += slope * v(j);
        });
        for (std::ptrdiff_t j = 0; j < n && level_gk != 0; ++j) {
          if (r[j] == -INFINITY) to_w[j] -= level_gk * row.b[l].offset;
        }
      } else {
        const Arena::Scope scope(arena);
        const double rate = 2 * row.orientation.peak();
        const WeightedLevel at =
            see_level<Mask>(r, weights, row.b[l], row.orientation.alpha, arena, inner);
        const double vg = sum_over(n, inner, [&](std::ptrdiff_t j) { return at.v[j] * v(j); });
        level_gk = sum_over(n, inner, [&](std::ptrdiff_t j) { return at.lift[j] * v(j); });
        level_gk = capped<double>(level_gk);
        for_each_chunk(n, inner, [&](std::ptrdiff_t begin, std::ptrdiff_t end) {
          for (std::ptrdiff_t j = begin; j < end; ++j) {
            to_r[j] += rate * (vg * at.q.q(j) - at.v[j] * v(j));
            to_w[j] -= level_gk * at.f[j];
          }
        });
        const double mean_z = at.q.mean(inner, [&](std::ptrdiff_t j) { return at.q.z[j]; });
        ga += rate * sum_over(n, inner, [&](std::ptrdiff_t j) {
                return at.v[j] * v(j) * (mean_z - at.q.z[j]);
              });
      }
      if (gk) gk[i * k.count() + l] = capped<T>(level_gk);
    }
    for (std::ptrdiff_t j = 0; j < n; ++j) {
      if (gx.data) gx[i][j] = narrow<T>(row.orientation.sign * to_r[j]);
      if (gw.data) gw[i][j] = capped<T>(to_w[j]);
    }
    if (galpha) galpha[i] = row.orientation.alpha_sign * ga;
  };
  for_each_weighted_row(x, w, k, alpha, saved, nullptr, order, threads, body);
}

template <class Mask, class T>
void weighted_mask_jvp(Rows<const T> x, Rows<const T> w, const Levels& k, const PerRow& alpha,
                       const Threshold* saved, Rows<const T> dx, Rows<const T> dw, const double* dk,
                       const double* dalpha, Rows<T> dout, Order order, Threads threads) {
  const auto body = [&](std::ptrdiff_t i, const MaskedRow<T>& row, Arena& arena, int inner) {
    const std::ptrdiff_t n = x.length;
    const std::span<const double> r = load(row.x, n, row.orientation.sign, arena, inner);
    const std::span<const double> weights = load(w[i], n, 1, arena, inner);
    const double da = dalpha ? row.orientation.alpha_sign * dalpha[i] : 0;
    const auto moved = [&](std::ptrdiff_t j) {
      return dw.data ? static_cast<double>(dw[i][j]) : 0;
    };
    for (std::ptrdiff_t l = 0; l < k.count(); ++l) {
      double dlevel = dk ? dk[i * k.count() + l] : 0;
      T* to = dout[i * k.count() + l];
      if (std::isnan(row.b[l].anchor)) {
        fill(to, n, kNaN);
      } else if (std::isinf(row.b[l].anchor)) {
        for (std::ptrdiff_t j = 0; j < n; ++j) {
          if (r[j] == -INFINITY) dlevel -= row.b[l].offset * moved(j);
        }
        const auto near = weight_of_near(row, w[i]);
        row.for_each_saturated(l, near, [&](std::ptrdiff_t j, const Saturated& p) {
          to[j] = capped<T>(Mask::saturated(p).per_level * dlevel);
        });
      } else {
        const Arena::Scope scope(arena);
        const WeightedLevel at =
            see_level<Mask>(r, weights, row.b[l], row.orientation.alpha, arena, inner);
        const auto pull = [&](std::ptrdiff_t j) {
          const double dr = dx.data ? row.orientation.sign * static_cast<double>(dx[i][j]) : 0;
          return dr + at.q.z[j] * da;
        };
        const double mean = at.q.mean(inner, pull);
        dlevel -= sum_over(n, inner, [&](std::ptrdiff_t j) { return at.f[j] * moved(j); });
        for_each_chunk(n, inner, [&](std::ptrdiff_t begin, std::ptrdiff_t end) {
          for (std::ptrdiff_t j = begin; j < end; ++j) {
            const double along = 2 * row.orientation.peak() * (mean - pull(j));
            to[j] = capped<T>((at.v[j] == 0 ? 0 : at.v[j] * along) + at.lift[j] * dlevel);
          }
        });
      }
    }
  };
  for_each_weighted_row(x, w, k, alpha, saved, nullptr, order, threads, body);
}

}  // namespace lapsum::cpu
