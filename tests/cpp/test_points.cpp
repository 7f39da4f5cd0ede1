// Points in a sorted row: where they lie, what they see (gather), what sees them (scatter), and the
// roots of levels.
#include <gtest/gtest.h>

#include "bits.h"
#include "cpu/primitives/points.h"
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
using test::within;

constexpr double kInf = std::numeric_limits<double>::infinity();

std::vector<double> sorted_row(const test::Family& family, std::ptrdiff_t n) {
  std::vector<double> row = family.row(n);
  std::sort(row.begin(), row.end());
  return row;
}

// Points on values, between them and outside, in no order.
std::vector<double> points_around(const std::vector<double>& r, std::ptrdiff_t m) {
  Draw draw(9);
  std::vector<double> x(static_cast<std::size_t>(m));
  for (double& v : x) {
    const auto pick = static_cast<std::size_t>(draw.below(std::ssize(r)));
    v = r.empty() ? draw.normal() : r[pick] + (draw.uniform() < 0.3 ? 0 : draw.normal());
  }
  return x;
}

Real power(Real z, int p) {
  Real out = std::exp(-z);
  for (; p > 0; --p) out *= z;
  return out;
}

// A sum with the sum of its absolute terms.
struct Sum {
  Real value = 0, size = 0;
  void add(Real term) {
    value += term;
    size += std::abs(term);
  }
  testing::AssertionResult is(Real got, const char* operation) const {
    return within(got, value, allowed(operation, "float64", "value", {{"sum|terms|", size}}));
  }
};

template <int Order>
void expect_gather_and_scatter(const std::vector<double>& r, const std::vector<double>& x,
                               double alpha) {
  Draw draw(3);
  const std::vector<double> w = draw.normals(std::ssize(r));
  const std::vector<double> u = draw.normals(std::ssize(x));
  Arena arena;
  const Decays decays = make_decays(r, alpha, arena, 1);
  Weights<Order> weights{};
  weights[0] = w;
  const Scans<Order> scans = scan_both<Order>(decays, weights, arena, 1);
  const std::span<const Point> points = locate(decays, x, true, arena, 1);
  for (std::size_t t = 0; t < x.size(); ++t) {
    Sum left, right;
    for (std::size_t i = 0; i < r.size(); ++i) {
      const Real z = (Real(x[t]) - r[i]) / alpha;
      (z >= 0 ? left : right).add(w[i] * power(std::abs(z), Order));
    }
    const Sides got = gather(scans, points[t]);
    ASSERT_TRUE(left.is(got.left, "gather")) << "order " << Order << ", point " << x[t];
    ASSERT_TRUE(right.is(got.right, "gather")) << "order " << Order << ", point " << x[t];
  }
  if constexpr (Order <= 1) {
    const Scans<Order> seen = scatter<Order>(decays, points, u, arena, 1);
    Sum there_left, there_right, back_left, back_right;
    for (std::size_t i = 0; i < r.size(); ++i) {
      Sum left, right;
      for (std::size_t t = 0; t < x.size(); ++t) {
        const Real z = (Real(x[t]) - r[i]) / alpha;
        (z >= 0 ? left : right).add(u[t] * power(std::abs(z), Order));
      }
      ASSERT_TRUE(left.is(seen.left[Order][i], "scatter")) << "order " << Order << ", value " << i;
      ASSERT_TRUE(right.is(seen.right[Order][i], "scatter"))
          << "order " << Order << ", value " << i;
      back_left.add(Real(w[i]) * seen.left[Order][i]);
      back_right.add(Real(w[i]) * seen.right[Order][i]);
    }
    for (std::size_t t = 0; t < x.size(); ++t) {
      const Sides sides = gather(scans, points[t]);
      there_left.add(Real(u[t]) * sides.left);
      there_right.add(Real(u[t]) * sides.right);
    }
    there_left.size += back_left.size;
    there_right.size += back_right.size;
    EXPECT_TRUE(there_left.is(back_left.value, "gather")) << "adjoint";
    EXPECT_TRUE(there_right.is(back_right.value, "gather")) << "adjoint";
  }
}

TEST(Points, gather_and_scatter_are_their_sums_and_adjoint) {
  test::for_each_target([] {
    for (const std::ptrdiff_t n : test::kShortLengths) {
      const std::vector<double> r = sorted_row(test::family(n % 2 ? "normal" : "ties"), n);
      for (const std::ptrdiff_t m :
           {std::ptrdiff_t{0}, std::ptrdiff_t{1}, std::min(n, std::ptrdiff_t{40})}) {
        for (const double alpha : {0.05, 1.0, 1e3}) {
          SCOPED_TRACE(testing::Message() << n << " values, " << m << " points, alpha " << alpha);
          const std::vector<double> x = points_around(r, m);
          expect_gather_and_scatter<0>(r, x, alpha);
          expect_gather_and_scatter<1>(r, x, alpha);
          expect_gather_and_scatter<2>(r, x, alpha);
          expect_gather_and_scatter<3>(r, x, alpha);
        }
      }
    }
  });
}

