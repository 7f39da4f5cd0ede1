// Levels with steps of one against the definition: LapSum at their roots is the level, and what they bring
// to the values is a sum of softmax weights. In rows of several chunks, whose borders levels must not
// fall through.
#include <gtest/gtest.h>

#include "bits.h"
#include "cpu/primitives/parallel.h"
#include "cpu/primitives/points.h"
#include "cpu/primitives/stepped_levels.h"
#include "families.h"
#include "guarded.h"
#include "targets.h"
#include "tolerances.h"

namespace lapsum::cpu {
namespace {

using Real = long double;
using test::allowed;
using test::Guarded;
using test::within;

constexpr std::ptrdiff_t kLengths[] = {1, 2, 17, 300, kChunk + 1, 40000};
const char* const kRows[] = {"normal",   "ties",    "all equal",  "clusters", "sorted",
                             "reversed", "outlier", "far from 0", "wide gaps"};

std::vector<double> sorted_floats(const char* family, std::ptrdiff_t n) {
  const std::vector<float> row = test::family(family).row<float>(n);
  std::vector<double> out(row.begin(), row.end());
  std::sort(out.begin(), out.end());
  return out;
}

std::vector<double> roots_of(const std::vector<double>& r, double alpha, const RowLevels& k,
                             int threads) {
  Guarded<double> out(k.size());
  Arena arena;
  step_values(r, alpha, k, arena, threads, [&](std::ptrdiff_t t, std::span<double> values) {
    std::copy(values.begin(), values.end(), out.data() + t);
  });
  return out.copy();
}

// What the row adds up to at b: LapSum, and the decays.
struct At {
  Real lap_sum = 0, decays = 0;

