// The one-interval solve: between two neighbouring elements LapSum is a sum of two exponentials,
// and LapSum(b) = k is a quadratic. No branch cancels, overflows or takes the log of zero.
#pragma once

#include <cmath>

#include "lapsum/rows.h"
#include "math/laplace.h"

namespace lapsum::math {

/// Elements on both sides of an interval, as its ends see them: the nearest element and the decayed
/// sum of all elements of that side at it, sum_i e^{-|r_i - nearest| / alpha}. No elements: sum 0.
struct Interval {
  double left_nearest, left_sum;
  double right_nearest, right_sum;
};

/// The root b in an interval, with what derivatives need: z of b to both ends, and the softmax
/// weights q = e^{-|b - r| / alpha} / total of the two nearest elements. The weights stay exact on
/// a plateau, where `total` underflows.
struct Root {
  Threshold b;
  double left_z, right_z;
  double left_weight, right_weight;
  double total;
};

/// Solves -left_sum e^{-left_z} / 2 + right_sum e^{-right_z} / 2 = excess, where excess is k minus
/// the number of elements on the left. An empty side leaves the tail of the other.
LAPSUM_HOST_DEVICE inline Root solve_interval(const Interval& at, double excess, double alpha) {
  const bool both = at.left_sum > 0 && at.right_sum > 0;
  const double gap = both ? (at.right_nearest - at.left_nearest) / alpha : INFINITY;
  // The square root of left_sum right_sum e^-gap, taken before it underflows.
  const double mean = both ? std::sqrt(at.left_sum * at.right_sum) * std::exp(-0.5 * gap) : 0;
  const double m = std::hypot(excess, mean);
  Root root{};
  root.total = 2 * m;
  double left_share = 0.5;
  double right_share = 0.5;
  if (excess > 0) {
    root.right_z = -std::log((m + excess) / at.right_sum);
    root.left_z = gap - root.right_z;
    root.b = {at.right_nearest, -alpha * root.right_z};
    left_share = mean * (mean / (m + excess)) / root.total;
    right_share = (m + excess) / root.total;
  } else if (excess < 0) {
    root.left_z = -std::log((m - excess) / at.left_sum);
    root.right_z = gap - root.left_z;
    root.b = {at.left_nearest, alpha * root.left_z};
    left_share = (m - excess) / root.total;
    right_share = mean * (mean / (m - excess)) / root.total;
  } else {
    const double tilt = 0.5 * std::log(at.left_sum / at.right_sum);
    root.left_z = 0.5 * gap + tilt;
    root.right_z = 0.5 * gap - tilt;
    root.b = {at.left_nearest, (0.5 * at.right_nearest - 0.5 * at.left_nearest) + alpha * tilt};
  }
  root.left_weight = at.left_sum > 0 ? left_share / at.left_sum : 0;
  root.right_weight = at.right_sum > 0 ? right_share / at.right_sum : 0;
  return root;
}

}  // namespace lapsum::math