TEST(Points, locate_counts_ties_on_the_side_it_is_told) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<double> r = {-1, 0, 0, 0, 2};
  const std::vector<double> x = {0, kInf, 2, -3, nan, -0.0, 1, -kInf, 5};
  Arena arena;
  const Decays decays = make_decays(r, 1, arena, 1);
  const std::span<const Point> left = locate(decays, x, true, arena, 1);
  const std::span<const Point> right = locate(decays, x, false, arena, 1);
  const std::ptrdiff_t ties_left[] = {3, -1, 4, -1, -1, 3, 3, -1, 4};
  const std::ptrdiff_t ties_right[] = {0, -1, 3, -1, -1, 0, 3, -1, 4};
  for (std::size_t t = 0; t < x.size(); ++t) {
    EXPECT_EQ(left[t].j, ties_left[t]) << "x = " << x[t];
    EXPECT_EQ(right[t].j, ties_right[t]) << "x = " << x[t];
    if (std::isnan(x[t])) {
      EXPECT_TRUE(std::isnan(left[t].left_weight) && std::isnan(left[t].right_weight));
    } else if (std::isinf(x[t])) {
      EXPECT_EQ(left[t].left_weight, 0);
      EXPECT_EQ(left[t].right_weight, 0);
    }
  }
  EXPECT_EQ(left[0].left_weight, 1);
  EXPECT_EQ(right[0].right_weight, 1);
}

TEST(Points, locate_finds_every_point_of_a_long_row) {
  const std::vector<double> r = sorted_row(test::family("ties"), 100003);
  std::vector<double> x = points_around(r, 100003);
  for (const bool in_order : {false, true}) {
    if (in_order) std::sort(x.begin(), x.end());
    Arena arena;
    const Decays decays = make_decays(r, 1, arena, 2);
    const std::span<const Point> points = locate(decays, x, true, arena, 2);
    for (std::size_t t = 0; t < x.size(); ++t) {
      ASSERT_EQ(points[t].j, std::upper_bound(r.begin(), r.end(), x[t]) - r.begin() - 1);
    }
  }
}

void expect_roots(const std::vector<double>& r, const std::vector<double>& k, double alpha,
                  std::ptrdiff_t step, int threads) {
  const std::vector<Real> row(r.begin(), r.end());
  test::Guarded<double> levels(k);
  Arena arena;
  const Decays decays = make_decays(r, alpha, arena, threads);
  const Scans<0> ones = scan_both<0>(decays, {}, arena, threads);
  const Roots roots = solve_levels(decays, ones, RowLevels(levels.span()), arena, threads);
  const std::span<const Point> points = root_points(decays, roots, arena, threads);
  for (std::size_t t = 0; t < k.size(); t += static_cast<std::size_t>(step)) {
    SCOPED_TRACE(testing::Message() << "k = " << k[t]);
    const reference::Root<Real> want = reference::root<Real>(row, k[t], alpha);
    const Real z = (Real(roots.b[t].anchor) - want.anchor + roots.b[t].offset) / alpha;
    EXPECT_TRUE(
        within(z, want.z, allowed("threshold", "float64", "z", {{"z", 1 + std::abs(want.z)}})));
    const Point& point = points[t];
    ASSERT_GE(point.j, -1);
    ASSERT_LT(point.j, decays.size());
    Sum total;
    for (const Real v : row) total.add(std::exp(-std::abs(want.from(v, alpha))));
    EXPECT_TRUE(within(
        point.scale, total.value,
        allowed("root", "float64", "scale", {{"y", total.value}, {"z", 1 + std::abs(want.z)}})));
    Sum one;
    one.add(1);
    EXPECT_TRUE(one.is(gather(ones, point).even(), "gather")) << "weights do not sum to 1";
  }
}

TEST(Points, roots_are_those_of_the_levels) {
  test::for_each_target([] {
    for (const test::Family& family : test::kFamilies) {
      for (const std::ptrdiff_t n : {1, 2, 9, 33}) {
        for (const double alpha : {1e-3, 1.0, 1e3}) {
          SCOPED_TRACE(testing::Message() << family.name << ", n = " << n << ", alpha = " << alpha);
          std::vector<double> k;
          for (std::ptrdiff_t l = n; l-- > 0;) {
            k.push_back(static_cast<double>(l) + 0.5);
            if (l > 0) k.push_back(static_cast<double>(l));
          }
          expect_roots(sorted_row(family, n), k, alpha, 1, 1);
        }
      }
    }
  });
}

