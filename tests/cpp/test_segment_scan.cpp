// Scans of rows of float against their sums: every instruction set, every family, lengths around
// segments and chunks, any number of threads; and a row whose roundings all go the same way.
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <numbers>

#include "bits.h"
#include "cpu/primitives/decayed_scan.h"
#include "cpu/primitives/segment_scan.h"
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

std::vector<double> sorted_row(const test::Family& family, std::ptrdiff_t n) {
  std::vector<double> row;
  for (const float v : family.row<float>(n)) row.push_back(v);
  std::sort(row.begin(), row.end());
  return row;
}

// One direction of a scan, and the same of absolute values, step by step in extended precision.
struct Expected {
  std::vector<Real> sum, size;
};
Expected define(const std::vector<double>& r, double alpha, const std::vector<double>& w,
                Toward toward) {
  const std::size_t n = r.size();
  Expected out{std::vector<Real>(n), std::vector<Real>(n)};
  Real sum = 0, size = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const std::size_t j = toward == Toward::right ? i : n - 1 - i;
    const std::size_t last = toward == Toward::right ? j - 1 : j + 1;
    const Real keep = i == 0 ? 0 : std::exp(-std::abs(Real(r[j]) - r[last]) / alpha);
    sum = keep * sum + (w.empty() ? 1 : w[j]);
    size = keep * size + (w.empty() ? 1 : std::abs(w[j]));
    out.sum[j] = sum;
    out.size[j] = size;
  }
  return out;
}

void expect_scan(std::span<const double> got, const Expected& want, std::ptrdiff_t begin) {
  for (std::size_t i = 0; i < got.size(); ++i) {
    const std::size_t j = i + static_cast<std::size_t>(begin);
    ASSERT_TRUE(within(got[i], want.sum[j],
                       allowed("segment_scan", "float64", "value", {{"sum|terms|", want.size[j]}})))
        << "element " << j << " of " << want.sum.size();
  }
}

void expect_scans(const std::vector<double>& r, double alpha, int threads) {
  const std::ptrdiff_t n = std::ssize(r);
  const std::vector<double> v = Draw(5).normals(n), u = Draw(6).normals(n);
  const Expected ones[] = {define(r, alpha, {}, Toward::right), define(r, alpha, {}, Toward::left)};
  const Expected any[] = {define(r, alpha, v, Toward::right), define(r, alpha, u, Toward::left)};
  Arena arena;
  Guarded<double> right(n), left(n), keep(n);
  scan_ones<float>(r, alpha, {right.data(), left.data(), keep.data()}, arena, threads);
  expect_scan(right.copy(), ones[0], 0);
  expect_scan(left.copy(), ones[1], 0);
  for (std::ptrdiff_t j = 0; j < n; ++j) {
    const auto at = static_cast<std::size_t>(j);
    const Real want = j + 1 < n ? std::exp(-(Real(r[at + 1]) - r[at]) / alpha) : 0;
    ASSERT_TRUE(
        within(keep[j], want, allowed("segment_scan", "float64", "value", {{"sum|terms|", 1}})));
  }
  const SideWeights weights[] = {{}, {v, u}};
  std::atomic<std::ptrdiff_t> seen = 0;
  scan_in_chunks<float>(r, alpha, weights, arena, threads, [&](const ChunkOfScans& at) {
    expect_scan(at.scans[0].right[0], ones[0], at.begin);
    expect_scan(at.scans[0].left[0], ones[1], at.begin);
    expect_scan(at.scans[1].right[0], any[0], at.begin);
    expect_scan(at.scans[1].left[0], any[1], at.begin);
    seen += at.end - at.begin;
  });
  EXPECT_EQ(seen, n);
}

