// Kept decays, and the masks that are made of them, against their definitions.
#include <gtest/gtest.h>

#include "cpu/primitives/kept_decays.h"
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

struct Expected {
  std::ptrdiff_t left = 0;
  std::vector<std::ptrdiff_t> inside;
  Real left_sum = 0, right_sum = 0;
};

template <class T>
Expected part(const std::vector<T>& x, double sign, const Outlook& from) {
  Expected out;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const Real r = sign * x[i];
    const Real e = std::exp(-std::abs(r - from.center) / from.alpha);
    if (r <= from.lo) {
      ++out.left;
      out.left_sum += e;
    } else if (r >= from.hi) {
      out.right_sum += e;
    } else {
      out.inside.push_back(static_cast<std::ptrdiff_t>(i));
    }
  }
  return out;
}

template <class T>
void expect_places(Guarded<T>& got, const KeptDecays& counts, const Expected& want) {
  EXPECT_EQ(counts.left, want.left);
  ASSERT_EQ(counts.inside, std::ssize(want.inside));
  for (std::ptrdiff_t i = 0; i < counts.inside; ++i) {
    ASSERT_EQ(got[i], want.inside[static_cast<std::size_t>(i)]);
  }
}

template <class T>
void expect_decays(const std::vector<T>& row, double sign, const Outlook& from) {
  if (!(from.lo < from.hi)) return;  // alpha is nothing against the row
  const Expected want = part(row, sign, from);
  const auto limit = [](Real y) {
    // What is farther is not there.
    return allowed("keep_decays", test::kDtype<T>, "sum", {{"y", y}}) +
           1e5L * std::exp2(-Real(kFarDecay<T>));
  };
  test::for_each_target([&] {
    if (!can_keep_decays<T>(from)) return;
    Guarded<T> x(row);
    Guarded<T> decays(x.size());
    Guarded<Place<T>> inside(x.size() + kMostKeptLanes);
    const KeptDecays got =
        keep_decays(x.data(), x.size(), sign, from, decays.data(), inside.data(), x.size());
    expect_places(inside, got, want);
    EXPECT_TRUE(within(got.left_sum, want.left_sum, limit(want.left_sum)));
    EXPECT_TRUE(within(got.right_sum, want.right_sum, limit(want.right_sum)));
    const double lo = std::max(from.lo, from.center - 8 * from.alpha);
    const double hi = std::min(from.hi, from.center + 8 * from.alpha);
    for (const double b : {lo, from.center, hi}) {
      Guarded<T> p(decays.copy());
      mask_from_decays(p.data(), p.size(), from, (b - from.center) / from.alpha, p.data());
      for (std::ptrdiff_t i = 0; i < x.size(); ++i) {
        const Real r = sign * row[static_cast<std::size_t>(i)];
        if (r > from.lo && r < from.hi) continue;
        const Real z = (b - r) / from.alpha;
        ASSERT_TRUE(
            within(p[i], reference::cdf(z),
                   allowed("mask_from_decays", test::kDtype<T>, "value", {{"z", 1 + std::abs(z)}})))
            << "at " << i << ", z = " << z;
      }
    }
  });
}

template <class T>
class KeptDecaysOf : public testing::Test {};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(KeptDecaysOf, Types);

TYPED_TEST(KeptDecaysOf, are_those_of_every_family_at_every_length) {
  for (const std::ptrdiff_t n : test::kLengths) {
    if (n > 2000) continue;
    for (const test::Family& family : test::kFamilies) {
      SCOPED_TRACE(testing::Message() << family.name << ", n = " << n);
      const std::vector<TypeParam> x = family.row<TypeParam>(n);
      const double sign = n % 2 ? 1 : -1;
      const double near = x.empty() ? 0 : sign * x[x.size() / 2];
      for (const double alpha : {0.1, 1.0, 300.0}) {
        SCOPED_TRACE(alpha);
        const auto far = [&](double alphas) { return double(TypeParam(near + alphas * alpha)); };
        expect_decays(x, sign, {far(-0.2), far(0.3), far(0.05), alpha});
        expect_decays(x, sign, {far(-9), far(6), far(-1), alpha});
        expect_decays(x, sign, {-kInf, far(2), far(1), alpha});
        expect_decays(x, sign, {far(-1), kInf, far(1), alpha});
      }
    }
  }
}

TYPED_TEST(KeptDecaysOf, of_equal_elements_do_not_drift) {
  for (const TypeParam where : {0.3, 1.7, 4.9, 8.01}) {
    for (const std::ptrdiff_t others : {0, 2, 3, 5}) {
      std::vector<TypeParam> x(16000, where);
      for (std::size_t i = 0; others > 0 && i < x.size(); i += others) x[i] = -where;
      expect_decays(x, 1, {-0.25, 0.25, 0.1, 1});
    }
  }
}

