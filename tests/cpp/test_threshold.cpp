// Thresholds against bisection in long double, compared through z = (b - r) / alpha, where an error
// of b counts in units of alpha.
#include <gtest/gtest.h>

#include "bits.h"
#include "cpu/primitives/parallel.h"
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

constexpr double kInf = std::numeric_limits<double>::infinity();

std::vector<Threshold> solve(const std::vector<double>& row, const std::vector<double>& k,
                             double alpha, int threads = 1) {
  Guarded<double> r(row);
  Guarded<double> levels(k);
  Guarded<Threshold> b(std::ssize(k));
  Arena arena;
  solve_thresholds(r.data(), r.size(), 1.0, levels.span(), alpha, b.span(), arena, threads);
  EXPECT_TRUE(test::same_bits(r.copy(), row)) << "the row changed";
  return b.copy();
}

// Levels inside (0, n), in no order: both tails, whole numbers, fractions, and one twice.
std::vector<double> levels(std::ptrdiff_t n) {
  const auto size = static_cast<double>(n);
  std::vector<double> k;
  for (const double level : {std::floor(size / 2), size - 0.25, 1e-3, 1.0, size / 2 + 0.3, size - 1,
                             0.25, size / 3, 0.25}) {
    if (level > 0 && level < size) k.push_back(level);
  }
  return k;
}

void expect_roots(const std::vector<double>& row, const std::vector<double>& k, double alpha) {
  const std::vector<Real> r(row.begin(), row.end());
  std::vector<reference::Root<Real>> want;
  for (const double level : k) want.push_back(reference::root<Real>(r, level, alpha));
  const auto expect = [&](const Threshold& b, std::size_t t) {
    const Real z = (Real(b.anchor) - want[t].anchor + b.offset) / alpha;
    EXPECT_TRUE(within(z, want[t].z,
                       allowed("threshold", "float64", "z", {{"z", 1 + std::abs(want[t].z)}})))
        << "k = " << k[t];
  };
  test::for_each_target([&] {
    const std::vector<Threshold> together = solve(row, k, alpha);
    for (std::size_t t = 0; t < k.size(); ++t) {
      expect(together[t], t);
      expect(solve(row, {k[t]}, alpha)[0], t);
    }
  });
}

TEST(Threshold, is_the_root_at_every_length) {
  for (const std::ptrdiff_t n : test::kLengths) {
    if (n > 1000) continue;
    SCOPED_TRACE(n);
    expect_roots(test::family("normal").row(n), levels(n), 0.1);
  }
}

TEST(Threshold, is_the_root_on_every_family_at_every_softness) {
  for (const test::Family& family : test::kFamilies) {
    for (const double alpha : {1e-4, 1e-2, 1.0, 1e2, 1e4}) {
      SCOPED_TRACE(testing::Message() << family.name << ", alpha = " << alpha);
      expect_roots(family.row(97), levels(97), alpha);
    }
  }
}

TEST(Threshold, is_the_root_where_near_levels_share_a_pass) {
  for (const test::Family& family : test::kFamilies) {
    for (const double alpha : {1e-4, 0.1, 100.0}) {
      SCOPED_TRACE(testing::Message() << family.name << ", alpha = " << alpha);
      expect_roots(family.row(1000), {7.25, 4.5, 5, 6, 6}, alpha);
      expect_roots(family.row(1000), {500, 501.5}, alpha);
    }
  }
}

TEST(Threshold, is_the_root_on_rows_of_many_chunks) {
  for (const char* name : {"normal", "ties", "clusters", "outlier", "wide gaps"}) {
    SCOPED_TRACE(name);
    expect_roots(test::family(name).row(100003), {50001, 100002.75}, 0.1);
  }
}

TEST(Threshold, stands_in_the_middle_of_a_plateau) {
  for (const double alpha : {0.05, 1e-3, 1e-300}) {
    const Threshold b = solve({30, 0, 20, 10}, {2}, alpha)[0];
    EXPECT_EQ(b.anchor + b.offset, 15) << "alpha = " << alpha;
  }
}

