// Digits of values, and sorting by them: which rows it takes, and what it leaves of those it does not.
#include <gtest/gtest.h>

#include <numeric>

#include "cpu/primitives/radix_sort.h"
#include "families.h"
#include "guarded.h"
#include "targets.h"

namespace lapsum::cpu {
namespace {

using test::Draw;
using test::Guarded;

template <class T>
std::vector<T> normals(std::ptrdiff_t n) {
  Draw draw(static_cast<unsigned>(n) + 1);
  std::vector<T> x(static_cast<std::size_t>(n));
  for (T& v : x) v = static_cast<T>(draw.normal());
  return x;
}

template <class T>
class RadixSort : public testing::Test {};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(RadixSort, Types);

TYPED_TEST(RadixSort, digits_ascend_with_the_values) {
  test::for_each_target([] {
    for (const std::ptrdiff_t n : test::kLengths) {
      if (n < 2) continue;
      for (const bool negate : {false, true}) {
        for (const std::uint32_t most : {7u, 1023u, (1u << 22) - 1}) {
          std::vector<TypeParam> x = normals<TypeParam>(n);
          std::sort(x.begin(), x.end());
          if (negate) std::reverse(x.begin(), x.end());
          Guarded<TypeParam> row(x);
          const Extent<TypeParam> range = extent(row.data(), n);
          EXPECT_EQ(range.least, negate ? x.back() : x.front());
          EXPECT_EQ(range.greatest, negate ? x.front() : x.back());
          EXPECT_TRUE(range.finite);
          const Digits<TypeParam> digits(range, negate, most);
          ASSERT_TRUE(digits.exist());
          Guarded<std::uint32_t> to(n);
          digits.of(row.data(), n, to.data());
          EXPECT_EQ(to[0], 0u);
          EXPECT_GE(to[n - 1] + 1, most);
          for (std::ptrdiff_t i = 0; i < n; ++i) ASSERT_LE(to[i], most);
          for (std::ptrdiff_t i = 1; i < n; ++i) ASSERT_LE(to[i - 1], to[i]) << i;
        }
      }
    }
  });
}

TYPED_TEST(RadixSort, what_is_not_finite_is_seen_wherever_it_stands) {
  constexpr TypeParam kInf = std::numeric_limits<TypeParam>::infinity();
  constexpr TypeParam kNone = std::numeric_limits<TypeParam>::quiet_NaN();
  test::for_each_target([&] {
    for (const std::ptrdiff_t n : {1, 2, 7, 16, 33, 97}) {
      for (std::ptrdiff_t i = 0; i < n; ++i) {
        for (const TypeParam odd : {kInf, -kInf, kNone}) {
          std::vector<TypeParam> x = normals<TypeParam>(n);
          x[static_cast<std::size_t>(i)] = odd;
          EXPECT_FALSE(extent(x.data(), n).finite);
          EXPECT_FALSE((Digits<TypeParam>(extent(x.data(), n), false, 255).exist()));
        }
      }
    }
  });
}

// Sorts with names that count down by twos, in the place of the result.
template <class T>
bool sort_named(Guarded<T>& row, std::vector<double>& sorted, std::vector<Index>& order) {
  const std::ptrdiff_t n = row.size();
  Guarded<double> values(n);
  Guarded<Index> names(n);
  for (std::ptrdiff_t i = 0; i < n; ++i) names[i] = static_cast<Index>(2 * (n - i));
  Guarded<std::uint32_t> digits(n), packed(n);
  const bool done = radix_sort(row.data(), n, false, names.data(), values.data(), names.data(),
                               {digits.span(), packed.span()});
  sorted = values.copy();
  order = names.copy();
  return done;
}

TYPED_TEST(RadixSort, takes_rows_that_spread) {
  for (const std::ptrdiff_t n : {2, 3, 64, 65, 513, 1000, 16385, 65537, 131072}) {
    SCOPED_TRACE(n);
    const std::vector<TypeParam> x = normals<TypeParam>(n);
    Guarded<TypeParam> row(x);
    std::vector<double> sorted;
    std::vector<Index> order;
    ASSERT_TRUE(sort_named(row, sorted, order));
    std::vector<Index> want(x.size());
    std::iota(want.begin(), want.end(), Index{0});
    std::stable_sort(want.begin(), want.end(), [&](Index a, Index b) { return x[a] < x[b]; });
    for (std::size_t i = 0; i < x.size(); ++i) {
      ASSERT_EQ(sorted[i], static_cast<double>(x[want[i]])) << i;
      ASSERT_EQ(order[i], 2 * (static_cast<Index>(n) - want[i])) << i;
    }
  }
}

TYPED_TEST(RadixSort, leaves_the_names_of_rows_that_crowd) {
  for (const std::ptrdiff_t n : {300, 1000, 30000}) {
    SCOPED_TRACE(n);
    std::vector<TypeParam> x = normals<TypeParam>(n);
    x[0] = TypeParam(1e30);
    Guarded<TypeParam> row(x);
    std::vector<double> sorted;
    std::vector<Index> order;
    ASSERT_FALSE(sort_named(row, sorted, order));
    for (std::ptrdiff_t i = 0; i < n; ++i) {
      ASSERT_EQ(order[static_cast<std::size_t>(i)], static_cast<Index>(2 * (n - i)));
    }
  }
}

TYPED_TEST(RadixSort, buckets_hold_the_row_in_order) {
  for (const std::ptrdiff_t n : {32769, 100003, 1000003}) {
    for (const int threads : {1, 2, 3}) {
      SCOPED_TRACE(testing::Message() << "n = " << n << ", threads = " << threads);
      const std::vector<TypeParam> x = normals<TypeParam>(n);
      Guarded<Index> order(n);
      Arena arena;
      const auto buckets = cut_by_value(x.data(), n, true, order.data(), arena, threads);
      ASSERT_GT(buckets.count(), 2);
      ASSERT_EQ(buckets.begins.back(), n);
      TypeParam last = std::numeric_limits<TypeParam>::infinity();
      for (std::ptrdiff_t b = 0; b < buckets.count(); ++b) {
        TypeParam least = last;
        for (std::ptrdiff_t i = buckets.begins[b]; i < buckets.begins[b + 1]; ++i) {
          ASSERT_TRUE(i == buckets.begins[b] || order[i - 1] < order[i]);
          ASSERT_EQ(buckets.values[i], x[order[i]]);
          ASSERT_LE(buckets.values[i], last);
          least = std::min(least, buckets.values[i]);
        }
        last = least;
      }
    }
  }
}

TYPED_TEST(RadixSort, rows_that_crowd_are_not_cut) {
  std::vector<TypeParam> x = normals<TypeParam>(100003);
  x[7] = TypeParam(1e30);
  std::vector<Index> order(x.size());
  Arena arena;
  EXPECT_TRUE(cut_by_value(x.data(), 100003, false, order.data(), arena, 2).begins.empty());
}

}  // namespace
}  // namespace lapsum::cpu
