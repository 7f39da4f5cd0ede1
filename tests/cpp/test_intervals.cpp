// Roots in vectors against one interval at a time.
#include <gtest/gtest.h>

#include "bits.h"
#include "cpu/primitives/intervals.h"
#include "cpu/primitives/points.h"
#include "families.h"
#include "guarded.h"
#include "math/interval.h"
#include "targets.h"
#include "tolerances.h"

namespace lapsum::cpu {
namespace {

using test::allowed;
using test::Guarded;
using test::within;

constexpr double kInf = std::numeric_limits<double>::infinity();

TEST(Intervals, are_solved_as_one_by_one) {
  test::for_each_target([] {
    for (const test::Family& family : test::kFamilies) {
      for (const std::ptrdiff_t n : {1, 2, 7, 64, 97}) {
        for (const double alpha : {1e-3, 1.0, 1e3}) {
          SCOPED_TRACE(testing::Message() << family.name << ", n = " << n << ", alpha = " << alpha);
          std::vector<double> r = family.row(n);
          std::sort(r.begin(), r.end());
          Arena arena;
          const Decays decays = make_decays(r, alpha, arena, 1);
          const Scans<0> ones = scan_both<0>(decays, {}, arena, 1);
          const std::span<const double> before = ones.right[0];
          const std::span<const double> behind = ones.left[0];
          const SummedRow row{
              r.data(), decays_to_next(decays, arena, 1).data(), before.data(), behind.data(), n,
              alpha};
          // Every interval, from just inside its left end to just inside its right one.
          Guarded<double> k(5 * (n + 1));
          Guarded<std::uint32_t> lefts(5 * (n + 1));
          std::ptrdiff_t count = 0;
          for (std::ptrdiff_t c = 0; c <= n; ++c) {
            for (const double excess : {-0.4, -1e-9, 1e-90, 0.3, 0.49}) {
              if ((c == 0 && excess < 0) || (c == n && excess > 0)) continue;
              k[count] = static_cast<double>(c) + excess;
              lefts[count++] = static_cast<std::uint32_t>(c);
            }
          }
          Guarded<double> anchor(count), offset(count), left(count), right(count), total(count);
          const LevelsAt levels{k.data(), lefts.data(), count};
          solve_both(row, levels, {anchor.data(), offset.data()},
                     {left.data(), right.data(), total.data()});
          Guarded<double> alone[5] = {Guarded<double>(count), Guarded<double>(count),
                                      Guarded<double>(count), Guarded<double>(count),
                                      Guarded<double>(count)};
          solve_roots<double>(row, levels, {alone[0].data(), alone[1].data()});
          solve_weights<double>(row, levels, {alone[2].data(), alone[3].data(), alone[4].data()});
          EXPECT_TRUE(test::same_bits(alone[0].copy(), anchor.copy()));
          EXPECT_TRUE(test::same_bits(alone[1].copy(), offset.copy()));
          EXPECT_TRUE(test::same_bits(alone[2].copy(), left.copy()));
          EXPECT_TRUE(test::same_bits(alone[3].copy(), right.copy()));
          EXPECT_TRUE(test::same_bits(alone[4].copy(), total.copy()));
          Guarded<double> rough[5] = {Guarded<double>(count), Guarded<double>(count),
                                      Guarded<double>(count), Guarded<double>(count),
                                      Guarded<double>(count)};
          solve_roots<float>(row, levels, {rough[0].data(), rough[1].data()});
          solve_weights<float>(row, levels, {rough[2].data(), rough[3].data(), rough[4].data()});
          EXPECT_TRUE(test::same_bits(rough[0].copy(), anchor.copy()));
          for (std::ptrdiff_t t = 0; t < count; ++t) {
            const std::ptrdiff_t c = lefts[t];
            const double excess = k[t] - static_cast<double>(c);
            const bool sees_both = c > 0 && c < n && row.keep[c - 1] >= kLeastExcess;
            if (std::abs(excess) < kLeastExcess && !sees_both) continue;
            const math::Interval at{c > 0 ? r[c - 1] : -kInf, c > 0 ? before[c - 1] : 0,
                                    c < n ? r[c] : kInf, c < n ? behind[c] : 0};
            const math::Root want = math::solve_interval(at, excess, alpha);
            const double gap = c > 0 && c < n ? (r[c] - r[c - 1]) / alpha : 0;
            const double z = 1 + gap + std::abs(want.b.offset) / alpha;
            EXPECT_EQ(anchor[t], want.b.anchor);
            EXPECT_TRUE(within(offset[t], want.b.offset,
                               2 * alpha * allowed("interval", "float64", "z", {{"z", z}})));
            EXPECT_TRUE(within(rough[1][t], want.b.offset,
                               alpha * allowed("interval", "float32", "z", {{"z", z}})));
            const auto near = [&](const char* type, double got, double expected) {
              return within(
                  got, expected,
                  2 * allowed("interval", type, "weight", {{"z", z}, {"y", expected}}) + 1e-290);
            };
            EXPECT_TRUE(near("float64", left[t], want.left_weight)) << "level " << k[t];
            EXPECT_TRUE(near("float64", right[t], want.right_weight)) << "level " << k[t];
            EXPECT_TRUE(near("float64", total[t], want.total)) << "level " << k[t];
            EXPECT_TRUE(near("float32", rough[2][t], want.left_weight)) << "level " << k[t];
            EXPECT_TRUE(near("float32", rough[3][t], want.right_weight)) << "level " << k[t];
            EXPECT_TRUE(near("float32", rough[4][t], want.total)) << "level " << k[t];
          }
        }
      }
    }
  });
}

TEST(Intervals, keep_greatest_runs_up_to_every_number) {
  test::for_each_target([] {
    for (const std::ptrdiff_t n : test::kLengths) {
      test::Draw draw(static_cast<unsigned>(n));
      Guarded<std::uint32_t> numbers(n);
      for (std::ptrdiff_t i = 0; i < n; ++i) {
        numbers[i] = draw.uniform() < 0.7 ? 0 : static_cast<std::uint32_t>(draw.below(4 * n));
      }
      const std::vector<std::uint32_t> given = numbers.copy();
      keep_greatest(numbers.data(), n);
      std::uint32_t most = 0;
      for (std::ptrdiff_t i = 0; i < n; ++i) {
        most = std::max(most, given[static_cast<std::size_t>(i)]);
        ASSERT_EQ(numbers[i], most) << i << " of " << n;
      }
    }
  });
}

// Levels in order may be looked up in two vectors, and the ends of a row have values on one side alone:
// the same bits.
TEST(Intervals, do_not_depend_on_the_order_of_levels) {
  test::for_each_target([] {
    for (const std::ptrdiff_t n : {5, 16, 33, 300}) {
      SCOPED_TRACE(testing::Message() << "n = " << n);
      test::Draw draw(n);
      std::vector<double> r = draw.normals(n);
      std::sort(r.begin(), r.end());
      Arena arena;
      const Decays decays = make_decays(r, 0.1, arena, 1);
      const Scans<0> ones = scan_both<0>(decays, {}, arena, 1);
      const SummedRow row{r.data(),
                          decays_to_next(decays, arena, 1).data(),
                          ones.right[0].data(),
                          ones.left[0].data(),
                          n,
                          0.1};
      const auto count = static_cast<std::size_t>(n);
      const auto solve = [&](auto&& place_of) {
        std::vector<double> k(count), anchor(count), offset(count), left(count), right(count),
            total(count);
        std::vector<std::uint32_t> lefts(count);
        for (std::size_t t = 0; t < count; ++t) {
          lefts[place_of(t)] = static_cast<std::uint32_t>(t);
          k[place_of(t)] = static_cast<double>(t) + 0.5;
        }
        const LevelsAt levels{k.data(), lefts.data(), n};
        solve_both(row, levels, {anchor.data(), offset.data()},
                   {left.data(), right.data(), total.data()});
        std::vector<double> all;
        for (std::size_t t = 0; t < count; ++t) {
          for (const auto& part : {anchor, offset, left, right, total}) {
            all.push_back(part[place_of(t)]);
          }
        }
        return all;
      };
      const std::vector<double> in_order = solve([](std::size_t t) { return t; });
      const auto far_apart = [&](std::size_t t) { return t % 2 == 0 ? t / 2 : count - 1 - t / 2; };
      EXPECT_TRUE(test::same_bits(solve(far_apart), in_order));
    }
  });
}

}  // namespace
}  // namespace lapsum::cpu
