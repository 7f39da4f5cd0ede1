// Brackets against their definition, in both lanes that sums are made in: instruction sets with a
// table of powers sum floats in float lanes, the others in double.
#include <gtest/gtest.h>

#include "cpu/primitives/bracket.h"
#include "families.h"
#include "guarded.h"
#include "reference.h"
#include "targets.h"
#include "tolerances.h"

namespace lapsum::cpu {
namespace {

using reference::Real;
using test::allowed;
using test::Guarded;
using test::within;

constexpr double kInf = std::numeric_limits<double>::infinity();

template <class T>
class Bracket : public testing::Test {
 public:
  static void expect(const std::vector<T>& x, double sign, double lo, double hi, double alpha) {
    std::vector<T> inside;
    std::ptrdiff_t left = 0;
    Real left_sum = 0, right_sum = 0;
    for (const T v : x) {
      const Real r = sign * v;
      if (r <= lo) {
        ++left;
        left_sum += std::isinf(lo) ? 0 : std::exp(-(lo - r) / alpha);
      } else if (r >= hi) {
        right_sum += std::isinf(hi) ? 0 : std::exp(-(r - hi) / alpha);
      } else {
        inside.push_back(static_cast<T>(sign) * v);
      }
    }
    const auto limit = [](Real y) {
      return allowed("bracket", test::kDtype<T>, "sum", {{"y", y}, {"1+y", 1 + y}});
    };
    test::for_each_target([&] {
      Guarded<T> from(x);
      Guarded<T> to(from.size());
      const Bracketed got = bracket<T>(from.data(), from.size(), sign, lo, hi, alpha, to.data());
      ASSERT_EQ(got.left, left);
      ASSERT_EQ(got.inside, std::ssize(inside));
      for (std::size_t i = 0; i < inside.size(); ++i) {
        ASSERT_TRUE(to[std::ptrdiff_t(i)] == inside[i] || std::isnan(inside[i])) << "at " << i;
      }
      EXPECT_TRUE(within(got.left_sum, left_sum, limit(left_sum))) << "left";
      EXPECT_TRUE(within(got.right_sum, right_sum, limit(right_sum))) << "right";
    });
  }
};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(Bracket, Types);

TYPED_TEST(Bracket, counts_keeps_and_sums_on_every_family) {
  for (const std::ptrdiff_t n : test::kLengths) {
    for (const test::Family& family : test::kFamilies) {
      if (n > 1000 && family.name != std::string("normal") && family.name != std::string("ties")) {
        continue;
      }
      SCOPED_TRACE(testing::Message() << family.name << ", n = " << n);
      const std::vector<TypeParam> x = family.row<TypeParam>(n);
      const double sign = n % 2 ? 1 : -1;
      double lo = x.empty() ? 0 : sign * double(x[x.size() / 3]);
      double hi = x.empty() ? 1 : sign * double(x[x.size() / 2]);
      if (lo > hi) std::swap(lo, hi);
      for (const double alpha : {1e-4, 1e-2, 1.0, 1e4}) {
        SCOPED_TRACE(alpha);
        this->expect(x, sign, lo, hi, alpha);
        this->expect(x, sign, lo, lo, alpha);
        this->expect(x, sign, -kInf, hi, alpha);
        this->expect(x, sign, lo, kInf, alpha);
      }
    }
  }
}

TYPED_TEST(Bracket, keeps_nan_inside_and_infinities_outside) {
  constexpr auto kEnd = std::numeric_limits<TypeParam>::infinity();
  std::vector<TypeParam> x(41, 0.5f);
  x[3] = x[40] = std::numeric_limits<TypeParam>::quiet_NaN();
  x[7] = kEnd;
  x[39] = -kEnd;
  this->expect(x, 1, 0, 1, 0.1);
  this->expect(x, -1, -kInf, kInf, 0.1);
  this->expect(x, 1, 0.5, 0.5, 1e-30);
}

TYPED_TEST(Bracket, sums_equal_terms_without_drift) {
  for (const double away : {0.0, 0.37, 3.3, 20.0, 61.0}) {
    std::vector<TypeParam> x(1003, static_cast<TypeParam>(-away));
    x[5] = 0;
    this->expect(x, 1, 0, 1, 1);
  }
}

}  // namespace
}  // namespace lapsum::cpu
