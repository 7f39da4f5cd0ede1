// A few values: their order, and the decayed sums at each of them.
#include <gtest/gtest.h>

#include "cpu/primitives/few.h"
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
void expect_sorted() {
  for (const test::Family& family : test::kFamilies) {
    for (std::ptrdiff_t n = 0; n <= kSmallSort; ++n) {
      SCOPED_TRACE(testing::Message() << family.name << ", n = " << n);
      const std::vector<double> wide = family.row(n);
      Guarded<T> values(std::vector<T>(wide.begin(), wide.end()));
      std::vector<double> want(values.data(), values.data() + n);
      std::sort(want.begin(), want.end());
      test::for_each_target([&] {
        Guarded<double> sorted(n);
        small_sort(values.data(), n, sorted.data());
        EXPECT_EQ(sorted.copy(), want);
      });
    }
  }
}

TEST(Few, are_sorted) {
  expect_sorted<float>();
  expect_sorted<double>();
}

TEST(Few, have_the_sums_of_both_sides) {
  for (const std::ptrdiff_t n : {0, 1, 2, 7, 9, 33, 64}) {
    for (const double alpha : {1e-300, 1e-2, 1.0, 1e300}) {
      SCOPED_TRACE(testing::Message() << "n = " << n << ", alpha = " << alpha);
      std::vector<double> row = test::family("normal").row(n);
      std::sort(row.begin(), row.end());
      const math::Interval at{-9, 3, 11, 2};
      // Values with the ends of what surrounds them.
      std::vector<double> all = row;
      all.insert(all.begin(), at.left_nearest);
      all.push_back(at.right_nearest);
      const auto weight = [&](std::size_t i) {
        return i == 0 ? at.left_sum : i + 1 == all.size() ? at.right_sum : 1;
      };
      test::for_each_target([&] {
        Guarded<double> r(row), left(n + 1), right(n + 1);
        scan_sums(r.data(), n, at, alpha, left.data(), right.data());
        for (std::ptrdiff_t j = 0; j <= n; ++j) {
          Real want_left = 0, want_right = 0;
          const auto here = static_cast<std::size_t>(j);
          for (std::size_t i = 0; i <= here; ++i) {
            want_left += weight(i) * std::exp(-(Real(all[here + 1]) - all[i]) / alpha);
          }
          for (std::size_t i = here + 1; i < all.size(); ++i) {
            want_right += weight(i) * std::exp(-(Real(all[i]) - all[here]) / alpha);
          }
          const auto limit = [](Real y) {
            return test::allowed("bracket", "float64", "sum", {{"y", y}, {"1+y", 1 + y}});
          };
          EXPECT_TRUE(within(left[j], want_left, limit(want_left))) << "left " << j;
          EXPECT_TRUE(within(right[j], want_right, limit(want_right))) << "right " << j;
        }
      });
    }
  }
}

}  // namespace
}  // namespace lapsum::cpu
