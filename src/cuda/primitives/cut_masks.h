// Masks at all thresholds of a row, whose differences are the rows of the soft permutation; element
// by element, and their derivatives.
#pragma once

#include "cuda/primitives/cuts.h"
#include "cuda/primitives/element.h"
#include "cuda/primitives/for_each.h"
#include "cuda/primitives/team.h"

namespace lapsum::gpu {

inline constexpr double kCut = 1e300;  // of z, so that no product of it is NaN

// The share of an element in a position: what its distribution has between two thresholds.
template <class T>
struct Shares {
  Cuts cuts;
  Rows<T> matrix;
  __device__ double share(std::ptrdiff_t row, std::ptrdiff_t position, double x) const {
    const RowFacts& facts = cuts.sorted.facts[row];
    const std::ptrdiff_t i = position - facts.below;
    if (position < facts.below) return x == -HUGE_VAL ? 1 / static_cast<double>(facts.below) : 0;
    if (i >= facts.finite) {
      return x == HUGE_VAL ? 1 / static_cast<double>(cuts.sorted.n - facts.end()) : 0;
    }
    if (std::isinf(x)) return 0;
    const bool lower = i > 0;
    const bool upper = i + 1 < facts.finite;
    const double to_lower = lower ? cuts.z(row, i - 1, x) : -HUGE_VAL;
    const double to_upper = upper ? cuts.z(row, i, x) : HUGE_VAL;
    if (to_lower < 0 && to_upper > 0) return 0.5 * (decay_loss(to_upper) + decay_loss(-to_lower));
    double width = HUGE_VAL;
    if (lower && upper) {
      const Threshold& from = cuts.b(row, i - 1);
      const Threshold& to = cuts.b(row, i);
      width = std::fmax(((to.anchor - from.anchor) + (to.offset - from.offset)) / facts.alpha, 0.0);
    }
    const double nearest = std::fmin(std::abs(to_lower), std::abs(to_upper));
    return 0.5 * std::exp(-nearest) * decay_loss(width);
  }
  __device__ void operator()(std::ptrdiff_t line, std::ptrdiff_t j) const {
    const std::ptrdiff_t n = cuts.sorted.n;
    const std::ptrdiff_t row = line / n;
    const std::ptrdiff_t position = line - row * n;
    const double value = share(row, position, cuts.r[row * n + j]);
    matrix[row][position * n + j] = narrow<T>(cuts.sorted.facts[row].unit * value);
  }
};

// The gradient of threshold t's mask: rows t and t + 1 of g meet there with opposite signs.
template <class T>
struct GivenAt {
  Rows<const T> g;
  std::ptrdiff_t n;
  __device__ double operator()(std::ptrdiff_t row, std::ptrdiff_t position, std::ptrdiff_t j,
                               double) const {
    const T* const at = g[row] + position * n + j;
    return to_double(at[0]) - to_double(at[n]);
  }
};

// pull = dr + z dalpha; either may be missing.
struct PullAt {
  const double* dr;
  const double* dalpha;
  std::ptrdiff_t n;
  __device__ double operator()(std::ptrdiff_t row, std::ptrdiff_t, std::ptrdiff_t j,
                               double z) const {
    return (dr ? dr[row * n + j] : 0) + (dalpha ? z * dalpha[row] : 0);
  }
};

// means[t] = <q, f> at every threshold, and galpha[t] = sum_j s f (<q, z> - z) if asked for. A warp
// for a threshold.
template <class F>
__global__ void __launch_bounds__(kTeamThreads<Warp>)
    mean_kernel(Cuts cuts, F f, double* means, double* galpha) {
  const std::ptrdiff_t n = cuts.sorted.n;
  const std::ptrdiff_t m = cuts.roots.points.m;
  const std::ptrdiff_t count = cuts.sorted.rows * m;
  const int lane = rank_in_team<Warp>();
  for_each_piece<Warp>(count, [&](std::ptrdiff_t at) {
    const std::ptrdiff_t row = at / m;
    const std::ptrdiff_t t = at - row * m;
    const RowFacts& facts = cuts.sorted.facts[row];
    if (t + 1 >= facts.finite) {
      if (lane == 0) means[at] = 0;
      if (lane == 0 && galpha) galpha[at] = 0;
      return;
    }
    const double* const r = cuts.r + row * n;
    const double* const sorted = cuts.sorted.r + row * n;
    const auto next = static_cast<std::ptrdiff_t>(cuts.roots.points.at[at].next);
    const auto z_of = [&](double x) {
      return std::fmin(std::fmax(cuts.z(row, t, x), -kCut), kCut);
    };
    // Weights relative to the nearest element, which is next to the root: exact on a plateau too.
    double nearest = kCut;
    if (next > facts.below) nearest = std::fmin(nearest, std::abs(z_of(sorted[next - 1])));
    if (next < facts.end()) nearest = std::fmin(nearest, std::abs(z_of(sorted[next])));
    const auto weight = [&](double z) { return std::exp(nearest - std::abs(z)); };
    double total = 0, sum = 0, sum_z = 0;
    for (std::ptrdiff_t j = lane; j < n; j += kWarp) {
      if (std::isinf(r[j])) continue;
      const double z = z_of(r[j]);
      const double e = weight(z);
      total += e;
      sum += e * f(row, facts.below + t, j, z);
      sum_z += e * z;
    }
    total = Warp::reduce(total);
    sum = Warp::reduce(sum);
    if (lane == 0) means[at] = sum / total;
    if (galpha == nullptr) return;
    const double mean_z = Warp::reduce(sum_z) / total;
    double pulled = 0;
    for (std::ptrdiff_t j = lane; j < n; j += kWarp) {
      if (std::isinf(r[j])) continue;
      const double z = z_of(r[j]);
      pulled += weight(z) * (f(row, facts.below + t, j, z) * (mean_z - z));
    }
    pulled = Warp::reduce(pulled);
    if (lane == 0) galpha[at] = facts.peak * std::exp(-nearest) * pulled;
  });
}

template <class F>
void find_means(Queue& queue, const Cuts& cuts, const F& f, double* means, double* galpha) {
  run_teams<Warp>(queue, mean_kernel<F>, cuts.sorted.rows * cuts.roots.points.m, cuts, f, means,
                  galpha);
}

// gr_j = peak sum_t e^-|z| (mean_t - v_tj).
template <class T>
struct PullElement {
  Cuts cuts;
  GivenAt<T> given;
  const double* means;
  double* gr;
  __device__ void operator()(std::ptrdiff_t row, std::ptrdiff_t j) const {
    const RowFacts& facts = cuts.sorted.facts[row];
    const std::ptrdiff_t n = cuts.sorted.n;
    const double x = cuts.r[row * n + j];
    double sum = 0;
    for (std::ptrdiff_t t = 0; t + 1 < facts.finite && !std::isinf(x); ++t) {
      const double z = cuts.z(row, t, x);
      sum += std::exp(-std::abs(z)) *
             (means[row * cuts.roots.points.m + t] - given(row, facts.below + t, j, z));
    }
    gr[row * n + j] = facts.sign * facts.peak * sum;
  }
};

template <class T>
struct MoveEntry {
  Cuts cuts;
  PullAt pull;
  const double* means;
  Rows<T> matrix;
  __device__ double moved(std::ptrdiff_t row, std::ptrdiff_t t, std::ptrdiff_t j) const {
    const RowFacts& facts = cuts.sorted.facts[row];
    const double x = cuts.r[row * cuts.sorted.n + j];
    if (t < 0 || t + 1 >= facts.finite || std::isinf(x)) return 0;
    const double z = cuts.z(row, t, x);
    const double e = std::exp(-std::abs(z));
    if (e == 0) return 0;
    return e * (means[row * cuts.roots.points.m + t] - pull(row, facts.below + t, j, z));
  }
  __device__ void operator()(std::ptrdiff_t line, std::ptrdiff_t j) const {
    const std::ptrdiff_t n = cuts.sorted.n;
    const std::ptrdiff_t row = line / n;
    const RowFacts& facts = cuts.sorted.facts[row];
    const std::ptrdiff_t position = line - row * n;
    const std::ptrdiff_t t = position - facts.below;
    const double value = moved(row, t, j) - moved(row, t - 1, j);
    matrix[row][position * n + j] = narrow<T>(facts.peak * value);
  }
};

}  // namespace lapsum::gpu
