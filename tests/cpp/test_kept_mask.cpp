// Masks by way of kept decays against their definition, and against the way that other rows go: the
// threshold first, then the mask. Rows are chosen to be hard on a sample.
#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <string>

#include "bits.h"
#include "cpu/primitives/density.h"
#include "cpu/primitives/kept_mask.h"
#include "cpu/primitives/threshold.h"
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

const test::Family kHard[] = {
    {"after a ReLU",
     [](Draw& draw, auto, auto) { return draw.uniform() < 0.99 ? 0 : std::abs(draw.normal()); }},
    {"three in four equal",
     [](Draw& draw, auto, auto) { return draw.uniform() < 0.75 ? -1.3 : draw.normal(); }},
    {"plateau",
     [](Draw& draw, auto i, auto n) { return (i % 2 ? 50.0 : 0.0) + draw.normal() / n; }},
    {"one far value in seven",
     [](Draw& draw, auto i, auto) { return i % 7 ? draw.normal() : 30 + draw.normal(); }},
    {"sorted normals",
     [](Draw& draw, auto i, auto n) {
       return std::tan(3.1 * ((double(i) + 0.5 * draw.uniform()) / double(n) - 0.5));
     }},
};

template <class T>
struct Masked {
  std::optional<Threshold> b;
  std::vector<T> p;
};

template <class T>
Masked<T> keeping(const std::vector<T>& row, double sign, double k, double alpha, int threads = 1) {
  Guarded<T> x(row);
  Guarded<T> p(x.size());
  Arena arena;
  const auto b = mask_keeping_decays(x.data(), x.size(), sign, k, alpha, p.data(), arena, threads);
  EXPECT_TRUE(test::same_bits(x.copy(), row)) << "the row changed";
  return {b, p.copy()};
}

template <class T>
Masked<T> in_turn(const std::vector<T>& row, double sign, double k, double alpha) {
  Masked<T> out{Threshold{}, std::vector<T>(row.size())};
  Arena arena;
  solve_thresholds(row.data(), std::ssize(row), sign, {&k, 1}, alpha, {&*out.b, 1}, arena, 1);
  cdf_at(row.data(), std::ssize(row), sign, *out.b, alpha, out.p.data());
  return out;
}

// Both ways; returns whether decays were kept.
template <class T>
bool expect_masks(const std::vector<T>& row, double sign, double k, double alpha) {
  std::vector<Real> r;
  for (const T v : row) r.push_back(sign * Real(v));
  const reference::Root<Real> b = reference::root<Real>(r, k, alpha);
  bool kept = false;
  test::for_each_target([&] {
    const auto expect = [&](const Masked<T>& got) {
      Real sum = 0;
      for (std::size_t i = 0; i < row.size(); ++i) {
        sum += got.p[i];
        ASSERT_TRUE(within(got.p[i], reference::cdf(b.from(r[i], alpha)),
                           allowed("soft_topk", test::kDtype<T>, "value")))
            << "at " << i;
      }
      EXPECT_TRUE(within(sum, k, allowed("soft_topk", test::kDtype<T>, "sum", {{"k", k}})));
    };
    const Masked<T> got = keeping(row, sign, k, alpha);
    if (got.b) {
      SCOPED_TRACE("decays are kept");
      kept = true;
      expect(got);
    }
    expect(in_turn(row, sign, k, alpha));
  });
  return kept;
}

template <class T>
class KeptMask : public testing::Test {};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(KeptMask, Types);

template <class T, class Families>
void expect_families(const Families& families, std::ptrdiff_t n, std::map<std::string, int>& kept) {
  for (const test::Family& family : families) {
    const std::vector<T> row = family.row<T>(n);
    const auto size = static_cast<double>(n);
    for (const double alpha : {1e-4, 1e-2, 0.1, 1.0, 1e2}) {
      for (const double k :
           {0.25, 5.0, size / 100, std::floor(size / 2), size / 2 + 0.3, size - 3}) {
        SCOPED_TRACE(testing::Message()
                     << family.name << ", n = " << n << ", alpha = " << alpha << ", k = " << k);
        kept[family.name] += expect_masks(row, alpha < 0.05 ? 1 : -1, k, alpha);
      }
    }
  }
}

TYPED_TEST(KeptMask, is_the_mask_on_every_family) {
  std::map<std::string, int> kept;
  for (const std::ptrdiff_t n : {1031, 5003}) {
    expect_families<TypeParam>(test::kFamilies, n, kept);
    expect_families<TypeParam>(kHard, n, kept);
  }
  // Not all rows go this way, but it is no use testing it on rows that do not.
  EXPECT_GT(kept["normal"], 40);
  for (const char* name : {"ties", "clusters", "sorted", "after a ReLU", "three in four equal"}) {
    EXPECT_GT(kept[name], 0) << name;
  }
}