// Rows whose gaps are nearly all small, some of which are not, and rows of any gaps: in octaves of alpha.
TEST(KeepToNext, has_all_digits_over_small_gaps_and_large_ones) {
  const double alpha = 0.7, octave = alpha * std::numbers::ln2;
  const std::vector<std::vector<double>> rows = {
      {1e-7, 1e-4, 3e-3}, {1e-4, 0, 0.0624, 0.0626, 0.5}, {0.3, 1e-4, 2, 40, 0}, {1e4, 1e-5}};
  test::for_each_target([&] {
    for (const std::vector<double>& gaps : rows) {
      for (const std::ptrdiff_t n : {1, 2, 3, 8, 9, 1000, 1003}) {
        SCOPED_TRACE(testing::Message() << "gaps of " << gaps[0] << ", n = " << n);
        std::vector<double> r(static_cast<std::size_t>(n + 1));
        for (std::size_t j = 1; j < r.size(); ++j) {
          const bool is_usual = j % 97 != 0 && gaps[0] < 0.1;
          r[j] = r[j - 1] + gaps[is_usual ? 0 : j % gaps.size()] * octave;
        }
        Guarded<double> keep(n);
        keep_to_next(r.data(), n, alpha, keep.data());
        for (std::ptrdiff_t j = 0; j < n; ++j) {
          const auto at = static_cast<std::size_t>(j);
          const Real want = std::exp(-(Real(r[at + 1]) - r[at]) / alpha);
          ASSERT_TRUE(within(keep[j], want, allowed("keep_to_next", "float64", "value", {})))
              << "element " << j << ": " << keep[j];
        }
      }
    }
  });
}

TEST(SegmentScan, is_its_sums_on_every_family_at_every_length) {
  test::for_each_target([] {
    for (const test::Family& family : test::kFamilies) {
      for (const std::ptrdiff_t n :
           {0, 1, 2, 3, 15, 16, 17, 18, 31, 33, 47, 97, 1000, 1024, 1031}) {
        const std::vector<double> r = sorted_row(family, n);
        for (const double alpha : {1e-300, 1e-4, 0.3, 1e4, 1e300}) {
          SCOPED_TRACE(testing::Message() << family.name << ", n = " << n << ", alpha = " << alpha);
          expect_scans(r, alpha, 1);
        }
      }
    }
  });
}

// Rows of one chunk, of few, whose decays are kept, and of many, which are made twice.
TEST(SegmentScan, is_its_sums_in_long_rows) {
  for (const std::ptrdiff_t n : {16384, 16385, 8 * 16384, 8 * 16384 + 1, 200003}) {
    for (const char* name : {"normal", "clusters", "outlier"}) {
      const std::vector<double> r = sorted_row(test::family(name), n);
      for (const double alpha : {1e-4, 0.3, 1e4}) {
        SCOPED_TRACE(testing::Message() << name << ", n = " << n << ", alpha = " << alpha);
        expect_scans(r, alpha, 2);
      }
    }
  }
}

TEST(SegmentScan, has_the_same_bits_for_any_number_of_threads) {
  const std::vector<double> r = sorted_row(test::family("normal"), 200003);
  std::vector<std::vector<double>> runs;
  for (const int threads : {1, 2, 3}) {
    Arena arena;
    std::vector<double> right(r.size()), left(r.size()), keep(r.size());
    scan_ones<float>(r, 0.1, {right.data(), left.data(), keep.data()}, arena, threads);
    EXPECT_TRUE(runs.empty() || test::same_bits(runs[0], right));
    EXPECT_TRUE(runs.empty() || test::same_bits(runs[1], left));
    runs.push_back(right);
    runs.push_back(left);
    std::vector<double> again(r.size());
    const SideWeights ones[1];
    scan_in_chunks<float>(r, 0.1, ones, arena, threads, [&](const ChunkOfScans& at) {
      std::copy(at.scans[0].right[0].begin(), at.scans[0].right[0].end(), &again[at.begin]);
    });
    EXPECT_TRUE(test::same_bits(again, right));
  }
}

// e^-gap is off by up to 2^-54, here always to the same side: along a segment that adds up, from one to
// the next it does not.
TEST(SegmentScan, roundings_do_not_add_up_from_segment_to_segment) {
  std::vector<double> r(1'000'000);
  for (std::size_t i = 0; i < r.size(); ++i) r[i] = static_cast<double>(i);
  const double alpha = 3e6;
  Arena arena;
  std::vector<double> right(r.size()), left(r.size()), keep(r.size());
  scan_ones<float>(r, alpha, {right.data(), left.data(), keep.data()}, arena, 2);
  for (std::size_t j = 0; j < r.size(); j += 9973) {
    const Real g = 1 / Real(alpha);
    const Real want = std::expm1(-g * Real(j + 1)) / std::expm1(-g);
    ASSERT_TRUE(
        within(right[j], want, allowed("segment_scan", "float64", "value", {{"sum|terms|", want}})))
        << "element " << j;
  }
}

}  // namespace
}  // namespace lapsum::cpu
