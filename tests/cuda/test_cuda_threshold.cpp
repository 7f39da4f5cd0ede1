// Thresholds on a device against bisection in long double, compared through z = (b - r) / alpha, on
// rows that a search may stumble over, for one warp, one block and several blocks.
#include <gtest/gtest.h>

#include "cuda/primitives/threshold.h"
#include "device.h"
#include "families.h"
#include "reference.h"
#include "schedules.h"
#include "tolerances.h"

namespace lapsum::test {
namespace {

using reference::Real;

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

// Ways to cut a row: for a warp, a block, and three or four blocks.
enum class Cut { warp, block, blocks };
constexpr Cut kCuts[] = {Cut::warp, Cut::block, Cut::blocks};

gpu::Tiling cut_row(std::ptrdiff_t n, Cut cut) {
  const std::ptrdiff_t third = std::max<std::ptrdiff_t>(1, n / 3);
  gpu::Tiling tiling(n, cut == Cut::warp ? n : -1, cut == Cut::block ? n + 1 : third);
  tiling.passes = 3;  // and there is more to do
  return tiling;
}

/// E being the type of elements on the device.
template <class E = double, class T = double>
std::vector<Threshold> solve(const std::vector<T>& row, const std::vector<double>& k, double alpha,
                             const gpu::Tiling& tiling, Order order = Order::ascending) {
  const auto n = std::ssize(row);
  const auto levels = std::ssize(k);
  std::vector<double> b(2 * k.size());
  {
    Device<T, E> device;
    const Rows<const E> x = device.in(Rows<const T>(row.data(), 1, n));
    const Levels on_device = device.in(Levels(k.data(), levels, levels), 1);
    auto* const out = reinterpret_cast<Threshold*>(device.out(b.data(), 2 * levels));
    gpu::Queue count;
    gpu::solve_thresholds<E>(count, x, on_device, alpha, order, tiling, out);
    gpu::Queue queue(device.launch(count.most()));
    gpu::solve_thresholds<E>(queue, x, on_device, alpha, order, tiling, out);
  }
  std::vector<Threshold> out;
  for (std::size_t t = 0; t < k.size(); ++t) out.push_back({b[2 * t], b[2 * t + 1]});
  return out;
}

// Levels inside (0, n): both tails, whole numbers and fractions.
std::vector<double> levels(std::ptrdiff_t n) {
  const auto size = static_cast<double>(n);
  std::vector<double> k;
  for (const double level : {std::floor(size / 2), size - 0.25, 1e-3, 1.0, size / 3 + 0.3}) {
    if (level > 0 && level < size) k.push_back(level);
  }
  return k;
}

void expect_roots(const std::vector<double>& row, const std::vector<double>& k, double alpha,
                  const gpu::Tiling& tiling) {
  const std::vector<Real> r(row.begin(), row.end());
  const std::vector<Threshold> got = solve(row, k, alpha, tiling);
  for (std::size_t t = 0; t < k.size(); ++t) {
    const reference::Root<Real> want = reference::root<Real>(r, k[t], alpha);
    const Real z = (Real(got[t].anchor) - want.anchor + got[t].offset) / alpha;
    EXPECT_TRUE(
        within(z, want.z, allowed("threshold", "float64", "z", {{"z", 1 + std::abs(want.z)}})))
        << "k = " << k[t];
  }
}

// The families of the other tests, and more of what makes a search long.
std::vector<Family> families() {
  std::vector<Family> out(std::begin(kFamilies), std::end(kFamilies));
  out.push_back({"mostly zeros", [](Draw& draw, auto, auto) {
                   return draw.uniform() < 0.99 ? 0.0 : draw.normal();
                 }});
  out.push_back({"all scales",
                 [](Draw& draw, auto, auto) { return std::exp(600 * (draw.uniform() - 0.5)); }});
  out.push_back({"two scales",
                 [](Draw& draw, auto i, auto) { return (i % 2 == 0 ? 1e-9 : 1) * draw.normal(); }});
  out.push_back({"largest numbers", [](Draw& draw, auto, auto) {
                   return std::numeric_limits<double>::max() * (2 * draw.uniform() - 1);
                 }});
  return out;
}

TEST(CudaThreshold, is_the_root_on_every_family_at_every_softness) {
  SKIP_WHERE_RACES_ARE_SOUGHT();
  for (const Family& family : families()) {
    for (const double alpha : {1e-300, 1e-6, 1e-3, 0.1, 1.0, 1e2, 1e6, 1e300}) {
      SCOPED_TRACE(testing::Message() << family.name << ", alpha = " << alpha);
      expect_roots(family.row(97), levels(97), alpha, cut_row(97, Cut::warp));
    }
  }
}

TEST(CudaThreshold, is_the_root_for_blocks_too) {
  SKIP_WHERE_RACES_ARE_SOUGHT();
  for (const Family& family : families()) {
    for (const double alpha : {1e-4, 0.3}) {
      for (const Cut cut : {Cut::block, Cut::blocks}) {
        SCOPED_TRACE(testing::Message() << family.name << ", alpha = " << alpha);
        expect_roots(family.row(300), {150, 299.75}, alpha, cut_row(300, cut));
      }
    }
  }
}

TEST(CudaThreshold, is_the_root_at_every_length) {
  SKIP_WHERE_RACES_ARE_SOUGHT();
  for (const std::ptrdiff_t n : {1, 2, 3, 31, 32, 33, 255, 256, 257, 512, 513, 1000}) {
    SCOPED_TRACE(n);
    expect_roots(family("normal").row(n), levels(n), 0.1, gpu::Tiling(n));
  }
}

TEST(CudaThreshold, is_the_root_on_rows_of_several_tiles) {
  SKIP_WHERE_RACES_ARE_SOUGHT();
  for (const char* name : {"normal", "clusters", "outlier"}) {
    for (const double alpha : {1e-5, 0.1}) {
      SCOPED_TRACE(testing::Message() << name << ", alpha = " << alpha);
      expect_roots(family(name).row(40003), {20001}, alpha, gpu::Tiling(40003));
    }
  }
}

TEST(CudaThreshold, stands_in_the_middle_of_a_plateau) {
  for (const double alpha : {0.05, 1e-3, 1e-300}) {
    for (const Cut cut : kCuts) {
      const Threshold b = solve({30, 0, 20, 10}, {2}, alpha, cut_row(4, cut))[0];
      EXPECT_EQ(b.anchor + b.offset, 15) << "alpha = " << alpha;
    }
  }
}

TEST(CudaThreshold, is_that_of_every_type_however_rows_are_cut) {
  const std::vector<float> row = {30, 0, 20, 10};
  for (const Cut cut : kCuts) {
    const gpu::Tiling tiling = cut_row(4, cut);
    for (const Threshold& b :
         {solve<float>(row, {2}, 0.05, tiling)[0], solve<cuda::Half>(row, {2}, 0.05, tiling)[0],
          solve<cuda::Bfloat16>(row, {2}, 0.05, tiling)[0]}) {
      EXPECT_EQ(b.anchor + b.offset, 15);
    }
  }
}

TEST(CudaThreshold, reaches_the_far_tails) {
  const std::vector<double> row = family("normal").row(31);
  for (const Cut cut : kCuts) {
    expect_roots(row, {1e-300, 1e-200, 1e-100, 1e-15, 31 - 1e-14}, 1, cut_row(31, cut));
  }
}

TEST(CudaThreshold, saturates_as_documented) {
  const auto expect = [](const Threshold& b, double anchor, double offset) {
    EXPECT_EQ(b.anchor, anchor);
    EXPECT_EQ(b.offset, offset);
  };
  for (const Cut cut : kCuts) {
    SCOPED_TRACE(static_cast<int>(cut));
    const auto solved = [&](const std::vector<double>& row, const std::vector<double>& k,
                            double alpha = 1) {
      return solve(row, k, alpha, cut_row(std::ssize(row), cut));
    };
    const std::vector<double> k = {-kInf, -1, 0, 3, 4, kInf};
    const std::vector<Threshold> all = solved({1, 2, 3}, k);
    for (std::size_t t = 0; t < k.size(); ++t) expect(all[t], k[t] > 0 ? kInf : -kInf, 0);

    const std::vector<Threshold> below = solved({-kInf, 5, -kInf, 6}, {0, 0.5, 2, 4, -3});
    expect(below[0], -kInf, 0);
    expect(below[1], -kInf, 0.25);
    expect(below[2], -kInf, 1);
    expect(below[3], kInf, 0);
    expect(below[4], -kInf, 0);

    const std::vector<Threshold> above = solved({kInf, 5, 6, kInf}, {1, 2, 3});
    EXPECT_EQ(above[0].anchor + above[0].offset, 5.5);
    expect(above[1], kInf, 0);
    expect(above[2], kInf, 0);

    const std::vector<Threshold> inside = solved({-kInf, 5, 6, kInf}, {2});
    EXPECT_EQ(inside[0].anchor + inside[0].offset, 5.5);
    expect(solved({}, {0})[0], -kInf, 0);
    expect(solved({}, {1})[0], kInf, 0);
    expect(solved({kInf, kInf}, {1})[0], kInf, 0);

    const std::vector<Threshold> unknown = solved({1, 2, 3}, {1, kNaN, 2});
    EXPECT_TRUE(std::isfinite(unknown[0].anchor));
    EXPECT_TRUE(std::isnan(unknown[1].anchor));
    EXPECT_TRUE(std::isfinite(unknown[2].anchor));
    for (const Threshold& b : solved({1, kNaN, 3}, {0, 1, 3})) EXPECT_TRUE(std::isnan(b.anchor));
    for (const double alpha : {0.0, kInf, kNaN}) {
      EXPECT_TRUE(std::isnan(solved({1, 2, 3}, {1}, alpha)[0].anchor));
    }
  }
}

TEST(CudaThreshold, has_the_same_bits_under_every_schedule) {
  const std::vector<double> row = family("normal").row(300);
  for (const Cut cut : kCuts) {
    const std::vector<Threshold> first = solve(row, {150, 299.75}, 0.01, cut_row(300, cut));
    under_every_schedule([&] {
      const std::vector<Threshold> again = solve(row, {150, 299.75}, 0.01, cut_row(300, cut));
      for (std::size_t t = 0; t < first.size(); ++t) {
        EXPECT_EQ(again[t].anchor, first[t].anchor);
        EXPECT_EQ(again[t].offset, first[t].offset);
      }
    });
  }
}

}  // namespace
}  // namespace lapsum::test