TYPED_TEST(KeptMask, is_the_mask_of_rows_of_many_chunks) {
  for (const char* name : {"normal", "clusters", "outlier"}) {
    const std::vector<TypeParam> row = test::family(name).row<TypeParam>(70003);
    for (const double alpha : {1e-4, 0.1}) {
      SCOPED_TRACE(testing::Message() << name << ", alpha = " << alpha);
      expect_masks(row, -1, 20000.3, alpha);
    }
  }
}

TYPED_TEST(KeptMask, is_the_mask_where_alpha_is_wide_against_the_row) {
  Draw draw(5);
  for (int i = 0; i < 60; ++i) {
    const std::vector<double> wide = draw.normals(1400);
    const std::vector<TypeParam> row(wide.begin(), wide.end());
    EXPECT_TRUE(expect_masks(row, 1, 713, 150 + 12.5 * i)) << i;
  }
}

// Roundings of equal decays move the threshold, and with it the sum, which needs no definition.
TYPED_TEST(KeptMask, sums_to_its_level_if_many_elements_are_equal) {
  using T = TypeParam;
  Draw draw(6);
  for (int i = 0; i < 4000; ++i) {
    const double share = 0.2 + 0.6 * draw.uniform(), tie = -2.7 + 0.5 * draw.uniform();
    const double alpha = 0.02 + 0.05 * draw.uniform();
    std::vector<T> row(1500);
    if (i % 4 == 0) {  // again and again the same few
      const std::size_t period = 3 + static_cast<std::size_t>(i / 4) % 4;
      for (T& v : row) v = T(draw.normal());
      for (std::size_t j = period; j < row.size(); ++j) row[j] = row[j - period];
    } else {
      for (T& v : row) v = T(draw.uniform() < share ? tie : draw.normal());
    }
    const double k = 1500 * (0.02 + 0.03 * draw.uniform());
    const Masked<T> got = keeping(row, 1, k, alpha);
    if (!got.b) continue;
    Real sum = 0;
    for (const T p : got.p) sum += p;
    EXPECT_TRUE(within(sum, k, allowed("soft_topk", test::kDtype<T>, "sum", {{"k", k}})))
        << "share " << share << ", tie " << tie << ", alpha " << alpha << ", k " << k;
  }
}

// A sample, which each instruction set draws in its own way, may aim beside a root: not often.
TYPED_TEST(KeptMask, has_the_same_bits_for_any_number_of_threads) {
  const std::vector<TypeParam> row = test::family("normal").row<TypeParam>(100003);
  int found = 0, tried = 0;
  for (const double alpha : {1e-4, 0.1}) {
    for (const double k : {5.0, 777.0, 10000.3, 50001.5}) {
      SCOPED_TRACE(testing::Message() << "alpha = " << alpha << ", k = " << k);
      const auto one = keeping(row, -1, k, alpha, 1);
      ++tried;
      found += one.b.has_value();
      for (const int threads : {2, 3}) {
        const auto more = keeping(row, -1, k, alpha, threads);
        ASSERT_EQ(one.b.has_value(), more.b.has_value());
        if (!one.b) continue;
        EXPECT_TRUE(test::same_bits(one.p, more.p));
        EXPECT_EQ(one.b->anchor, more.b->anchor);
        EXPECT_EQ(one.b->offset, more.b->offset);
      }
    }
  }
  EXPECT_GE(found, tried / 2);
}

TYPED_TEST(KeptMask, is_left_to_others_where_no_finite_threshold_is) {
  using Limits = std::numeric_limits<TypeParam>;
  std::vector<TypeParam> row(2000);
  for (std::size_t i = 0; i < row.size(); ++i) row[i] = std::sin(TypeParam(i));
  for (const double k : {-1.0, 0.0, 2000.0, 2001.0, std::nan("")}) {
    EXPECT_FALSE(keeping(row, 1, k, 0.1).b) << k;
  }
  row[1234] = Limits::quiet_NaN();
  for (const double alpha : {1e-4, 0.1, 100.0}) EXPECT_FALSE(keeping(row, 1, 700.3, alpha).b);
  std::fill(row.begin(), row.begin() + 1000, -Limits::infinity());
  row[1234] = 0;
  for (const double alpha : {1e-4, 0.1}) EXPECT_FALSE(keeping(row, 1, 700.3, alpha).b);
}

}  // namespace
}  // namespace lapsum::cpu