TEST(Threshold, reaches_the_far_tails) {
  const std::vector<double> row = test::family("normal").row(31);
  expect_roots(row, {1e-300, 1e-200, 1e-100, 1e-15, 31 - 1e-14}, 1);
}

TEST(Threshold, saturates_as_documented) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const auto expect = [](const Threshold& b, double anchor, double offset) {
    EXPECT_EQ(b.anchor, anchor);
    EXPECT_EQ(b.offset, offset);
  };
  test::for_each_target([&] {
    const std::vector<double> k = {-kInf, -1, 0, 3, 4, kInf};
    const std::vector<Threshold> all = solve({1, 2, 3}, k, 1);
    for (std::size_t t = 0; t < k.size(); ++t) expect(all[t], k[t] > 0 ? kInf : -kInf, 0);

    const std::vector<Threshold> below = solve({-kInf, 5, -kInf, 6}, {0, 0.5, 2, 4, -3}, 1);
    expect(below[0], -kInf, 0);
    expect(below[1], -kInf, 0.25);
    expect(below[2], -kInf, 1);
    expect(below[3], kInf, 0);
    expect(below[4], -kInf, 0);

    const std::vector<Threshold> above = solve({kInf, 5, 6, kInf}, {1, 2, 3}, 1);
    EXPECT_EQ(above[0].anchor + above[0].offset, 5.5);
    expect(above[1], kInf, 0);
    expect(above[2], kInf, 0);

    const std::vector<Threshold> inside = solve({-kInf, 5, 6, kInf}, {2}, 1);
    EXPECT_EQ(inside[0].anchor + inside[0].offset, 5.5);
    expect(solve({}, {0}, 1)[0], -kInf, 0);
    expect(solve({}, {1}, 1)[0], kInf, 0);
    expect(solve({kInf, kInf}, {1}, 1)[0], kInf, 0);
  });
  const std::vector<Threshold> unknown = solve({1, 2, 3}, {1, nan, 2}, 1);
  EXPECT_TRUE(std::isfinite(unknown[0].anchor));
  EXPECT_TRUE(std::isnan(unknown[1].anchor));
  EXPECT_TRUE(std::isfinite(unknown[2].anchor));
  for (const Threshold& b : solve({1, nan, 3}, {0, 1, 3}, 1)) EXPECT_TRUE(std::isnan(b.anchor));
}

TEST(Threshold, has_the_same_bits_for_any_thread_count) {
  for (const test::Family& family : test::kFamilies) {
    const std::vector<double> row = family.row(100003);
    const std::vector<double> k = levels(100003);
    const std::vector<Threshold> one = solve(row, k, 0.01);
    for (const int threads : {1, 2, 3}) {
      const std::vector<Threshold> more = solve(row, k, 0.01, threads);
      for (std::size_t t = 0; t < k.size(); ++t) {
        EXPECT_EQ(more[t].anchor, one[t].anchor) << family.name;
        EXPECT_EQ(more[t].offset, one[t].offset) << family.name;
      }
    }
  }
}

// A row on which the median of 33 values spread evenly is always close to the smallest one left:
// every split removes 17 values, `splits` times.
std::vector<double> adversary(std::ptrdiff_t n, int splits) {
  std::vector<double> row(static_cast<std::size_t>(n), -1);
  std::vector<std::size_t> left(row.size());
  for (std::size_t i = 0; i < left.size(); ++i) left[i] = i;
  double next = 0;
  for (int split = 0; split < splits; ++split) {
    for (std::size_t i = 0; i < 17; ++i) row[left[(2 * i + 1) * left.size() / 66]] = next++;
    std::erase_if(left, [&](std::size_t i) { return row[i] >= 0; });
  }
  for (const std::size_t i : left) row[i] = next++;
  return row;
}

TEST(Threshold, answers_a_row_made_against_its_pivots) {
  constexpr std::ptrdiff_t kLength = 200000;
  const std::vector<double> row = adversary(kLength, 2000);
  EXPECT_EQ(solve(row, {kLength - 0.5}, 0.01)[0].anchor, kLength - 1);
}

}  // namespace
}  // namespace lapsum::cpu
