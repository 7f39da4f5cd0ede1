// A row seen from a threshold, against long double: values, sums and gradients.
#include <gtest/gtest.h>

#include "cpu/primitives/density.h"
#include "families.h"
#include "guarded.h"
#include "reference.h"
#include "targets.h"
#include "tolerances.h"

namespace lapsum::cpu {
namespace {

using reference::Real;
using test::allowed;
using test::Draw;
using test::Guarded;
using test::within;

template <class T>
class Density : public testing::Test {
 public:
  static std::vector<T> narrow(const std::vector<double>& wide) {
    return {wide.begin(), wide.end()};
  }
  static std::vector<T> weights(std::ptrdiff_t n) { return narrow(Draw(9).normals(n)); }

  // body(x, sign, b, alpha) for rows, and thresholds next to an element of each.
  template <class Body>
  static void for_each(Body&& body) {
    for (const std::ptrdiff_t n : {0, 1, 7, 16, 33, 1000}) {
      for (const test::Family& family : test::kFamilies) {
        const std::vector<T> x = narrow(family.row(n));
        const double sign = n % 2 ? 1 : -1;
        const double anchor = x.empty() ? 0 : sign * double(x[x.size() / 2]);
        for (const double alpha : {1e-4, 1e-2, 1.0, 1e4}) {
          for (const double z : {0.0, 0.3, -0.9, 40.0}) {
            SCOPED_TRACE(testing::Message()
                         << family.name << ", n = " << n << ", alpha = " << alpha << ", z = " << z);
            body(x, sign, Threshold{anchor, z * alpha}, alpha);
          }
        }
      }
    }
  }
  static Real z(T x, double sign, const Threshold& b, double alpha) {
    return (Real(b.anchor) - sign * Real(x) + b.offset) / alpha;
  }
};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(Density, Types);

TYPED_TEST(Density, has_the_cdf_of_every_element) {
  using T = TypeParam;
  this->for_each([&](const std::vector<T>& x, double sign, const Threshold& b, double alpha) {
    test::for_each_target([&] {
      Guarded<T> from(x), p(from.size());
      cdf_at<T>(from.data(), from.size(), sign, b, alpha, p.data());
      for (std::ptrdiff_t i = 0; i < p.size(); ++i) {
        const Real want = reference::cdf(this->z(from[i], sign, b, alpha));
        ASSERT_TRUE(within(p[i], want, allowed("cdf_at", test::kDtype<T>, "value"))) << i;
      }
    });
  });
}

TYPED_TEST(Density, has_the_log_cdf_of_every_element) {
  using T = TypeParam;
  this->for_each([&](const std::vector<T>& x, double sign, const Threshold& b, double alpha) {
    test::for_each_target([&] {
      Guarded<T> from(x), log_p(from.size());
      log_cdf_at<T>(from.data(), from.size(), sign, b, alpha, log_p.data());
      for (std::ptrdiff_t i = 0; i < log_p.size(); ++i) {
        const Real want = reference::log_cdf(this->z(from[i], sign, b, alpha));
        const Real limit =
            allowed("log_cdf_at", test::kDtype<T>, "value", {{"1+y", 1 + std::abs(want)}});
        ASSERT_TRUE(within(log_p[i], want, limit)) << i;
      }
    });
  });
}

// An element that is chosen for certain has log p = -e / 2, however small that is.
TYPED_TEST(Density, has_a_log_cdf_near_zero_as_exact_as_elsewhere) {
  using T = TypeParam;
  test::for_each_target([&] {
    for (const double z : {1.0, 10.0, 40.0, 80.0}) {
      const T x[1] = {T(-z)};
      T log_p[1];
      log_cdf_at<T>(x, 1, 1, {0, 0}, 1, log_p);
      const Real want = reference::log_cdf<Real>(-Real(x[0]));
      const Real limit =
          allowed("log_cdf_at", test::kDtype<T>, "small", {{"y", -want}, {"(1+z)", 1 + Real(z)}});
      EXPECT_TRUE(within(log_p[0], want, limit)) << z;
    }
  });
}

TYPED_TEST(Density, has_a_log_cdf_that_stays_finite) {
  using T = TypeParam;
  constexpr T kInf = std::numeric_limits<T>::infinity();
  constexpr T kMax = std::numeric_limits<T>::max();
  test::for_each_target([&] {
    Guarded<T> x(std::vector<T>{-kInf, kInf, -kMax, kMax}), log_p(4);
    for (const double alpha : {1e-3, 1e-300}) {
      log_cdf_at<T>(x.data(), 4, 1, {0.5, 0}, alpha, log_p.data());
      EXPECT_EQ(log_p.copy(), (std::vector<T>{0, -kInf, 0, -kMax})) << alpha;
    }
  });
}

TYPED_TEST(Density, gives_zero_and_one_at_infinity_and_far_away) {
  using T = TypeParam;
  constexpr T kInf = std::numeric_limits<T>::infinity();
  constexpr T kMax = std::numeric_limits<T>::max();
  test::for_each_target([&] {
    for (const double alpha : {1e-3, 1.0, 1e3}) {
      Guarded<T> x(std::vector<T>{-kInf, kInf, -kMax, kMax, T(-9e5), T(9e5)}), p(6);
      cdf_at<T>(x.data(), 6, 1, {0.5, 0}, alpha, p.data());
      EXPECT_EQ(p.copy(), (std::vector<T>{1, 0, 1, 0, 1, 0})) << alpha;
    }
  });
}

TYPED_TEST(Density, has_the_sums_of_its_derivatives) {
  using T = TypeParam;
  this->for_each([&](const std::vector<T>& x, double sign, const Threshold& b, double alpha) {
    const std::vector<T> weights = this->weights(std::ssize(x));
    Real total = 0, g = 0, z = 0, gz = 0, size = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const Real at = this->z(x[i], sign, b, alpha);
      const Real e = std::exp(-std::abs(at));
      total += e;
      g += e * weights[i];
      z += e == 0 ? 0 : e * at;
      gz += e == 0 ? 0 : e * at * weights[i];
      size += e == 0 ? 0 : e * (1 + std::abs(at)) * (1 + std::abs(Real(weights[i])));
    }
    const Real limit =
        1e-300L + allowed("sum_density", test::kDtype<T>, "value", {{"sum|terms|", size}});
    test::for_each_target([&] {
      Guarded<T> from(x), with(weights);
      const DensitySums all =
          sum_density<T>(from.data(), with.data(), from.size(), sign, b, alpha, true);
      const DensitySums some =
          sum_density<T>(from.data(), with.data(), from.size(), sign, b, alpha, false);
      EXPECT_TRUE(within(all.total, total, limit));
      EXPECT_TRUE(within(all.g, g, limit));
      EXPECT_TRUE(within(all.z, z, limit));
      EXPECT_TRUE(within(all.gz, gz, limit));
      EXPECT_EQ(some.total, all.total);
      EXPECT_EQ(some.g, all.g);
    });
  });
}

TYPED_TEST(Density, pulls_all_levels_at_once) {
  using T = TypeParam;
  this->for_each([&](const std::vector<T>& x, double sign, const Threshold& b, double alpha) {
    const std::vector<T> weights = this->weights(std::ssize(x));
    const Threshold other{b.anchor, b.offset - 2 * alpha};
    test::for_each_target([&] {
      Guarded<T> from(x), with(weights), out(from.size());
      const Pull<T> levels[] = {{b, 0.25, with.data()}, {other, -0.5, with.data()}};
      pull_density<T>(from.data(), from.size(), sign, levels, 0, alpha, 0.5, out.data());
      for (std::ptrdiff_t i = 0; i < out.size(); ++i) {
        Real want = 0;
        for (const Pull<T>& level : levels) {
          const Real e = std::exp(-std::abs(this->z(from[i], sign, level.b, alpha)));
          want += 0.5L * e * (level.mean - Real(with[i]));
        }
        const Real size = 1 + std::abs(Real(with[i]));
        ASSERT_TRUE(within(out[i], want,
                           allowed("pull_density", test::kDtype<T>, "value", {{"max|g|", size}})))
            << i;
      }
    });
  });
}

TYPED_TEST(Density, weighs_and_pulls_one_level) {
  using T = TypeParam;
  this->for_each([&](const std::vector<T>& x, double sign, const Threshold& b, double alpha) {
    const std::vector<T> weights = this->weights(std::ssize(x));
    Real total = 0, g = 0, size = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const Real e = std::exp(-std::abs(this->z(x[i], sign, b, alpha)));
      total += e;
      g += e * weights[i];
      size += e * (1 + std::abs(Real(weights[i])));
    }
    const Real limit = 1e-300L + allowed("weigh", test::kDtype<T>, "value", {{"sum|terms|", size}});
    test::for_each_target([&] {
      Guarded<T> from(x), with(weights), out(from.size());
      const DensitySums sums =
          weigh<T>(from.data(), with.data(), from.size(), sign, b, alpha, out.data());
      EXPECT_TRUE(within(sums.total, total, limit));
      EXPECT_TRUE(within(sums.g, g, limit));
      const DensitySums alone =
          weigh<T>(from.data(), with.data(), from.size(), sign, b, alpha, nullptr);
      EXPECT_EQ(alone.total, sums.total);
      EXPECT_EQ(alone.g, sums.g);
      for (std::ptrdiff_t i = 0; i < out.size(); ++i) {
        const Real want = std::exp(-std::abs(this->z(from[i], sign, b, alpha)));
        const Real off = allowed("weigh", test::kDtype<T>, "value", {{"sum|terms|", want}});
        ASSERT_TRUE(within(out[i], want, 1e-36L + off)) << i;
      }
      pull_weighed<T>(out.data(), with.data(), from.size(), 0.25, 0.5, out.data());
      for (std::ptrdiff_t i = 0; i < out.size(); ++i) {
        const Real e = std::exp(-std::abs(this->z(from[i], sign, b, alpha)));
        const Real want = 0.5L * e * (0.25L - Real(with[i]));
        const Real most = 1 + std::abs(Real(with[i]));
        ASSERT_TRUE(within(out[i], want,
                           allowed("pull_density", test::kDtype<T>, "value", {{"max|g|", most}})))
            << i;
      }
    });
  });
}

// Sums so small that floats cannot hold their terms.
TYPED_TEST(Density, weighs_what_is_faint) {
  using T = TypeParam;
  const std::vector<T> x{T(0), T(1), T(2)}, weights{T(1), T(2), T(3)};
  for (const double z : {30.0, 60.0, 87.0, 89.0, 150.0, 600.0}) {
    Real total = 0, g = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const Real e = std::exp(-std::abs(this->z(x[i], 1, {0, -z}, 1)));
      total += e;
      g += e * weights[i];
    }
    test::for_each_target([&] {
      const DensitySums sums = weigh<T>(x.data(), weights.data(), 3, 1, {0, -z}, 1, nullptr);
      const auto limit = [&](Real size) {
        return allowed("weigh", test::kDtype<T>, "value", {{"sum|terms|", size}});
      };
      EXPECT_TRUE(within(sums.total, total, limit(total))) << z;
      EXPECT_TRUE(within(sums.g, g, limit(g))) << z;
    });
  }
}

}  // namespace
}  // namespace lapsum::cpu
