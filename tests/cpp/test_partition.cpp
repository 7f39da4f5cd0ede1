// Parts hold all keys once, none below the part before; on every instruction set.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "cpu/primitives/partition.h"
#include "families.h"
#include "guarded.h"
#include "targets.h"

namespace lapsum::cpu {
namespace {

template <class Key>
class Partition : public testing::Test {
 public:
  // Random keys, few different ones, all equal, sorted, and those at both ends of their range.
  static std::vector<Key> keys(int kind, std::ptrdiff_t n, std::mt19937_64& random) {
    std::vector<Key> keys(static_cast<std::size_t>(n));
    for (Key& key : keys) {
      const auto any = static_cast<Key>(random());
      key = kind == 0 || kind == 3 ? any : kind == 1 ? any % 3 : kind == 2 ? 7 : any % 2 - 1;
    }
    if (kind == 3) std::sort(keys.begin(), keys.end());
    return keys;
  }
};
using Types = testing::Types<std::uint32_t, std::uint64_t>;
TYPED_TEST_SUITE(Partition, Types);

TYPED_TEST(Partition, has_all_keys_in_ascending_parts) {
  using Key = TypeParam;
  std::mt19937_64 random(3);
  Arena arena;
  for (const std::ptrdiff_t n : {0, 1, 5, 100, 1025, 16383, 16385, 50003}) {
    for (int kind = 0; kind < 5; ++kind) {
      const std::vector<Key> keys = this->keys(kind, n, random);
      std::vector<Key> want = keys;
      std::sort(want.begin(), want.end());
      for (const int parts : {1, 2, 3, 8}) {
        test::for_each_target([&] {
          const Arena::Scope scope(arena);
          test::Guarded<Key> to(static_cast<std::size_t>(n));
          const auto begins = part_by_value<Key>(keys, parts, to.data(), arena, 2);
          ASSERT_EQ(std::ssize(begins), parts + 1);
          EXPECT_EQ(begins.front(), 0);
          EXPECT_EQ(begins.back(), n);
          for (int p = 0; p < parts; ++p) {
            ASSERT_LE(begins[p], begins[p + 1]);
            std::sort(to.data() + begins[p], to.data() + begins[p + 1]);
          }
          EXPECT_TRUE(std::equal(want.begin(), want.end(), to.data()))
              << n << " keys of kind " << kind << ", " << parts << " parts";
        });
      }
    }
  }
}

TYPED_TEST(Partition, cuts_into_parts_of_about_the_same_length) {
  using Key = TypeParam;
  std::mt19937_64 random(5);
  Arena arena;
  const std::ptrdiff_t n = 100003;
  std::vector<Key> with_period(static_cast<std::size_t>(n));
  for (std::size_t i = 0; i < with_period.size(); ++i) {
    with_period[i] = static_cast<Key>(i % 390 * 1000 + i / 390);
  }
  for (const std::vector<Key>& keys : {this->keys(0, n, random), with_period}) {
    std::vector<Key> to(keys.size());
    for (const int parts : {2, 3, 8}) {
      const auto begins = part_by_value<Key>(keys, parts, to.data(), arena, 2);
      for (int p = 0; p < parts; ++p) {
        const double share = static_cast<double>(begins[p + 1] - begins[p]) * parts / n;
        EXPECT_NEAR(share, 1, 0.5) << p << " of " << parts;  // five deviations
      }
    }
  }
}

template <class T>
class TakeBetween : public testing::Test {};
using Elements = testing::Types<float, double>;
TYPED_TEST_SUITE(TakeBetween, Elements);

TYPED_TEST(TakeBetween, takes_elements_in_their_order) {
  using T = TypeParam;
  constexpr T kInf = std::numeric_limits<T>::infinity();
  test::for_each_target([&] {
    for (const std::ptrdiff_t n : {0, 1, 3, 7, 8, 9, 16, 17, 1000}) {
      std::vector<T> x;
      for (const double v : test::Draw(static_cast<unsigned>(n)).normals(n)) {
        x.push_back(static_cast<T>(std::round(4 * v) / 4));
      }
      test::Guarded<T> row(x);
      for (const T sign : {T(-1), T(1)}) {
        for (const auto& [low, high] : {std::pair{-kInf, kInf}, std::pair{T(-0.5), T(0.25)},
                                        std::pair{-kInf, T(0)}, std::pair{T(0.5), kInf}}) {
          test::Guarded<T> values(n + kTakenRoom);
          test::Guarded<std::uint32_t> names(n + kTakenRoom);
          const Taken got =
              take_between(row.data(), n, sign, low, high, values.data(), names.data());
          Taken want{0, 0};
          for (std::size_t i = 0; i < x.size(); ++i) {
            want.below += sign * x[i] < low;
            if (!(sign * x[i] >= low && sign * x[i] < high)) continue;
            ASSERT_EQ(values[want.count], x[i]);
            ASSERT_EQ(names[want.count], i);
            ++want.count;
          }
          EXPECT_EQ(got.below, want.below);
          EXPECT_EQ(got.count, want.count);
        }
      }
    }
  });
}

}  // namespace
}  // namespace lapsum::cpu
