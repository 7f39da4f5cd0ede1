// Rows solved several at a time: against bisection in long double, at every instruction set and
// family; and the same bits for a row alone and among others, whichever way they are laid out.
#include <gtest/gtest.h>
#include <lapsum/lapsum.h>

#include "bits.h"
#include "cpu/primitives/laned_rows.h"
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
using test::Guarded;
using test::kDtype;
using test::within;

constexpr std::ptrdiff_t kLengths[] = {1, 2, 3, 5, 15, 16, 17, 33, 64, 97, 257, 512, 1024};
constexpr double kAlphas[] = {1e-6, 1e-4, 1e-2, 0.1, 1, 100, 1e6};

// A row with its level and softness, and where the lanes put the result.
template <class T>
struct Problem {
  std::vector<T> x;
  double sign, k, alpha;
};

template <class T>
struct Answer {
  Threshold b;
  bool solved;
  std::vector<T> p;
  T below, above;
};

const test::Family kMore[] = {
    {"mostly zeros",
     [](test::Draw& draw, auto, auto) { return draw.uniform() < 0.99 ? 0 : draw.normal(); }},
    {"heavy tails", [](test::Draw& draw, auto, auto) { return draw.normal() / draw.normal(); }},
    {"skewed", [](test::Draw& draw, auto, auto) { return std::exp(3 * draw.normal()); }},
};

template <class T>
std::vector<Problem<T>> problems(const test::Family& family, std::ptrdiff_t n) {
  const auto size = static_cast<double>(n);
  std::vector<Problem<T>> out;
  for (const double alpha : kAlphas) {
    for (const double k : {std::floor(size / 2), size / 2 + 0.3, 0.3, 1e-3, 1.0, size - 0.25}) {
      if (!(k > 0 && k < size)) continue;
      test::Draw draw(static_cast<unsigned>(out.size()) + 1);
      std::vector<T> x;
      for (std::ptrdiff_t i = 0; i < n; ++i) {
        x.push_back(static_cast<T>(family.element(draw, i, n)));
      }
      // Whatever the family's unit is.
      T most = 0;
      for (const T v : x) most = std::max(most, std::abs(v - x[0]));
      const double unit = most > 0 && most < 1e3f ? 1 : std::max(1e-30, 0.3 * double(most));
      out.push_back({std::move(x), out.size() % 2 ? 1.0 : -1.0, k, alpha * unit});
    }
  }
  return out;
}

template <class T>
std::vector<Answer<T>> solve(std::span<const Problem<T>> problems, std::ptrdiff_t n, Layout layout,
                             bool with_masks = true) {
  const auto count = static_cast<std::ptrdiff_t>(problems.size());
  Guarded<T> x(count * n), p(count * n);
  std::vector<Lane<T>> lanes;
  for (std::ptrdiff_t i = 0; i < count; ++i) {
    const Problem<T>& problem = problems[static_cast<std::size_t>(i)];
    std::copy(problem.x.begin(), problem.x.end(), x.data() + i * n);
    T* to = with_masks ? p.data() + i * n : nullptr;
    lanes.push_back({x.data() + i * n, problem.sign, problem.k, problem.alpha, to});
  }
  Arena arena;
  solve_lanes(std::span(lanes), n, arena, layout);
  std::vector<Answer<T>> out;
  for (std::ptrdiff_t i = 0; i < count; ++i) {
    const Lane<T>& lane = lanes[static_cast<std::size_t>(i)];
    out.push_back(
        {lane.b, lane.solved, {p.data() + i * n, p.data() + (i + 1) * n}, lane.below, lane.above});
  }
  return out;
}

// The row as kernels see it, and its root.
template <class T>
struct Expected {
  explicit Expected(const Problem<T>& problem) : alpha(problem.alpha) {
    for (const T v : problem.x) r.push_back(Real(problem.sign) * v);
    root = reference::root<Real>(r, problem.k, alpha);
  }

  // An error of z is one of log p, and more than any of p.
  testing::AssertionResult meets(const Threshold& b) const {
    const Real z = (Real(b.anchor) - root.anchor + b.offset) / alpha;
    const Real limit = sizeof(T) == sizeof(float)
                           ? allowed("log_soft_topk", "float32", "value", {{"1+y", 0.2}})
                           : allowed("threshold", "float64", "z", {{"z", 1 + std::abs(root.z)}});
    return within(z, root.z, limit);
  }
  testing::AssertionResult meets(T p, std::size_t j) const {
    return within(p, reference::cdf(root.from(r[j], alpha)),
                  allowed("soft_topk", kDtype<T>, "value"));
  }

