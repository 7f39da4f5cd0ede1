// Rows solved several at a time: against the row-by-row search in double, which lanes never take,
// at every instruction set and family; and the same bits for a row alone and among others,
// whichever way they are laid out.
#include <gtest/gtest.h>

#include "bits.h"
#include "cpu/primitives/density.h"
#include "cpu/primitives/lanes.h"
#include "cpu/primitives/threshold.h"
#include "families.h"
#include "guarded.h"
#include "targets.h"
#include "tolerances.h"

namespace lapsum::cpu {
namespace {

using test::allowed;
using test::Guarded;
using test::within;

constexpr std::ptrdiff_t kLengths[] = {1, 2, 3, 5, 15, 16, 17, 33, 64, 97, 256, 257, 512};
constexpr double kAlphas[] = {1e-6, 1e-4, 1e-2, 0.1, 1, 100, 1e6};

// A row with its level and softness, and where the lanes put the result.
struct Problem {
  std::vector<float> x;
  double sign, k, alpha;
};

struct Answer {
  Threshold b;
  bool solved;
  std::vector<float> p;
  float below, above;
};

const test::Family kMore[] = {
    {"mostly zeros",
     [](test::Draw& draw, auto, auto) { return draw.uniform() < 0.99 ? 0 : draw.normal(); }},
    {"heavy tails", [](test::Draw& draw, auto, auto) { return draw.normal() / draw.normal(); }},
    {"skewed", [](test::Draw& draw, auto, auto) { return std::exp(3 * draw.normal()); }},
};

std::vector<Problem> problems(const test::Family& family, std::ptrdiff_t n) {
  const auto size = static_cast<double>(n);
  std::vector<Problem> out;
  for (const double alpha : kAlphas) {
    for (const double k : {std::floor(size / 2), size / 2 + 0.3, 0.3, 1e-3, 1.0, size - 0.25}) {
      if (!(k > 0 && k < size)) continue;
      test::Draw draw(static_cast<unsigned>(out.size()) + 1);
      std::vector<float> x;
      for (std::ptrdiff_t i = 0; i < n; ++i) {
        x.push_back(static_cast<float>(family.element(draw, i, n)));
      }
      // Whatever the family's unit is.
      float most = 0;
      for (const float v : x) most = std::max(most, std::abs(v - x[0]));
      const double unit = most > 0 && most < 1e3f ? 1 : std::max(1e-30, 0.3 * double(most));
      out.push_back({std::move(x), out.size() % 2 ? 1.0 : -1.0, k, alpha * unit});
    }
  }
  return out;
}

std::vector<Answer> solve(std::span<const Problem> problems, std::ptrdiff_t n, Layout layout,
                          bool with_masks = true) {
  const auto count = static_cast<std::ptrdiff_t>(problems.size());
  Guarded<float> x(count * n), p(count * n);
  std::vector<Lane<float>> lanes;
  for (std::ptrdiff_t i = 0; i < count; ++i) {
    const Problem& problem = problems[static_cast<std::size_t>(i)];
    std::copy(problem.x.begin(), problem.x.end(), x.data() + i * n);
    float* to = with_masks ? p.data() + i * n : nullptr;
    lanes.push_back({x.data() + i * n, problem.sign, problem.k, problem.alpha, to});
  }
  Arena arena;
  solve_lanes(std::span(lanes), n, arena, layout);
  std::vector<Answer> out;
  for (std::ptrdiff_t i = 0; i < count; ++i) {
    const Lane<float>& lane = lanes[static_cast<std::size_t>(i)];
    out.push_back(
        {lane.b, lane.solved, {p.data() + i * n, p.data() + (i + 1) * n}, lane.below, lane.above});
  }
  return out;
}

// What the search in double says, and the mask there.
std::pair<Threshold, std::vector<double>> expected(const Problem& problem) {
  const std::vector<double> x(problem.x.begin(), problem.x.end());
  const std::ptrdiff_t n = std::ssize(x);
  Threshold b;
  std::vector<double> p(x.size());
  Arena arena;
  solve_thresholds(x.data(), n, problem.sign, {&problem.k, 1}, problem.alpha, {&b, 1}, arena, 1);
  cdf_at(x.data(), n, problem.sign, b, problem.alpha, p.data());
  return {b, p};
}

// body(problems, n): as many as are solved together, of every family and length.
template <class Body>
void for_each_tile(Body&& body) {
  const auto on_family = [&](const test::Family& family) {
    for (const std::ptrdiff_t n : kLengths) {
      SCOPED_TRACE(testing::Message() << family.name << ", n = " << n);
      const std::vector<Problem> all = problems(family, n);
      const auto most = static_cast<std::size_t>(lane_rows());
      for (std::size_t i = 0; i < all.size(); i += most) {
        body(std::span(all).subspan(i, std::min(most, all.size() - i)), n);
      }
    }
  };
  for (const test::Family& family : test::kFamilies) on_family(family);
  for (const test::Family& family : kMore) on_family(family);
}

// Instruction sets on which there are lanes.
template <class Body>
void for_each_laned_target(Body&& body) {
  test::for_each_target([&] {
    if (lane_rows() > 0) body();
  });
}

TEST(Lanes, are_the_row_by_row_result) {
  for_each_laned_target([] {
    for_each_tile([](std::span<const Problem> tile, std::ptrdiff_t n) {
      const std::vector<Answer> got = solve(tile, n, Layout::tile);
      for (std::size_t i = 0; i < tile.size(); ++i) {
        if (!got[i].solved) continue;
        const Problem& problem = tile[i];
        SCOPED_TRACE(testing::Message() << "k = " << problem.k << ", alpha = " << problem.alpha);
        const auto [b, p] = expected(problem);
        long double sum = 0;
        for (std::size_t j = 0; j < p.size(); ++j) {
          sum += got[i].p[j];
          ASSERT_TRUE(within(got[i].p[j], p[j], allowed("soft_topk", "float32", "value")));
        }
        ASSERT_TRUE(
            within(sum, problem.k, allowed("soft_topk", "float32", "sum", {{"k", problem.k}})));
        // An error of z is one of log p, and more than any of p.
        const long double z = (got[i].b.anchor - b.anchor + (got[i].b.offset - b.offset)) /
                              static_cast<long double>(problem.alpha);
        ASSERT_TRUE(within(z, 0, allowed("log_soft_topk", "float32", "value", {{"1+y", 0.2}})));
      }
    });
  });
}

TEST(Lanes, solve_rows_of_every_family) {
  for_each_laned_target([] {
    std::size_t all = 0, solved = 0;
    for_each_tile([&](std::span<const Problem> tile, std::ptrdiff_t n) {
      for (const Answer& answer : solve(tile, n, Layout::tile, false)) solved += answer.solved;
      all += tile.size();
    });
    EXPECT_GT(solved, all / 2);
    std::vector<Problem> usual = problems(test::family("normal"), 64);
    std::erase_if(usual, [](const Problem& problem) { return problem.alpha < 1e-4; });
    const auto most = static_cast<std::size_t>(lane_rows());
    for (std::size_t i = 0; i + most <= usual.size(); i += most) {
      for (const Answer& answer : solve(std::span(usual).subspan(i, most), 64, Layout::tile)) {
        EXPECT_TRUE(answer.solved || answer.below < answer.above);
      }
    }
  });
}

TEST(Lanes, have_the_same_bits_for_a_row_alone_and_among_others) {
  for_each_laned_target([] {
    for_each_tile([](std::span<const Problem> tile, std::ptrdiff_t n) {
      const std::vector<Answer> all = solve(tile, n, Layout::tile);
      const auto expect = [&](const std::vector<Answer>& part, std::size_t first) {
        for (std::size_t i = 0; i < part.size(); ++i) {
          const Answer& want = all[first + i];
          ASSERT_EQ(part[i].solved, want.solved);
          ASSERT_EQ(part[i].below, want.below);
          ASSERT_EQ(part[i].above, want.above);
          if (!want.solved) continue;
          ASSERT_EQ(part[i].b.anchor, want.b.anchor);
          ASSERT_EQ(part[i].b.offset, want.b.offset);
          ASSERT_TRUE(test::same_bits(part[i].p, want.p));
        }
      };
      expect(solve(tile, n, Layout::alone), 0);
      for (std::size_t i = 0; i < tile.size(); ++i) {
        expect(solve(tile.subspan(i, 1), n, Layout::tile), i);
      }
      const std::size_t half = tile.size() / 2;
      expect(solve(tile.subspan(half), n, Layout::shorter), half);
    });
  });
}

// Seventh powers of normal numbers lie so unevenly that the rough search may leave a long way to go.
TEST(Lanes, take_as_many_exact_steps_as_they_need) {
  constexpr std::ptrdiff_t kLength = 333;
  for_each_laned_target([] {
    test::Draw draw(7);
    for (int tile = 0; tile < 40; ++tile) {
      std::vector<Problem> rows;
      for (std::ptrdiff_t l = 0; l < lane_rows(); ++l) {
        std::vector<float> x;
        for (std::ptrdiff_t i = 0; i < kLength; ++i) {
          x.push_back(static_cast<float>(std::pow(draw.normal(), 7)));
        }
        rows.push_back({std::move(x), 1, 0.77 * kLength, 1e-4});
      }
      const std::vector<Answer> got = solve(rows, kLength, Layout::tile);
      for (std::size_t i = 0; i < rows.size(); ++i) {
        if (!got[i].solved) continue;
        const std::vector<double> p = expected(rows[i]).second;
        for (std::size_t j = 0; j < p.size(); ++j) {
          ASSERT_TRUE(within(got[i].p[j], p[j], allowed("soft_topk", "float32", "value")));
        }
      }
    }
  });
}

TEST(Lanes, tell_the_ends_of_wide_gaps) {
  for_each_laned_target([] {
    int gaps = 0;
    for_each_tile([&](std::span<const Problem> tile, std::ptrdiff_t n) {
      const std::vector<Answer> got = solve(tile, n, Layout::tile);
      for (std::size_t i = 0; i < tile.size(); ++i) {
        if (got[i].solved || !(got[i].below < got[i].above)) continue;
        const Problem& problem = tile[i];
        SCOPED_TRACE(testing::Message() << "k = " << problem.k << ", alpha = " << problem.alpha);
        Arena arena;
        Threshold b;
        ASSERT_TRUE(solve_between(problem.x.data(), n, problem.sign, got[i].below, got[i].above,
                                  problem.k, problem.alpha, b, arena));
        const Threshold want = expected(problem).first;
        const long double z = (b.anchor - want.anchor + (b.offset - want.offset)) /
                              static_cast<long double>(problem.alpha);
        ASSERT_TRUE(within(z, 0, allowed("log_soft_topk", "float32", "value", {{"1+y", 0.2}})));
        ++gaps;
      }
    });
    EXPECT_GT(gaps, 50);
  });
}

TEST(Lanes, leave_to_others_what_is_not_finite_or_saturated) {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
  const std::vector<float> plain = {1, 2, 3, 4, 5};
  std::vector<float> holed = plain, ended = plain;
  holed[2] = std::numeric_limits<float>::quiet_NaN();
  ended[4] = -std::numeric_limits<float>::infinity();
  const std::vector<Problem> all = {
      {plain, 1, 2, 1},     {holed, 1, 2, 1},  {ended, 1, 2, 1},    {plain, 1, 0, 1},
      {plain, 1, -1, 1},    {plain, 1, 5, 1},  {plain, 1, 7, 1},    {plain, 1, kNaN, 1},
      {plain, 1, kInf, 1},  {plain, 1, 2, 0},  {plain, 1, 2, kNaN}, {plain, 1, 2, kInf},
      {plain, 1, 2, 1e-80}, {plain, -1, 2, 1},
  };
  for_each_laned_target([&] {
    const auto most = static_cast<std::size_t>(lane_rows());
    for (std::size_t first = 0; first + most <= all.size() || first == 0; first += most) {
      const std::size_t count = std::min(most, all.size() - first);
      const std::vector<Answer> got = solve(std::span(all).subspan(first, count), 5, Layout::tile);
      for (std::size_t i = 0; i < count; ++i) {
        const bool usual = first + i == 0 || first + i + 1 == all.size();
        EXPECT_EQ(got[i].solved, usual) << "problem " << first + i;
      }
    }
  });
}

}  // namespace
}  // namespace lapsum::cpu