TEST(Points, roots_of_a_long_row) {
  std::vector<double> k(100003);
  for (std::size_t l = 0; l < k.size(); ++l) k[l] = static_cast<double>(l) + 0.5;
  for (const char* name : {"normal", "ties", "clusters", "outlier"}) {
    SCOPED_TRACE(name);
    expect_roots(sorted_row(test::family(name), 100003), k, 0.1, 50001, 2);
  }
}

// Steps are marked, others searched for.
TEST(Points, levels_in_steps_have_the_roots_of_the_same_numbers) {
  const auto numbers = [](const Decays& decays, const RowLevels& k, Arena& arena) {
    const Scans<0> ones = scan_both<0>(decays, {}, arena, 2);
    const Roots roots = solve_levels(decays, ones, k, arena, 2);
    const std::span<const Point> points = root_points(decays, roots, arena, 2);
    std::vector<double> out;
    for (std::size_t t = 0; t < roots.b.size(); ++t) {
      const Point& p = points[t];
      out.insert(out.end(), {roots.b[t].anchor, roots.b[t].offset, static_cast<double>(p.j),
                             p.left_z, p.right_z, p.left_weight, p.right_weight, p.scale});
    }
    return out;
  };
  test::for_each_target([&] {
    for (const test::Family& family : test::kFamilies) {
      for (const std::ptrdiff_t n : {1, 2, 9, 300, 20011}) {
        for (const double first : {0.5, 1.0, 0.0, -3.5, 0.3}) {
          SCOPED_TRACE(testing::Message() << family.name << ", n = " << n << ", from " << first);
          const std::vector<double> r = sorted_row(family, n);
          std::vector<double> k(r.size());
          std::iota(k.begin(), k.end(), first);
          Arena arena;
          const Decays decays = make_decays(r, 0.1, arena, 2);
          ASSERT_TRUE(test::same_bits(numbers(decays, RowLevels::in_steps(first, n), arena),
                                      numbers(decays, RowLevels(k), arena)));
        }
      }
    }
  });
}

TEST(Points, levels_outside_have_infinite_roots_and_see_nothing) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<double> r = {1, 2};
  const std::vector<double> k = {2, 0, nan, -1, 7, 1};
  const double b[] = {kInf, -kInf, nan, -kInf, kInf, 1.5};
  Arena arena;
  const Decays decays = make_decays(r, 1, arena, 1);
  const Scans<0> ones = scan_both<0>(decays, {}, arena, 1);
  const Roots roots = solve_levels(decays, ones, RowLevels(k), arena, 1);
  const std::span<const Point> points = root_points(decays, roots, arena, 1);
  for (std::size_t t = 0; t < k.size(); ++t) {
    EXPECT_TRUE(within(roots.b[t].anchor + roots.b[t].offset, b[t], 0)) << "k = " << k[t];
    const double seen = gather(ones, points[t]).even();
    EXPECT_TRUE(within(seen, std::isnan(k[t]) ? nan : std::isinf(b[t]) ? 0 : 1, 0)) << k[t];
  }
}

TEST(Points, have_the_same_bits_for_any_thread_count) {
  const std::vector<double> r = sorted_row(test::family("normal"), 100003);
  const std::vector<double> x = points_around(r, 100003);
  std::vector<std::vector<double>> runs;
  for (const int threads : {1, 2, 3}) {
    Arena arena;
    const Decays decays = make_decays(r, 0.1, arena, threads);
    const Scans<0> ones = scan_both<0>(decays, {}, arena, threads);
    const std::span<const Point> points = locate(decays, x, true, arena, threads);
    const Scans<1> seen = scatter<1>(decays, points, x, arena, threads);
    std::vector<double> run;
    for (const Point& point : points) run.push_back(gather(ones, point).odd());
    for (const Threshold& b : solve_levels(decays, ones, RowLevels(x), arena, threads).b) {
      run.insert(run.end(), {b.anchor, b.offset});
    }
    for (int p = 0; p <= 1; ++p) {
      run.insert(run.end(), seen.left[p].begin(), seen.left[p].end());
      run.insert(run.end(), seen.right[p].begin(), seen.right[p].end());
    }
    runs.push_back(run);
  }
  EXPECT_TRUE(test::same_bits(runs[1], runs[0]));
  EXPECT_TRUE(test::same_bits(runs[2], runs[0]));
}

}  // namespace
}  // namespace lapsum::cpu