  Real alpha;
  std::vector<Real> r;
  reference::Root<Real> root;
};

// body(tile): as many as are solved together.
template <class T, class Body>
void in_tiles(std::span<const Problem<T>> all, Body&& body) {
  const auto most = static_cast<std::size_t>(lane_rows());
  for (std::size_t i = 0; i < all.size(); i += most) {
    body(all.subspan(i, std::min(most, all.size() - i)));
  }
}

// body(tile, n) for problems of every family and length.
template <class T, class Body>
void for_each_tile(Body&& body) {
  const auto on_family = [&](const test::Family& family) {
    for (const std::ptrdiff_t n : kLengths) {
      SCOPED_TRACE(testing::Message() << family.name << ", n = " << n);
      in_tiles<T>(problems<T>(family, n), [&](auto tile) { body(tile, n); });
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

template <class T>
class Lanes : public testing::Test {};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(Lanes, Types);

TYPED_TEST(Lanes, are_the_root_and_the_mask) {
  for_each_laned_target([] {
    for_each_tile<TypeParam>([](std::span<const Problem<TypeParam>> tile, std::ptrdiff_t n) {
      const std::vector<Answer<TypeParam>> got = solve(tile, n, Layout::tile);
      for (std::size_t i = 0; i < tile.size(); ++i) {
        if (!got[i].solved) continue;
        const Problem<TypeParam>& problem = tile[i];
        SCOPED_TRACE(testing::Message() << "k = " << problem.k << ", alpha = " << problem.alpha);
        const Expected<TypeParam> want(problem);
        long double sum = 0;
        for (std::size_t j = 0; j < problem.x.size(); ++j) {
          sum += got[i].p[j];
          ASSERT_TRUE(want.meets(got[i].p[j], j));
        }
        ASSERT_TRUE(within(sum, problem.k,
                           allowed("soft_topk", kDtype<TypeParam>, "sum", {{"k", problem.k}})));
        ASSERT_TRUE(want.meets(got[i].b));
      }
    });
  });
}

TYPED_TEST(Lanes, solve_rows_of_every_family) {
  for_each_laned_target([] {
    std::size_t all = 0, solved = 0;
    for_each_tile<TypeParam>([&](std::span<const Problem<TypeParam>> tile, std::ptrdiff_t n) {
      for (const Answer<TypeParam>& answer : solve(tile, n, Layout::tile, false))
        solved += answer.solved;
      all += tile.size();
    });
    EXPECT_GT(solved, all / 2);
    std::vector<Problem<TypeParam>> usual = problems<TypeParam>(test::family("normal"), 64);
    // Wide gaps are not told of rows of double.
    const double least = sizeof(TypeParam) == sizeof(float) ? 1e-4 : 1e-2;
    std::erase_if(usual, [&](const auto& problem) { return problem.alpha < least; });
    const auto most = static_cast<std::size_t>(lane_rows());
    for (std::size_t i = 0; i + most <= usual.size(); i += most) {
      for (const Answer<TypeParam>& answer :
           solve<TypeParam>(std::span(usual).subspan(i, most), 64, Layout::tile)) {
        EXPECT_TRUE(answer.solved || answer.below < answer.above);
      }
    }
  });
}

TYPED_TEST(Lanes, have_the_same_bits_for_a_row_alone_and_among_others) {
  for_each_laned_target([] {
    for_each_tile<TypeParam>([](std::span<const Problem<TypeParam>> tile, std::ptrdiff_t n) {
      const std::vector<Answer<TypeParam>> all = solve(tile, n, Layout::tile);
      const auto expect = [&](const std::vector<Answer<TypeParam>>& part, std::size_t first) {
        for (std::size_t i = 0; i < part.size(); ++i) {
          const Answer<TypeParam>& want = all[first + i];
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
TYPED_TEST(Lanes, take_as_many_exact_steps_as_they_need) {
  constexpr std::ptrdiff_t kLength = 333;
  for_each_laned_target([] {
    test::Draw draw(7);
    for (int tile = 0; tile < 40; ++tile) {
      std::vector<Problem<TypeParam>> rows;
      for (std::ptrdiff_t l = 0; l < lane_rows(); ++l) {
        std::vector<TypeParam> x;
        for (std::ptrdiff_t i = 0; i < kLength; ++i) {
          x.push_back(static_cast<TypeParam>(std::pow(draw.normal(), 7)));
        }
        rows.push_back({std::move(x), 1, 0.77 * kLength, 1e-4});
      }
      const std::vector<Answer<TypeParam>> got = solve<TypeParam>(rows, kLength, Layout::tile);
      for (std::size_t i = 0; i < rows.size(); ++i) {
        if (!got[i].solved) continue;
        const Expected<TypeParam> want(rows[i]);
        for (std::size_t j = 0; j < rows[i].x.size(); ++j) {
          ASSERT_TRUE(want.meets(got[i].p[j], j));
        }
      }
    }
  });
}

// Thresholds up to 2^20 steps from zero are left to float lanes, where the instruction set has them, and
// farther ones to double lanes: rows on both sides of that, and the same row moved from one to the other.
TYPED_TEST(Lanes, are_right_at_any_distance_from_zero) {
  using T = TypeParam;
  constexpr std::ptrdiff_t kLength = 100;
  for_each_laned_target([] {
    std::vector<Problem<T>> rows;
    for (const double far : {0.0, 1e2, 4.5e2, 9e2, 1e3, 4e3, 1e5}) {
      for (const double side : {-1.0, 1.0}) {
        test::Draw draw(3);
        std::vector<T> x;
        // Digits that a float has at 1e5.
        for (std::ptrdiff_t i = 0; i < kLength; ++i) {
          x.push_back(static_cast<T>(side * far + 0.0625 * std::round(16 * draw.normal())));
        }
        rows.push_back({std::move(x), 1, 31.4, 0.01});
      }
    }
    in_tiles<T>(rows, [&](std::span<const Problem<T>> tile) {
      const std::vector<Answer<T>> got = solve(tile, kLength, Layout::tile);
      for (std::size_t i = 0; i < tile.size(); ++i) {
        SCOPED_TRACE(testing::Message() << "first value " << tile[i].x[0]);
        ASSERT_TRUE(got[i].solved);
        const Expected<T> want(tile[i]);
        ASSERT_TRUE(want.meets(got[i].b));
        for (std::size_t j = 0; j < tile[i].x.size(); ++j) ASSERT_TRUE(want.meets(got[i].p[j], j));
      }
    });
  });
}

// Half way through a gap little is left of decays, and a k that is all but whole is far from there.
TYPED_TEST(Lanes, are_right_in_gaps_of_every_width_about_whole_levels) {
  using T = TypeParam;
  constexpr std::ptrdiff_t kLength = 20;
  for_each_laned_target([] {
    for (double off : {0.0, 1e-14, 1e-12, 1e-10, 1e-9, 3e-8, 1e-7, 3e-7, 1e-6, 1e-5}) {
      for (const double side : {-1.0, 1.0}) {
        std::vector<Problem<T>> rows;
        for (double gap = 1; gap < 1500; gap += gap < 60                 ? 1.3
                                                : gap < 680 || gap > 780 ? 41
                                                                         : 2.3) {
          std::vector<T> x(kLength, T(-0.25));  // ties, so that the root is not half way
          x[0] = T(0.5);
          x[2] = T(1.5);
          x[5] = T(-40);  // against which alpha is small
          rows.push_back({std::move(x), 1, kLength - 2 + side * off, 0.75 / gap});
        }
        in_tiles<T>(rows, [&](std::span<const Problem<T>> tile) {
          const std::vector<Answer<T>> got = solve(tile, kLength, Layout::tile);
          for (std::size_t i = 0; i < tile.size(); ++i) {
            SCOPED_TRACE(testing::Message()
                         << "off " << side * off << ", gap " << 0.75 / tile[i].alpha);
            const Expected<T> want(tile[i]);
            std::vector<T> p = got[i].p;
            if (!got[i].solved) {
              if (!(got[i].below < got[i].above)) continue;
              Threshold b;
              const Orientation o(tile[i].alpha, Order::ascending);
              choose_below(MaskedRow<T>{tile[i].x.data(), kLength, o, {&b, 1}}, got[i].below,
                           p.data());
            } else {
              ASSERT_TRUE(want.meets(got[i].b));
            }
            for (std::size_t j = 0; j < p.size(); ++j) ASSERT_TRUE(want.meets(p[j], j));
          }
        });
      }
    }
  });
}

TYPED_TEST(Lanes, tell_the_ends_of_wide_gaps) {
  for_each_laned_target([] {
    int gaps = 0;
    for_each_tile<TypeParam>([&](std::span<const Problem<TypeParam>> tile, std::ptrdiff_t n) {
      const std::vector<Answer<TypeParam>> got = solve(tile, n, Layout::tile);
      for (std::size_t i = 0; i < tile.size(); ++i) {
        if (got[i].solved || !(got[i].below < got[i].above)) continue;
        const Problem<TypeParam>& problem = tile[i];
        SCOPED_TRACE(testing::Message() << "k = " << problem.k << ", alpha = " << problem.alpha);
        Arena arena;
        Threshold b;
        ASSERT_TRUE(solve_between(problem.x.data(), n, problem.sign, got[i].below, got[i].above,
                                  problem.k, problem.alpha, b, arena));
        ASSERT_TRUE(Expected<TypeParam>(problem).meets(b));
        ++gaps;
      }
    });
    // Of rows of double the ends are not known.
    EXPECT_EQ(gaps > 50, sizeof(TypeParam) == sizeof(float)) << gaps;
  });
}

TYPED_TEST(Lanes, do_not_mix_the_alphas_of_a_batch) {
  using T = TypeParam;
  constexpr std::ptrdiff_t kLength = kLaneLength - 5;
  const std::vector<double> alphas = {0.5, 1e-3, 0.2, 1e-4, 1e-3, 30, 0.01, 0.1, 1e-3};
  const std::ptrdiff_t count = std::ssize(alphas);
  std::vector<T> x;
  for (const double v : test::Draw(5).normals(count * kLength)) x.push_back(static_cast<T>(v));
  const double k = 0.3 * kLength;
  for_each_laned_target([&] {
    Guarded<T> p(count * kLength), one(kLength);
    std::vector<Threshold> b(alphas.size());
    lapsum::soft_topk<T>(Rows<const T>(x.data(), count, kLength), k, PerRow(alphas.data()),
                         Rows<T>(p.data(), count, kLength), b.data(), Order::ascending, 1);
    for (std::ptrdiff_t i = 0; i < count; ++i) {
      SCOPED_TRACE(testing::Message() << "alpha = " << alphas[i]);
      const T* row = x.data() + i * kLength;
      Threshold alone;
      lapsum::soft_topk<T>(Rows<const T>(row, 1, kLength), k, alphas[i],
                           Rows<T>(one.data(), 1, kLength), &alone, Order::ascending, 1);
      const std::vector<T> mask(p.data() + i * kLength, p.data() + (i + 1) * kLength);
      ASSERT_TRUE(test::same_bits(mask, one.copy()));
      ASSERT_EQ(b[i].anchor, alone.anchor);
      ASSERT_EQ(b[i].offset, alone.offset);
      const Expected<T> want(Problem<T>{{row, row + kLength}, 1, k, alphas[i]});
      for (std::size_t j = 0; j < mask.size(); ++j) ASSERT_TRUE(want.meets(mask[j], j));
    }
  });
}

TYPED_TEST(Lanes, leave_to_others_what_is_not_finite_or_saturated) {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
  const std::vector<TypeParam> plain = {1, 2, 3, 4, 5};
  std::vector<TypeParam> holed = plain, ended = plain;
  holed[2] = std::numeric_limits<TypeParam>::quiet_NaN();
  ended[4] = -std::numeric_limits<TypeParam>::infinity();
  const std::vector<Problem<TypeParam>> all = {
      {plain, 1, 2, 1},     {holed, 1, 2, 1},  {ended, 1, 2, 1},    {plain, 1, 0, 1},
      {plain, 1, -1, 1},    {plain, 1, 5, 1},  {plain, 1, 7, 1},    {plain, 1, kNaN, 1},
      {plain, 1, kInf, 1},  {plain, 1, 2, 0},  {plain, 1, 2, kNaN}, {plain, 1, 2, kInf},
      {plain, 1, 2, 1e-80}, {plain, -1, 2, 1},
  };
  for_each_laned_target([&] {
    const auto most = static_cast<std::size_t>(lane_rows());
    for (std::size_t first = 0; first + most <= all.size() || first == 0; first += most) {
      const std::size_t count = std::min(most, all.size() - first);
      const std::vector<Answer<TypeParam>> got =
          solve<TypeParam>(std::span(all).subspan(first, count), 5, Layout::tile);
      for (std::size_t i = 0; i < count; ++i) {
        const bool usual = first + i == 0 || first + i + 1 == all.size();
        EXPECT_EQ(got[i].solved, usual) << "problem " << first + i;
      }
    }
  });
}

}  // namespace
}  // namespace lapsum::cpu
