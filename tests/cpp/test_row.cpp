// Rows in and out: what is not finite is found wherever it stands, and what is finite stays finite.
#include <gtest/gtest.h>

#include <vector>

#include "bits.h"
#include "cpu/primitives/row.h"
#include "guarded.h"
#include "targets.h"

namespace lapsum::cpu {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

template <class T>
class Row : public testing::Test {};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(Row, Types);

TYPED_TEST(Row, has_what_is_not_finite_counted) {
  test::for_each_target([] {
    for (const std::ptrdiff_t n : {1, 2, 15, 16, 17, 40}) {
      test::Guarded<TypeParam> x(n);
      for (std::ptrdiff_t i = 0; i < n; ++i) x[i] = std::numeric_limits<TypeParam>::max();
      EXPECT_TRUE(is_finite(x.data(), n));
      for (std::ptrdiff_t i = 0; i < n; ++i) {
        const TypeParam old = x[i];
        for (const double odd : {kInf, -kInf, kNaN}) {
          x[i] = static_cast<TypeParam>(odd);
          EXPECT_FALSE(is_finite(x.data(), n)) << odd << " at " << i << " of " << n;
          const NonFinite counts = count_non_finite(x.data(), n, -1, 1);
          EXPECT_EQ(counts.nan, odd != odd);
          EXPECT_EQ(counts.below, odd == kInf);
          EXPECT_EQ(counts.above, odd == -kInf);
        }
        x[i] = old;
      }
    }
  });
}

TYPED_TEST(Row, is_narrowed_as_number_by_number) {
  const double numbers[] = {0.0,   -0.0,   1.0 / 3, -1e-50, 1e38,   3.5e38, -3.5e38,
                            1e300, -1e300, kInf,    -kInf,  5e-324, 1e-40,  -1.7e308};
  test::for_each_target([&] {
    for (const std::ptrdiff_t n : {1, 3, 8, 9, 33, 300}) {
      test::Guarded<TypeParam> out(n);
      const auto value = [&](std::ptrdiff_t i) { return numbers[i % std::ssize(numbers)]; };
      narrow_all(0, n, out.data(), value);
      std::vector<TypeParam> want;
      for (std::ptrdiff_t i = 0; i < n; ++i) want.push_back(narrow<TypeParam>(value(i)));
      EXPECT_TRUE(test::same_bits<TypeParam>({out.data(), want.size()}, want));
      narrow_all(0, n, out.data(), [](std::ptrdiff_t) { return kNaN; });
      for (std::ptrdiff_t i = 0; i < n; ++i) EXPECT_TRUE(std::isnan(out[i]));
    }
  });
}

}  // namespace
}  // namespace lapsum::cpu