TYPED_TEST(KeptDecaysOf, pass_over_infinities_and_keep_nan_inside) {
  using T = TypeParam;
  const T inf = std::numeric_limits<T>::infinity();
  const std::vector<T> row = {inf, 1, -inf, std::numeric_limits<T>::quiet_NaN(), 0, -1, inf};
  test::for_each_target([&] {
    for (const double end : {0.5, kInf}) {
      const Outlook from{-end, end, 0, 1};
      for (const bool keeps : {false, true}) {
        if (keeps && !can_keep_decays<T>(from)) continue;
        Guarded<T> x(row);
        Guarded<T> out(x.size());
        Guarded<Place<T>> inside(x.size() + kMostKeptLanes);
        const auto pass = keeps ? keep_decays<T> : mask_sides<T>;
        const KeptDecays got =
            pass(x.data(), x.size(), 1, from, out.data(), inside.data(), x.size());
        EXPECT_EQ(got.left, end == 0.5 ? 2 : 1);
        EXPECT_EQ(got.inside, end == 0.5 ? 2 : 4);
        EXPECT_EQ(inside[0], end == 0.5 ? 3 : 1);
        EXPECT_TRUE(within(got.left_sum, keeps && end == 0.5 ? std::exp(-1.0L) : 0, 1e-7L));
        if (keeps) mask_from_decays(out.data(), x.size(), from, 0, out.data());
        EXPECT_EQ(out[0], 0);
        EXPECT_EQ(out[2], 1);
        EXPECT_EQ(out[6], 0);
      }
    }
  });
}

TEST(KeptDecays, tell_how_many_are_equal) {
  const Outlook from{-0.25, 0.25, 0.1, 1};
  const auto share = [&](auto element, double moved) {
    std::vector<float> x(3001), decays(x.size());
    std::vector<std::int32_t> inside(x.size() + kMostKeptLanes);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = element(i);
    return keep_decays(x.data(), std::ssize(x), 1, from, decays.data(), inside.data(),
                       std::ssize(x))
        .share_of_equals(std::exp(moved));
  };
  test::for_each_target([&] {
    if (!can_keep_decays<float>(from)) return;
    EXPECT_EQ(share([](auto i) { return float(i % 2 ? 1 : -1) * (1 + 1e-3f * float(i)); }, 0), 0);
    EXPECT_EQ(share([](auto) { return 0.5f; }, 0), 1);
    // What is inside, or far, does not count.
    EXPECT_EQ(share([](auto i) { return i % 3 ? 0 : 1 + 1e-3f * float(i); }, 0), 0);
    EXPECT_EQ(share([](auto i) { return i % 3 ? 100 : 1 + 1e-3f * float(i); }, 0), 0);
    // From the side of the equal ones they weigh more.
    const auto on_right = [](auto i) { return i < 1510 ? -2 - 1e-4f * float(i) : 2.0f; };
    EXPECT_NEAR(share(on_right, 0), 0.5, 0.1);
    EXPECT_GT(share(on_right, 9), 0.999);
    EXPECT_LT(share(on_right, -9), 0.001);
    // A period does not hide them.
    for (const int period : {3, 5, 7, 11}) {
      EXPECT_GT(share([&](auto i) { return 1 + 0.1f * float(i % period); }, 0), 0.5 / period);
    }
  });
}

TYPED_TEST(KeptDecaysOf, places_beyond_the_room_for_them_are_counted) {
  const std::vector<TypeParam> row(100, TypeParam(0.5));
  test::for_each_target([&] {
    const Outlook from{0, 1, 0.5, 1};
    Guarded<TypeParam> x(row);
    Guarded<TypeParam> p(x.size());
    Guarded<Place<TypeParam>> inside(7 + kMostKeptLanes);
    const KeptDecays got = mask_sides(x.data(), x.size(), 1, from, p.data(), inside.data(), 7);
    EXPECT_EQ(got.inside, 100);
    for (std::int32_t i = 0; i < 7; ++i) EXPECT_EQ(inside[i], i);
  });
}

TYPED_TEST(KeptDecaysOf, sides_are_chosen_or_not) {
  for (const std::ptrdiff_t n : test::kLengths) {
    if (n > 2000) continue;
    const std::vector<TypeParam> row = test::family("normal").row<TypeParam>(n);
    for (const double sign : {-1.0, 1.0}) {
      const Outlook from{-0.5, 0.125, 0, 1e-5};
      const Expected want = part(row, sign, from);
      test::for_each_target([&] {
        Guarded<TypeParam> x(row);
        Guarded<TypeParam> p(x.size());
        Guarded<Place<TypeParam>> inside(x.size() + kMostKeptLanes);
        const KeptDecays got =
            mask_sides(x.data(), x.size(), sign, from, p.data(), inside.data(), x.size());
        expect_places(inside, got, want);
        for (std::ptrdiff_t i = 0; i < n; ++i) {
          const double r = sign * row[static_cast<std::size_t>(i)];
          if (r > from.lo && r < from.hi) continue;
          EXPECT_EQ(p[i], r <= from.lo ? 1 : 0);
        }
      });
    }
  }
}

}  // namespace
}  // namespace lapsum::cpu
