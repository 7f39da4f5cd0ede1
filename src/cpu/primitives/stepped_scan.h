// Decayed sums over sorted values, one value after another: any order of moments, any gaps. This is
// how moments of order 1 to 3 are scanned, and how a decayed scan joins its blocks.
#pragma once

#include <array>
#include <cstddef>
#include <span>

#include "cpu/primitives/arena.h"

namespace lapsum::cpu {

/// Which way a scan runs: `right` from the first value to the last, so that element j sees those
/// before it; `left` the other way.
enum class Toward { right, left };

/// Decayed moments at every value: at[p][j] = sum_i w_i zeta^p e^-zeta over the elements i up to
/// and including j on the side the scan comes from, zeta = |r_j - r_i| / alpha.
template <int Order>
using Moments = std::array<std::span<double>, Order + 1>;

/// Weights of a scan, one entry per value and order: w[0] are the w_i above; w[p] adds to moment p
/// directly, for sources that do not lie on a value. An empty w[0] stands for ones, another empty
/// one for zeros.
template <int Order>
using Weights = std::array<std::span<const double>, Order + 1>;

/// Sorted finite values with the decay from each to the next: gap[j] = (r[j+1] - r[j]) / alpha, cut
/// at math::kFar, keep[j] = e^{-gap[j]} and loss[j] = 1 - keep[j]. A step takes the smaller of the
/// two, which has all its digits: a keep near 1 has rounded the gap away, and thousands of such
/// roundings add up; a loss near 1 has rounded away what is kept.
struct Steps {
  std::span<const double> r, gap, keep, loss;
  double alpha = 1;

  std::ptrdiff_t size() const { return static_cast<std::ptrdiff_t>(r.size()); }
};

Steps make_steps(std::span<const double> sorted, double alpha, Arena& arena, int threads);

/// O(n); rows longer than a chunk are scanned by chunks, in parallel, and joined in order.
template <int Order>
Moments<Order> stepped_scan(const Steps& steps, Toward toward, const Weights<Order>& w,
                            Arena& arena, int threads);

}  // namespace lapsum::cpu
