// The definitions, in long double and as slow as they are plain. Scalars are Real, or Dual for the
// derivative along a direction. alpha is signed; nothing here is sorted, scanned or vectorised
// except to find the two elements around a root.
#pragma once

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "dual.h"
#include "lapsum/lap_kernel.h"

namespace lapsum::reference {

/// F(z).
template <class S>
S cdf(S z) {
  using std::exp;
  return value_of(z) > 0 ? S(1) - exp(-z) / S(2) : exp(z) / S(2);
}

/// log F(z).
template <class S>
S log_cdf(S z) {
  using std::exp;
  using std::log1p;
  return value_of(z) > 0 ? log1p(-exp(-z) / S(2)) : z - S(std::numbers::ln2_v<Real>);
}

/// phi(z), as lapsum::Kernel describes it.
inline Real phi(Kernel kernel, Real z) {
  if (kernel.shape == Kernel::Shape::cdf) return cdf(z);
  const Real even = std::pow(std::abs(z), kernel.order) * std::exp(-std::abs(z));
  if (kernel.shape == Kernel::Shape::even) return even;
  return z == 0 ? 0 : std::copysign(even, z);
}

/// sum_i w_i phi((x - r_i) / alpha).
inline Real lap_kernel(Kernel kernel, const std::vector<Real>& r, const std::vector<Real>& w,
                       Real x, Real alpha) {
  Real sum = 0;
  for (std::size_t i = 0; i < r.size(); ++i) sum += w[i] * phi(kernel, (x - r[i]) / alpha);
  return sum;
}

/// sum_i F((x - r_i) / alpha).
template <class S>
S lap_sum(const std::vector<S>& r, S x, S alpha) {
  S sum(0);
  for (const S& v : r) sum = sum + cdf((x - v) / alpha);
  return sum;
}

/// The s with near e^-s - far e^(s - gap) = excess, excess >= 0: by bisection, then one step of
/// Newton, which carries the derivative. An infinite gap stands for no elements on the far side.
template <class S>
S solve_two_exponentials(S near, S far, S gap, S excess) {
  using std::exp;
  const Real a = value_of(near), b = value_of(far), g = value_of(gap), e = value_of(excess);
  const auto short_of_root = [&](Real s) {
    if (e == 0) return std::log(a) - s > std::log(b) + s - g;
    return a * std::exp(-s) - (b > 0 ? b * std::exp(s - g) : 0) > e;
  };
  Real low = 0, high = 1;
  while (short_of_root(high)) high *= 2;
  for (int i = 0; i < 200; ++i) {
    const Real middle = (low + high) / 2;
    (short_of_root(middle) ? low : high) = middle;
  }
  const S decayed_far = std::isfinite(g) ? far * exp(S(2 * low) - gap) : S(0);
  constexpr Real kLargestExponent = 11000;  // for an excess of 0 on a plateau
  const S residue = near - decayed_far - excess * S(std::exp(std::min(low, kLargestExponent)));
  return S(low) + residue / S(a + value_of(decayed_far));
}

/// A root b = anchor + alpha * z, anchor being the value of an element next to it.
template <class S>
struct Root {
  S anchor, z;

  S at(S alpha) const { return anchor + alpha * z; }
  /// (b - x) / alpha.
  S from(S x, S alpha) const { return (anchor - x) / alpha + z; }
};

/// The b with sum_i w_i F((b - r_i) / alpha) = k, 0 < k < sum(w); no weights stand for ones.
/// Elements left of b are counted, and only the exponentials summed, so that nothing cancels however
/// long the row.
template <class S>
Root<S> root(const std::vector<S>& row, S k, S alpha, const std::vector<S>& weights = {}) {
  using std::exp;
  const bool negated = value_of(alpha) < 0;
  if (negated) alpha = -alpha;
  // Elements without weight would make sums underflow that the root is read from.
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < row.size(); ++i) {
    if (weights.empty() || !is_zero(weights[i])) order.push_back(i);
  }
  const std::size_t n = order.size();
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return negated ? value_of(row[b]) < value_of(row[a]) : value_of(row[a]) < value_of(row[b]);
  });
  std::vector<S> r(n), w(n, S(1));
  for (std::size_t i = 0; i < n; ++i) {
    r[i] = negated ? -row[order[i]] : row[order[i]];
    if (!weights.empty()) w[i] = weights[order[i]];
  }
  const auto decayed = [&](std::size_t begin, std::size_t end, std::size_t at) {
    const bool left = begin < at;
    S sum(0);
    for (std::size_t i = begin; i < end; ++i) {
      sum = sum + w[i] * exp((left ? r[i] - r[at] : r[at] - r[i]) / alpha);
    }
    return sum;
  };
  // By Kahan: what k exceeds a count by is small against both.
  const auto count = [&](std::size_t end) {
    S sum(0), lost(0);
    for (std::size_t i = 0; i < end; ++i) {
      const S more = w[i] - lost;
      const S total = sum + more;
      lost = (total - sum) - more;
      sum = total;
    }
    return sum;
  };
  // Elements j with LapSum(r_j) < k; there, those before j and half of j count as left of r_j.
  std::size_t left = 0;
  for (std::size_t stop = n; left < stop;) {
    const std::size_t j = (left + stop) / 2;
    const Real tails = value_of(decayed(j + 1, n, j)) - value_of(decayed(0, j, j));
    const bool beyond = value_of(k) - value_of(count(j)) - value_of(w[j]) / 2 > tails / 2;
    (beyond ? left : stop) = beyond ? j + 1 : j;
  }
  const S excess = S(2) * (k - count(left));
  const bool from_right = left == 0 || (left < n && value_of(excess) > 0);
  const S before = left > 0 ? decayed(0, left, left - 1) : S(0);
  const S behind = left < n ? decayed(left, n, left) : S(0);
  const S gap = left > 0 && left < n ? (r[left] - r[left - 1]) / alpha : S(INFINITY);
  const S s = from_right ? solve_two_exponentials(behind, before, gap, excess)
                         : solve_two_exponentials(before, behind, gap, -excess);
  const S anchor = r[from_right ? left : left - 1];
  return {negated ? -anchor : anchor, from_right ? -s : s};
}

/// P[i][j] = F((b(i + 1) - x_j) / alpha) - F((b(i) - x_j) / alpha), row-major.
template <class S>
std::vector<S> soft_permutation(const std::vector<S>& x, S alpha) {
  const std::size_t n = x.size();
  std::vector<S> matrix(n * n);
  std::vector<S> before(n, S(0));
  for (std::size_t i = 0; i < n; ++i) {
    std::vector<S> now(n, S(1));
    if (i + 1 < n) {
      const Root<S> b = root(x, S(static_cast<Real>(i + 1)), alpha);
      for (std::size_t j = 0; j < n; ++j) now[j] = cdf(b.from(x[j], alpha));
    }
    for (std::size_t j = 0; j < n; ++j) matrix[i * n + j] = now[j] - before[j];
    before = now;
  }
  return matrix;
}

}  // namespace lapsum::reference
