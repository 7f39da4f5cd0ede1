// Masks by way of kept decays.
#include <gtest/gtest.h>

#include "cpu/primitives/kept_mask.h"
#include "masks.h"

namespace lapsum::cpu {
namespace {

using test::Draw;
using test::expect_masks;
using test::Guarded;
using test::Masked;

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
Masked<T> kept_way(const std::vector<T>& row, double sign, double k, double alpha) {
  return keeping(row, sign, k, alpha);
}

template <class T>
class KeptMask : public testing::Test {};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(KeptMask, Types);

TYPED_TEST(KeptMask, is_the_mask_on_every_family) {
  std::map<std::string, int> kept;
  for (const std::ptrdiff_t n : {1031, 5003}) {
    test::expect_families<TypeParam>(kept_way<TypeParam>, test::kFamilies, n, kept);
    test::expect_families<TypeParam>(kept_way<TypeParam>, test::kHard, n, kept);
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
      expect_masks<TypeParam>(kept_way<TypeParam>, row, -1, 20000.3, alpha);
    }
  }
}

TYPED_TEST(KeptMask, is_the_mask_where_alpha_is_wide_against_the_row) {
  Draw draw(5);
  for (int i = 0; i < 60; ++i) {
    const std::vector<double> wide = draw.normals(1400);
    const std::vector<TypeParam> row(wide.begin(), wide.end());
    EXPECT_TRUE(expect_masks<TypeParam>(kept_way<TypeParam>, row, 1, 713, 150 + 12.5 * i)) << i;
  }
}

TYPED_TEST(KeptMask, sums_to_its_level_if_many_elements_are_equal) {
  test::expect_sums_of_ties<TypeParam>(kept_way<TypeParam>);
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
