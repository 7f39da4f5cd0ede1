// Masks of rows in the caches, seen from a guess.
#include <gtest/gtest.h>

#include "cpu/primitives/guessed_mask.h"
#include "masks.h"

namespace lapsum::cpu {
namespace {

using test::Draw;
using test::expect_masks;
using test::Guarded;
using test::Masked;

template <class T>
Masked<T> guessing(const std::vector<T>& row, double sign, double k, double alpha) {
  Guarded<T> x(row);
  Guarded<T> p(x.size());
  Arena arena;
  const auto b = mask_from_guess(x.data(), x.size(), sign, k, alpha, p.data(), arena);
  EXPECT_TRUE(test::same_bits(x.copy(), row)) << "the row changed";
  const auto alone = mask_from_guess<T>(x.data(), x.size(), sign, k, alpha, nullptr, arena);
  EXPECT_EQ(b.has_value(), alone.has_value());
  if (b && alone) {
    EXPECT_EQ(b->anchor, alone->anchor);
    EXPECT_EQ(b->offset, alone->offset);
  }
  return {b, p.copy()};
}

bool is_taken(const std::vector<float>& row, double sign, double k, double alpha) {
  return expect_masks<float>(guessing<float>, row, sign, k, alpha);
}

std::vector<float> normals(Draw& draw, std::ptrdiff_t n) {
  const std::vector<double> wide = draw.normals(n);
  return {wide.begin(), wide.end()};
}

TEST(GuessedMask, is_the_mask_on_every_family) {
  std::map<std::string, int> taken;
  for (const std::ptrdiff_t n : {515, 1031, 5003}) {
    test::expect_families<float>(guessing<float>, test::kFamilies, n, taken);
    test::expect_families<float>(guessing<float>, test::kHard, n, taken);
  }
  // Not all rows go this way, but it is no use testing it on rows that do not.
  EXPECT_GT(taken["normal"], 40);
  for (const char* name : {"ties", "clusters", "sorted", "reversed", "far from 0", "wide gaps"}) {
    EXPECT_GT(taken[name], 0) << name;
  }
}

TEST(GuessedMask, takes_normal_rows_of_every_length_and_level) {
  Draw draw(1);
  const auto lengths = {kLeastGuessed,       kLeastGuessed + 1,    kLeastGuessed + 7,
                        std::ptrdiff_t{777}, std::ptrdiff_t{1000}, std::ptrdiff_t{3001},
                        kMostGuessed};
  for (const std::ptrdiff_t n : lengths) {
    for (const double alpha : {1e-4, 0.1, 0.5, 100.0}) {
      for (const double share : {0.005, 0.1, 0.5, 0.93}) {
        SCOPED_TRACE(testing::Message() << n << ", alpha = " << alpha << ", share " << share);
        const bool is_tail = share < 0.03 && n > 1024;  // left to samples
        EXPECT_EQ(is_taken(normals(draw, n), -1, share * static_cast<double>(n), alpha), !is_tail);
      }
    }
  }
}

// Between what is seen from the guess and what is chosen or not, levels are whole and not.
TEST(GuessedMask, is_the_mask_at_any_alpha) {
  Draw draw(2);
  int taken = 0;
  for (int i = 0; i < 300; ++i) {
    const double alpha = std::exp(-10 + 16 * draw.uniform());
    const double k = i % 2 ? std::floor(1 + 998 * draw.uniform()) : 1000 * draw.uniform();
    SCOPED_TRACE(testing::Message() << "alpha = " << alpha << ", k = " << k);
    taken += is_taken(normals(draw, 1000), 1, k, alpha);
  }
  EXPECT_GT(taken, 250);
}

// Rows of heavy tails, of two crowds far apart, of one side alone: few elements weigh all there is, or
// what is seen from the guess leads nowhere.
TEST(GuessedMask, is_the_mask_where_the_guess_is_wrong) {
  Draw draw(3);
  int taken = 0;
  for (int i = 0; i < 1500; ++i) {
    const double alpha = std::exp(-6 + 9 * draw.uniform()), heavy = 1 + 4 * draw.uniform();
    std::vector<float> row(static_cast<std::size_t>(kLeastGuessed + draw.below(500)));
    for (float& v : row) {
      const double normal = draw.normal(), uniform = draw.uniform();
      const double by_kind[] = {std::pow(std::abs(normal), heavy), normal * normal * normal,
                                std::tan(3.1 * (uniform - 0.5)), -std::log1p(-uniform),
                                (uniform < 0.5 ? 0 : 5) + 0.1 * normal};
      v = static_cast<float>(by_kind[i % 5]);
    }
    const auto n = static_cast<double>(row.size());
    const double k = i % 3   ? n * draw.uniform()
                     : i % 2 ? 10 * draw.uniform()
                             : n - 10 * draw.uniform();
    SCOPED_TRACE(testing::Message() << "kind " << i % 5 << ", alpha = " << alpha << ", k = " << k);
    taken += is_taken(row, i % 7 ? 1 : -1, k, alpha);
  }
  EXPECT_GT(taken, 80);
}

// A first step to a crowd falls short of what lies behind it; far elements lead the guess before it.
TEST(GuessedMask, is_the_mask_behind_a_crowd) {
  Draw draw(7);
  int taken = 0;
  for (int i = 0; i < 300; ++i) {
    const double share = 0.05 + 0.3 * draw.uniform(), alpha = 0.1 + draw.uniform();
    const double far = -3 * draw.uniform(), crowd_at = -1 + 2 * draw.uniform();
    std::vector<float> row(1000);
    double before = 0, crowd = 0;
    for (float& v : row) {
      const double u = draw.uniform();
      const bool crowded = u < share;
      const double other = u > 0.95 ? far : draw.normal();
      v = static_cast<float>(crowded ? crowd_at + 0.01 * draw.uniform() : other);
      crowd += crowded;
      before += !crowded && v < crowd_at;
    }
    const double k = before + crowd * (0.8 + 0.2 * draw.uniform());
    SCOPED_TRACE(testing::Message() << "share " << share << ", alpha = " << alpha << ", k " << k);
    taken += is_taken(row, 1, k, alpha);
  }
  EXPECT_GT(taken, 100);
}

// A level that the guess meets all but exactly.
TEST(GuessedMask, is_the_mask_where_the_guess_is_right) {
  Draw draw(8);
  const std::vector<float> row = normals(draw, 1000);
  std::vector<double> wide(row.begin(), row.end());
  for (int i = 0; i < 400; ++i) {
    // What the mean of the row has as its level.
    const double alpha = 3 + 0.1 * draw.uniform();
    double mean = 0, k = 0;
    for (const double r : wide) mean += r / 1000;
    for (const double r : wide) {
      const double z = (mean - r) / alpha;
      k += z > 0 ? 1 - 0.5 * std::exp(-z) : 0.5 * std::exp(z);
    }
    SCOPED_TRACE(testing::Message() << "alpha = " << alpha << ", k = " << k);
    EXPECT_TRUE(is_taken(row, 1, k + 1e-2 * (draw.uniform() - 0.5), alpha));
  }
}

TEST(GuessedMask, sums_to_its_level_if_many_elements_are_equal) {
  test::expect_sums_of_ties<float>(guessing<float>);
}

// A step of alpha / 50 on either side of a far value: the sums of one side are all that is left of them.
TEST(GuessedMask, is_the_mask_at_levels_next_to_all_and_nothing) {
  Draw draw(4);
  for (int i = 0; i < 100; ++i) {
    const std::vector<float> row = normals(draw, 600);
    const double little = std::exp(-8 * draw.uniform()), alpha = std::exp(-3 + 4 * draw.uniform());
    SCOPED_TRACE(testing::Message() << "k = " << little << ", alpha = " << alpha);
    is_taken(row, 1, little, alpha);
    is_taken(row, 1, 600 - little, alpha);
  }
}

template <class T>
class GuessedHalves : public testing::Test {};
using Halves = testing::Types<Half, Bfloat16>;
TYPED_TEST_SUITE(GuessedHalves, Halves);

TYPED_TEST(GuessedHalves, go_as_floats_would) {
  using T = TypeParam;
  Draw draw(5);
  int taken = 0;
  for (const std::ptrdiff_t n : {600, 1003, 9001}) {
    for (const double alpha : {1e-3, 0.1, 2.0}) {
      std::vector<T> row(static_cast<std::size_t>(n));
      std::vector<float> wide;
      for (T& v : row) {
        v = Element<T>::round(draw.normal());
        wide.push_back(to_work(v));
      }
      const double k = 0.3 * static_cast<double>(n);
      Arena arena;
      Masked<T> got{{}, std::vector<T>(row.size())};
      got.b = mask_from_guess(row.data(), n, -1, k, alpha, got.p.data(), arena);
      const Masked<float> floats = guessing(wide, -1, k, alpha);
      ASSERT_EQ(got.b.has_value(), floats.b.has_value());
      if (!got.b) continue;
      ++taken;
      EXPECT_EQ(got.b->anchor, floats.b->anchor);
      EXPECT_EQ(got.b->offset, floats.b->offset);
      for (std::size_t i = 0; i < row.size(); ++i) {
        ASSERT_EQ(got.p[i].bits, Element<T>::round(floats.p[i]).bits) << i;
      }
    }
  }
  EXPECT_GT(taken, 3);
}

TEST(GuessedMask, is_left_to_others_where_no_finite_threshold_is) {
  using Limits = std::numeric_limits<float>;
  std::vector<float> row(1000);
  for (std::size_t i = 0; i < row.size(); ++i) row[i] = std::sin(static_cast<float>(i));
  for (const double k : {-1.0, 0.0, 1000.0, 1001.0, std::nan("")}) {
    EXPECT_FALSE(guessing(row, 1, k, 0.1).b) << k;
  }
  for (const double alpha : {0.0, -1.0, 1e-300, 1e300, std::nan("")}) {
    EXPECT_FALSE(guessing(row, 1, 300, alpha).b) << alpha;
  }
  // Every place counts, those too that fill no vector.
  for (const std::size_t n : {600u, 607u, 608u, 609u, 615u}) {
    for (std::size_t at = 0; at < n; at += at < n - 40 ? 61 : 1) {
      for (const float v : {Limits::quiet_NaN(), Limits::infinity(), -Limits::infinity()}) {
        std::vector<float> other(row.begin(), row.begin() + static_cast<std::ptrdiff_t>(n));
        other[at] = v;
        for (const double alpha : {1e-4, 0.1, 100.0}) {
          EXPECT_FALSE(guessing(other, 1, 400.3, alpha).b) << v << " at " << at << " of " << n;
        }
      }
    }
  }
  EXPECT_FALSE(guessing(std::vector<double>(1000, 0.5), 1, 3, 0.1).b);
  EXPECT_FALSE(guessing(std::vector<float>(kMostGuessed + 1, 0.5f), 1, 3, 0.1).b);
}

}  // namespace
}  // namespace lapsum::cpu
