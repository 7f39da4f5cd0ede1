// The one-interval solve against bisection: both ends, the middle, plateaus, empty sides, underflow.
#include <gtest/gtest.h>

#include "math/interval.h"
#include "reference.h"
#include "tolerances.h"

namespace lapsum::math {
namespace {

using reference::Real;
using test::allowed;
using test::within;

constexpr double kInf = std::numeric_limits<double>::infinity();

// e^-z / total at the two ends, the largest term being divided out.
struct Weights {
  Real left, right;
};

Weights weights_at(const Interval& at, Real left_z, Real right_z) {
  const Real nearest = at.left_sum == 0    ? right_z
                       : at.right_sum == 0 ? left_z
                                           : std::min(left_z, right_z);
  const Real left = at.left_sum > 0 ? std::exp(nearest - left_z) : 0;
  const Real right = at.right_sum > 0 ? std::exp(nearest - right_z) : 0;
  const Real total = at.left_sum * left + at.right_sum * right;
  return {left / total, right / total};
}

void expect_root(const Interval& at, double excess, double alpha) {
  SCOPED_TRACE(testing::Message() << "sums " << at.left_sum << " and " << at.right_sum
                                  << ", excess " << excess << ", alpha " << alpha);
  const bool both = at.left_sum > 0 && at.right_sum > 0;
  const Real gap = both ? (Real(at.right_nearest) - at.left_nearest) / alpha : 0;
  const bool from_right = excess > 0;
  const Real near = from_right ? at.right_sum : at.left_sum;
  const Real far = from_right ? at.left_sum : at.right_sum;
  const Real s = reference::solve_two_exponentials(near, far, gap, 2 * std::abs(Real(excess)));
  const Real left_z = from_right ? gap - s : s;
  const Real right_z = from_right ? s : gap - s;
  const Weights want = weights_at(at, left_z, right_z);
  const auto limit = [&](const char* quantity, Real y = 0) {
    return allowed("interval", "float64", quantity, {{"z", 1 + s + gap}, {"y", y}});
  };

  const Root got = solve_interval(at, excess, alpha);
  if (at.left_sum > 0) {
    EXPECT_TRUE(within(got.left_z, left_z, limit("z")));
    const Real z = ((Real(got.b.anchor) - at.left_nearest) + got.b.offset) / alpha;
    EXPECT_TRUE(within(z, left_z, limit("z"))) << "from b";
  }
  if (at.right_sum > 0) {
    EXPECT_TRUE(within(got.right_z, right_z, limit("z")));
    const Real z = ((at.right_nearest - Real(got.b.anchor)) - got.b.offset) / alpha;
    EXPECT_TRUE(within(z, right_z, limit("z"))) << "from b";
  }
  EXPECT_TRUE(within(got.left_weight, want.left, limit("weight", want.left)));
  EXPECT_TRUE(within(got.right_weight, want.right, limit("weight", want.right)));
  const Real total = (at.left_sum > 0 ? at.left_sum * std::exp(-left_z) : 0) +
                     (at.right_sum > 0 ? at.right_sum * std::exp(-right_z) : 0);
  EXPECT_TRUE(within(got.total, total, limit("total", total)));
}

TEST(Interval, finds_the_root_between_two_elements) {
  for (const double left_sum : {1.0, 2.5, 1e5}) {
    for (const double right_sum : {1.0, 7.0, 1e6}) {
      for (const double gap : {0.0, 1e-12, 1e-3, 1.0, 30.0, 600.0}) {
        for (const double alpha : {1e-4, 1.0, 1e4}) {
          const Interval at{-0.25, left_sum, -0.25 + gap * alpha, right_sum};
          const Real width = (Real(at.right_nearest) - at.left_nearest) / alpha;
          for (const Real t : {width * 0, width / 10, width / 2, width * 9 / 10, width}) {
            const Real excess = (right_sum * std::exp(t - width) - left_sum * std::exp(-t)) / 2;
            expect_root(at, static_cast<double>(excess), alpha);
          }
        }
      }
    }
  }
}

TEST(Interval, finds_the_middle_of_a_plateau) {
  for (const double gap : {0.5, 80.0, 800.0, 1e5, 1e12}) {
    expect_root({1.0, 1.0, 1.0 + gap, 1.0}, 0, 1);
    expect_root({1.0, 3.0, 1.0 + gap, 3.5}, 0, 1);
  }
  const Threshold b = solve_interval({-1e308, 2.0, 1e308, 3.0}, 0, 1e-3).b;
  EXPECT_EQ(b.anchor + b.offset, 0) << "the gap itself overflows";
}

TEST(Interval, is_exact_next_to_a_plateau) {
  for (const double excess : {-0.5, -1e-9, -1e-15, 1e-15, 1e-9, 0.5}) {
    for (const double gap : {80.0, 800.0, 1e5}) expect_root({1.0, 1.5, 1.0 + gap, 1.25}, excess, 1);
  }
}

TEST(Interval, gives_the_tail_of_the_only_side) {
  for (const double k : {1e-300, 1e-200, 1e-160, 1e-20, 0.1, 0.5, 1.0}) {
    for (const double alpha : {1e-4, 1.0, 1e4}) {
      expect_root({-kInf, 0, 3.0, 2.0}, k, alpha);
      expect_root({3.0, 2.0, kInf, 0}, -k, alpha);
    }
  }
}

}  // namespace
}  // namespace lapsum::math
