// Rough looks at a row: rough, but never wrong about which elements there are.
#include <gtest/gtest.h>

#include "cpu/primitives/glance.h"
#include "families.h"
#include "guarded.h"
#include "reference.h"
#include "targets.h"
#include "tolerances.h"

namespace lapsum::cpu {
namespace {

using reference::Real;
using test::Guarded;
using test::within;

template <class T>
class GlanceAt : public testing::Test {};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(GlanceAt, Types);

TYPED_TEST(GlanceAt, sees_the_whole_row_at_a_step_of_one) {
  using T = TypeParam;
  for (const std::ptrdiff_t n : test::kLengths) {
    if (n == 0) continue;
    SCOPED_TRACE(n);
    const std::vector<double> wide = test::family("normal").row(n);
    const std::vector<T> row(wide.begin(), wide.end());
    Real mean = 0, square = 0, left = 0, left_sum = 0, right_sum = 0;
    Real below = -INFINITY, above = INFINITY;
    for (const T v : row) {
      const Real r = -Real(v);
      mean += r / Real(n);
      square += r * r / Real(n);
      (r <= T(0.25) ? left_sum : right_sum) += std::exp(-std::abs(r - 0.25) / 0.3);
      left += r <= T(0.25);
      if (r <= T(-0.125)) below = std::max(below, r);
      if (r >= T(0.125)) above = std::min(above, r);
    }
    const Real limit = test::allowed("glance", test::kDtype<T>, "value", {{"n", n}});
    test::for_each_target([&] {
      Guarded<T> x(row);
      const Summary moments = glance_moments(x.data(), n, 1, -1);
      EXPECT_EQ(moments.count, n);
      EXPECT_TRUE(within(moments.mean, mean, 1e-3L));
      EXPECT_TRUE(within(moments.variance, square - mean * mean, 1e-3L));
      const Glance glance = glance_at(x.data(), n, 1, -1, 0.25, 0.3);
      EXPECT_EQ(glance.left_count, left);
      EXPECT_TRUE(within(glance.left_sum, left_sum, limit));
      EXPECT_TRUE(within(glance.right_sum, right_sum, limit));
      const Neighbours ends = glance_neighbours(x.data(), n, 1, -1, -0.125, 0.125);
      EXPECT_EQ(ends.below, below);
      EXPECT_EQ(ends.above, above);
    });
  }
}

TYPED_TEST(GlanceAt, counts_what_it_sees_at_a_larger_step) {
  using T = TypeParam;
  for (const std::ptrdiff_t n : {1, 15, 17, 1000, 4099}) {
    for (const std::ptrdiff_t step : {2, 3, 7}) {
      test::for_each_target([&] {
        Guarded<T> x(std::vector<T>(static_cast<std::size_t>(n), T(0.5)));
        const Glance glance = glance_at(x.data(), n, step, 1, 0.5, 1);
        EXPECT_EQ(glance_moments(x.data(), n, step, 1).count, glance.left_count);
        EXPECT_EQ(glance_count<T>(n, step), glance.left_count);
        EXPECT_TRUE(within(glance.left_sum, glance.left_count, 1e-3L * glance.left_count));
      });
    }
  }
}

}  // namespace
}  // namespace lapsum::cpu
