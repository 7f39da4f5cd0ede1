// The gradient of a mask in two passes over its row, from T to T, for any number of levels.
#pragma once

#include <array>

#include "cpu/primitives/bracket.h"
#include "cpu/primitives/density.h"
#include "cpu/primitives/masked_row.h"

namespace lapsum::cpu {

template <class T>
DensitySums sum_row(const MaskedRow<T>& row, const Threshold& b, const T* g, bool with_z,
                    Curve curve, int threads) {
  return sum_chunks<DensitySums>(row.n, threads, [&](std::ptrdiff_t begin, std::ptrdiff_t end) {
    return sum_density(row.x + begin, g + begin, end - begin, row.orientation.sign, b,
                       row.orientation.alpha, with_z, curve);
  });
}

/// Below this sum the weights e, which are not shifted to have a largest one of 1, do not carry all
/// of q.
inline constexpr double kPlateau = 1e-200;

/// The pull of threshold l with g, and the sums it is made of; false if the threshold is infinite or
/// the sum of weights is not above `least`.
template <class T>
bool weigh_level(const MaskedRow<T>& row, std::ptrdiff_t l, const T* g, bool with_z, Curve curve,
                 double least, int threads, Pull<T>& level, DensitySums& sums) {
  if (!std::isfinite(row.b[l].anchor)) return false;
  sums = sum_row(row, row.b[l], g, with_z, curve, threads);
  level = {row.b[l], sums.g / sums.total, g};
  return sums.total > least;
}

template <class T>
void pull_levels(const MaskedRow<T>& row, std::span<const Pull<T>> levels, T* out, Curve curve,
                 int threads) {
  const Orientation& o = row.orientation;
  const double height = o.sign * o.peak() * (curve == Curve::cdf ? 1 : 2);
  for_each_chunk(row.n, threads, [&](std::ptrdiff_t begin, std::ptrdiff_t end) {
    pull_density(row.x + begin, end - begin, o.sign, levels, begin, o.alpha, height, out + begin,
                 curve);
  });
}

/// gr = e (<q, g> - g) / (2 alpha) for one level of F: the weights e wait in the gradient itself.
/// Half types have no room there: a chunk of them waits elsewhere, and longer rows weigh again. False,
/// and nothing done, for an infinite threshold or a sum of weights of `least` or less.
template <class T>
bool pull_level(const MaskedRow<T>& row, const T* g, T* gx, double* gk, double* galpha,
                double least, int threads) {
  const Orientation& o = row.orientation;
  const Threshold& b = row.b[0];
  if (!std::isfinite(b.anchor)) return false;
  const auto weigh_part = [&](std::ptrdiff_t begin, std::ptrdiff_t end, Work<T>* e) {
    return weigh(row.x + begin, g + begin, end - begin, o.sign, b, o.alpha, e);
  };
  Work<T> own[kIsHalf<T> ? kChunk : 1];
  const auto waiting = [&]([[maybe_unused]] std::ptrdiff_t begin) -> Work<T>* {
    if constexpr (kIsHalf<T>) {
      return row.n <= kChunk ? own : nullptr;
    } else {
      return gx ? gx + begin : nullptr;
    }
  };
  const auto sums =
      sum_chunks<DensitySums>(row.n, threads, [&](std::ptrdiff_t begin, std::ptrdiff_t end) {
        return weigh_part(begin, end, waiting(begin));
      });
  if (!(sums.total > least)) return false;
  const double mean = sums.g / sums.total;
  if (gk) *gk = capped<Work<T>>(mean);
  if (galpha) {  // the others have the same bits whether or not it is asked for
    const DensitySums with_z = sum_row(row, b, g, true, Curve::cdf, threads);
    *galpha = o.alpha_sign * o.peak() * (with_z.g * (with_z.z / with_z.total) - with_z.gz);
  }
  if (!gx) return true;
  const auto pull_part = [&](std::ptrdiff_t begin, std::ptrdiff_t end, const Work<T>* e) {
    pull_weighed(e, g + begin, end - begin, mean, o.sign * o.peak(), gx + begin);
  };
  for_each_chunk(row.n, threads, [&](std::ptrdiff_t begin, std::ptrdiff_t end) {
    if constexpr (kIsHalf<T>) {
      if (!waiting(begin)) {
        float again[kChunk];
        weigh_part(begin, end, again);
        return pull_part(begin, end, again);
      }
    }
    pull_part(begin, end, waiting(begin));
  });
  return true;
}

/// gr = e (<q, g> - g) / (2 alpha), or (<u, g> q - u g) / alpha for log F. False, and nothing done,
/// where there is a slower way only: at a sum of weights of `least` or less, for an infinite
/// threshold, and in alpha for log F.
template <class T>
bool pull_row(const MaskedRow<T>& row, Rows<const T> g, T* gx, double* gk, double* galpha,
              Curve curve, double least, Arena& arena, int threads) {
  const Orientation& o = row.orientation;
  if (!is_plain(o.alpha) || (galpha && curve != Curve::cdf)) return false;
  if (g.count == 1 && curve == Curve::cdf) {
    return pull_level(row, g[0], gx, gk, galpha, least, threads);
  }
  std::span<Pull<T>> levels = arena.take<Pull<T>>(g.count);
  double ga = 0;
  for (std::ptrdiff_t l = 0; l < g.count; ++l) {
    DensitySums sums;
    if (!weigh_level(row, l, g[l], galpha, curve, least, threads, levels[l], sums)) return false;
    ga += sums.g * (sums.z / sums.total) - sums.gz;
  }
  const double per_level = curve == Curve::cdf ? 1 : 2;
  for (std::ptrdiff_t l = 0; gk && l < g.count; ++l)
    gk[l] = capped<Work<T>>(per_level * levels[l].mean);
  if (galpha) *galpha = o.alpha_sign * o.peak() * ga;
  if (gx && levels.empty()) fill(gx, row.n, 0);
  if (gx && !levels.empty()) pull_levels<T>(row, levels, gx, curve, threads);
  return true;
}

/// Rows of up to this length are pulled several at a time, in 0.75 of the time at 64.
inline constexpr std::ptrdiff_t kPulledLength = 512;

/// gr of rows that have one level each, as pull_level. alone(i, row, arena) is for those that it
/// does not take.
template <class T, class Alone>
void pull_short_rows(Rows<const T> x, const PerRow& alpha, const Threshold* b, Rows<const T> g,
                     Rows<T> gx, double* gk, double least, Order order, Threads threads,
                     Alone&& alone) {
  constexpr std::ptrdiff_t kMost = 16;
  const auto on_group = [&](std::ptrdiff_t first, std::ptrdiff_t end, Arena& arena) {
    std::array<Weighed<T>, kMost> rows;
    std::array<std::ptrdiff_t, kMost> at;
    std::size_t count = 0, kept = 0;
    const auto go_alone = [&](std::ptrdiff_t i) {
      const Arena::Scope scope(arena);
      alone(i, MaskedRow<T>{x[i], x.length, Orientation(alpha[i], order), {b + i, 1}}, arena);
    };
    for (std::ptrdiff_t i = first; i < end; ++i) {
      const Orientation o(alpha[i], order);
      if (!std::isfinite(b[i].anchor) || !is_plain(o.alpha)) {
        go_alone(i);
        continue;
      }
      at[count] = i;
      rows[count++] = {x[i], g[i], gx[i], o.sign, o.alpha, b[i], {}, 0, o.sign * o.peak()};
    }
    weigh_each(std::span(rows).first(count), x.length);
    for (std::size_t l = 0; l < count; ++l) {
      Weighed<T>& row = rows[l];
      if (!(row.sums.total > least)) {
        go_alone(at[l]);
        continue;
      }
      row.mean = row.sums.g / row.sums.total;
      if (gk) gk[at[l]] = capped<T>(row.mean);
      rows[kept++] = row;
    }
    pull_each(std::span<const Weighed<T>>(rows).first(kept), x.length);
  };
  for_each_group(x.count, kMost, x.length, threads, on_group);
}

}  // namespace lapsum::cpu
