// Laplace mathematics against long double: the promised units in the last place, limits, lengths
// that leave partial vectors, and what must not depend on where an element stands.
#include <gtest/gtest.h>

#include "cpu/primitives/laplace.h"
#include "families.h"
#include "guarded.h"
#include "math/laplace.h"
#include "reference.h"
#include "targets.h"
#include "tolerances.h"

namespace lapsum::cpu {
namespace {

using reference::Real;
using test::allowed;
using test::Draw;
using test::Guarded;
using test::ulp;
using test::within;

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

struct Function {
  const char* name;
  void (*map)(const double*, std::ptrdiff_t, double*);
  Real (*define)(Real);
  bool positive;  // defined for z >= 0 alone
};

const Function kFunctions[] = {
    {"exp_abs", exp_abs, [](Real z) { return std::exp(-std::abs(z)); }, false},
    {"decay_loss", decay_loss, [](Real z) { return -std::expm1(-z); }, true},
    {"cdf", cdf, [](Real z) { return reference::cdf(z); }, false},
};

// Both signs of every magnitude from the denormals to 700, and what is special.
std::vector<double> arguments(std::ptrdiff_t n, bool positive) {
  const double special[] = {0.0, -0.0, 4.9e-324, 1e-310, 2.3e-308, 1e-17, 0.3465735902799727, 700};
  Draw draw(static_cast<unsigned>(n));
  std::vector<double> z(static_cast<std::size_t>(n));
  for (std::size_t i = 0; i < z.size(); ++i) {
    const double magnitude = i % 2 ? std::exp2(-60 + 69 * draw.uniform()) : 8 * draw.uniform();
    z[i] = i % 5 == 4 ? special[i / 5 % std::size(special)] : std::min(magnitude, 700.0);
    if (!positive && draw.uniform() < 0.5) z[i] = -z[i];
  }
  return z;
}

void for_each_function(const std::function<void(const Function&)>& body) {
  test::for_each_target([&] {
    for (const Function& f : kFunctions) {
      SCOPED_TRACE(f.name);
      body(f);
    }
  });
}

TEST(Laplace, keeps_the_promised_ulp_at_every_length) {
  for_each_function([](const Function& f) {
    for (const std::ptrdiff_t n : test::kLengths) {
      Guarded<double> z(arguments(n, f.positive));
      Guarded<double> out(n);
      f.map(z.data(), n, out.data());
      for (std::ptrdiff_t i = 0; i < n; ++i) {
        const Real want = f.define(z[i]);
        ASSERT_TRUE(
            within(out[i], want, allowed(f.name, "float64", "value", {{"ulp(y)", ulp(want)}})))
            << "z = " << z[i] << " at " << i << " of " << n;
      }
    }
  });
}

TEST(Laplace, does_not_depend_on_the_position_nor_on_the_neighbours) {
  for_each_function([](const Function& f) {
    const std::vector<double> z = arguments(97, f.positive);
    Guarded<double> together(z);
    f.map(together.data(), 97, together.data());
    for (std::size_t i = 0; i < z.size(); ++i) {
      double among_nan[] = {kNaN, kInf, z[i], kNaN, kNaN};
      f.map(among_nan, 5, among_nan);
      ASSERT_EQ(together[static_cast<std::ptrdiff_t>(i)], among_nan[2]) << "z = " << z[i];
    }
  });
}

TEST(Laplace, reaches_its_limits) {
  test::for_each_target([] {
    const std::vector<double> z = {-kInf, -1e300, -1000, 1000, 1e300, kInf};
    const auto at = [&](const Function& f, double sign) {
      std::vector<double> out = z;
      for (double& v : out) v = sign == 0 ? std::abs(v) : v;
      f.map(out.data(), std::ssize(out), out.data());
      return out;
    };
    EXPECT_EQ(at(kFunctions[0], 1), std::vector<double>(6, 0));
    EXPECT_EQ(at(kFunctions[1], 0), std::vector<double>(6, 1));
    EXPECT_EQ(at(kFunctions[2], 1), (std::vector<double>{0, 0, 0, 1, 1, 1}));
  });
}

TEST(Laplace, exp_abs_gives_zero_for_denormals) {
  test::for_each_target([] {
    for (const double z : {708.5, 720.0, 745.0, 746.0, 999.0}) {
      double out = -1;
      exp_abs(&z, 1, &out);
      EXPECT_EQ(out, 0) << "z = " << z;
    }
  });
}

TEST(Laplace, scalars_agree_with_the_definition) {
  for (const double z : arguments(1000, false)) {
    const Real f = reference::cdf<Real>(z);
    const Real log_f = reference::log_cdf<Real>(z);
    const Real slope = reference::log_cdf(reference::Dual(z, 1)).slope;
    const auto limit = [](const char* name, Real y) {
      return allowed(name, "float64", "value", {{"ulp(y)", ulp(y)}});
    };
    EXPECT_TRUE(within(math::cdf(z), f, limit("cdf", f))) << z;
    EXPECT_TRUE(within(math::log_cdf(z), log_f, limit("log_cdf", log_f))) << z;
    EXPECT_TRUE(within(math::log_cdf_slope(z), slope, limit("log_cdf", slope))) << z;
  }
  EXPECT_EQ(math::cdf(-kInf), 0);
  EXPECT_EQ(math::cdf(kInf), 1);
  EXPECT_TRUE(std::isnan(math::cdf(kNaN)));
  EXPECT_TRUE(std::isnan(math::log_cdf(kNaN)));
}

}  // namespace
}  // namespace lapsum::cpu