  At(const std::vector<double>& r, Real b, Real alpha) {
    for (const double v : r) {
      const Real e = std::exp(-std::abs(b - v) / alpha);
      lap_sum += b < v ? e / 2 : 1 - e / 2;
      decays += e;
    }
  }
};

// The outermost levels, or values, and some between.
std::vector<std::ptrdiff_t> some_of(std::ptrdiff_t m) {
  std::vector<std::ptrdiff_t> out;
  for (std::ptrdiff_t t = 0; t < m; t += std::max<std::ptrdiff_t>(1, m / 8)) out.push_back(t);
  out.push_back(m - 1);
  return out;
}

TEST(SteppedLevels, have_roots_where_lap_sum_is_the_level) {
  for (const char* family : kRows) {
    for (const std::ptrdiff_t n : kLengths) {
      for (const double alpha : {1e-3, 0.3, 100.0}) {
        for (const double first : {0.5, 0.125}) {
          SCOPED_TRACE(testing::Message()
                       << family << ", n = " << n << ", alpha = " << alpha << ", from " << first);
          const std::vector<double> r = sorted_floats(family, n);
          const RowLevels k = RowLevels::in_steps(first, n);
          ASSERT_TRUE(are_plain_steps(k, n));
          const std::vector<double> b = roots_of(r, alpha, k, 1);
          ASSERT_TRUE(std::is_sorted(b.begin(), b.end(), [&](double one, double two) {
            return one < two - 1e-8 * (alpha + std::abs(two));
          }));
          for (const std::ptrdiff_t t : some_of(n)) {
            const double root = b[static_cast<std::size_t>(t)];
            const At at(r, root, alpha);
            // A root is a number: rounded, it is off by an ulp.
            const Real off = allowed("interval", "float32", "z", {{"z", 50}}) +
                             std::abs(root) * 0x1p-52L / alpha;
            EXPECT_TRUE(within(at.lap_sum, k[t],
                               off * (1 + at.decays) + allowed("segment_scan", "float64", "value",
                                                               {{"sum|terms|", at.decays + 1}})))
                << "level " << k[t] << " at " << root;
          }
        }
      }
    }
  }
}

// Every level, at every border: a level that a chunk leaves to another has no root.
TEST(SteppedLevels, are_all_solved_as_one_by_one) {
  test::for_each_target([] {
    for (const char* family : {"normal", "ties", "clusters", "outlier"}) {
      for (const std::ptrdiff_t n : {std::ptrdiff_t{97}, 2 * kChunk + 77, std::ptrdiff_t{70001}}) {
        for (const double alpha : {1e-3, 0.3, 100.0}) {
          SCOPED_TRACE(testing::Message() << family << ", n = " << n << ", alpha = " << alpha);
          const std::vector<double> r = sorted_floats(family, n);
          const RowLevels k = RowLevels::in_steps(0.5, n);
          Arena arena;
          const Decays decays = make_decays(r, alpha, arena, 1);
          const Roots want = solve_levels(decays, scan_both<0>(decays, {}, arena, 1), k, arena, 1);
          const std::vector<double> b = roots_of(r, alpha, k, 2);
          for (std::size_t t = 0; t < b.size(); ++t) {
            const double root = want.b[t].anchor + want.b[t].offset;
            ASSERT_TRUE(within(b[t], root, 2e-9 * alpha + 0x1p-51 * std::abs(root)))
                << "level " << t;
          }
        }
      }
    }
  });
}

TEST(SteppedLevels, bring_to_every_value_what_its_weights_say) {
  for (const char* family : {"normal", "ties", "clusters", "sorted"}) {
    for (const std::ptrdiff_t n : {std::ptrdiff_t{5}, std::ptrdiff_t{300}, 2 * kChunk + 77}) {
      for (const double alpha : {1e-2, 0.3, 100.0}) {
        SCOPED_TRACE(testing::Message() << family << ", n = " << n << ", alpha = " << alpha);
        const std::vector<double> r = sorted_floats(family, n);
        const RowLevels k = RowLevels::in_steps(0.5, n);
        const std::vector<double> u = test::Draw(5).normals(n);
        Arena arena;
        std::vector<double> got(r.size());
        scatter<float>(r, alpha, k, nullptr, u, arena, 2, [&](const ChunkOfScans& at) {
          for (std::ptrdiff_t j = at.begin; j < at.end; ++j) {
            const auto i = static_cast<std::size_t>(j - at.begin);
            got[static_cast<std::size_t>(j)] = at.scans[0].right[0][i] + at.scans[0].left[0][i];
          }
        });
        // Decays at the roots from sums along the row in extended precision.
        const std::vector<double> b = roots_of(r, alpha, k, 1);
        std::vector<Real> left(r.size()), right(r.size() + 1, 0), total(r.size());
        const auto decay = [&](Real distance) { return std::exp(-distance / alpha); };
        for (std::size_t j = 0; j < r.size(); ++j) {
          left[j] = 1 + (j > 0 ? decay(Real{r[j]} - r[j - 1]) * left[j - 1] : 0);
        }
        for (std::size_t j = r.size(); j-- > 0;) {
          right[j] = 1 + (j + 1 < r.size() ? decay(Real{r[j + 1]} - r[j]) * right[j + 1] : 0);
        }
        for (std::size_t t = 0; t < b.size(); ++t) {
          const auto c =
              static_cast<std::size_t>(std::lower_bound(r.begin(), r.end(), b[t]) - r.begin());
          total[t] = (c > 0 ? left[c - 1] * decay(Real{b[t]} - r[c - 1]) : 0) +
                     (c < r.size() ? right[c] * decay(Real{r[c]} - b[t]) : 0);
        }
        for (const std::ptrdiff_t i : some_of(n)) {
          Real want = 0, size = 0;
          for (std::size_t t = 0; t < b.size(); ++t) {
            const Real share =
                decay(std::abs(Real{b[t]} - r[static_cast<std::size_t>(i)])) / total[t];
            want += u[t] * share;
            size += std::abs(u[t]) * share;
          }
          // Roots and sums are those of rows of float.
          const Real bound = 4 * allowed("interval", "float32", "z", {{"z", 1}}) * size + 1e-290L;
          EXPECT_TRUE(within(got[static_cast<std::size_t>(i)], want, bound)) << "value " << i;
        }
      }
    }
  }
}

TEST(SteppedLevels, have_the_same_bits_for_any_number_of_threads) {
  const std::vector<double> r = sorted_floats("normal", 70001);
  const RowLevels k = RowLevels::in_steps(0.5, std::ssize(r));
  for (const double alpha : {1e-3, 0.3, 100.0}) {
    const std::vector<double> one = roots_of(r, alpha, k, 1);
    for (const int threads : {2, 3})
      EXPECT_TRUE(test::same_bits(roots_of(r, alpha, k, threads), one));
  }
}

TEST(SteppedLevels, are_plain_if_no_root_is_at_infinity_or_half_way) {
  EXPECT_TRUE(are_plain_steps(RowLevels::in_steps(0.5, 4), 4));
  EXPECT_FALSE(are_plain_steps(RowLevels::in_steps(0.5, 5), 4));
  EXPECT_FALSE(are_plain_steps(RowLevels::in_steps(-0.5, 4), 4));
  EXPECT_FALSE(are_plain_steps(RowLevels::in_steps(1, 2), 4));
  EXPECT_FALSE(are_plain_steps(RowLevels::in_steps(0.5, 0), 0));
  const double levels[] = {0.5, 1.5};
  EXPECT_FALSE(are_plain_steps(RowLevels(levels), 4));
}

}  // namespace
}  // namespace lapsum::cpu
