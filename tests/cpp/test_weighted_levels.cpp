// Roots of the levels of weighted rows, what goes with them, and sums in two doubles.
#include <gtest/gtest.h>

#include "bits.h"
#include "cpu/primitives/weighted_levels.h"
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

// Weights of many sizes; a third of the elements has none.
std::vector<double> draw_weights(std::ptrdiff_t n, double decades) {
  Draw draw(5);
  std::vector<double> w(static_cast<std::size_t>(n));
  for (double& v : w) v = draw.below(3) == 0 ? 0 : std::pow(10, decades * draw.normal());
  w[0] = 1;
  return w;
}

std::vector<WeightedRoot> solve(const std::vector<double>& x, const std::vector<double>& w,
                                const std::vector<double>& k, double alpha, int threads = 1) {
  std::vector<Compensated> levels;
  for (const double level : k) levels.push_back({level, 0});
  test::Guarded<double> row(x), weights(w);
  test::Guarded<WeightedRoot> roots(std::ssize(k));
  Arena arena;
  solve_weighted_levels<double>(
      {row.data(), weights.data(), std::ssize(x), Orientation(alpha, Order::ascending)}, levels,
      roots.span(), arena, threads);
  return roots.copy();
}

void expect_root(const std::vector<double>& x, const std::vector<double>& w, Real k, double alpha,
                 const WeightedRoot& got) {
  SCOPED_TRACE(testing::Message() << "k = " << k);
  const std::vector<Real> row(x.begin(), x.end());
  const std::vector<Real> weights(w.begin(), w.end());
  const reference::Root<Real> want = reference::root<Real>(row, k, alpha, weights);
  Real total = 0, left = -INFINITY, right = INFINITY;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const Real z = want.from(row[i], alpha);
    total += weights[i] * std::exp(-std::abs(z));
    if (w[i] > 0 && z >= 0) left = std::max(left, row[i]);
    if (w[i] > 0 && z < 0) right = std::min(right, row[i]);
  }
  const auto from = [&](Real element) { return std::abs(want.from(element, alpha)); };
  const Real far = 1 + std::min(from(left), from(right));
  // The anchor need not be that of the reference.
  const Real z = ((Real(got.b.anchor) - want.anchor) + got.b.offset) / alpha;
  EXPECT_TRUE(within(z, want.z, allowed("threshold", "float64", "z", {{"z", far}})));
  EXPECT_TRUE(within(got.rate, std::min(1 / total, Real(1e300)),
                     allowed("root", "float64", "scale", {{"y", 1 / total}, {"z", far}})));
  if (std::min(std::abs(from(left)), std::abs(from(right))) < 1e-9) return;  // either side will do
  EXPECT_EQ(got.left, left);
  EXPECT_EQ(got.right, right);
  if (far > 1e3) return;  // a share of sums that underflow is checked by hand below
  const auto expect_side = [&](Real element, double got_z, double got_share) {
    if (std::isinf(element)) return;
    const Real share = std::exp(-from(element)) / total;
    EXPECT_TRUE(within(got_z, from(element),
                       allowed("threshold", "float64", "z", {{"z", 1 + from(element)}})));
    EXPECT_TRUE(
        within(got_share, share,
               allowed("root", "float64", "scale", {{"y", share}, {"z", 1 + from(element)}})));
  };
  expect_side(left, got.left_z, got.left_share);
  expect_side(right, got.right_z, got.right_share);
}

void expect_roots(const std::vector<double>& x, const std::vector<double>& w, double alpha,
                  int threads = 1) {
  Real whole = 0;
  for (const double v : w) whole += v;
  std::vector<double> k;
  for (const double share : {0.99, 0.3, 0.5, 1e-3, 0.5, 1e-7}) {
    k.push_back(static_cast<double>(share * whole));
  }
  const std::vector<WeightedRoot> got = solve(x, w, k, alpha, threads);
  for (std::size_t t = 0; t < k.size(); ++t) expect_root(x, w, k[t], alpha, got[t]);
}

TEST(WeightedLevels, are_solved) {
  test::for_each_target([] {
    for (const test::Family& family : test::kFamilies) {
      for (const std::ptrdiff_t n : {1, 2, 3, 9, 33, 130}) {
        for (const double alpha : {1e-2, 1.0, 1e3}) {
          for (const double decades : {0.0, 0.3, 3.0}) {
            SCOPED_TRACE(testing::Message() << family.name << ", n = " << n << ", alpha = " << alpha
                                            << ", decades " << decades);
            expect_roots(family.row(n), draw_weights(n, decades), alpha);
          }
        }
      }
    }
  });
}

TEST(WeightedLevels, are_solved_in_a_long_row) {
  for (const char* name : {"normal", "ties", "clusters"}) {
    SCOPED_TRACE(name);
    expect_roots(test::family(name).row(100003), draw_weights(100003, 1), 0.1, 2);
  }
}

TEST(WeightedLevels, scale_with_the_weights) {
  const std::vector<double> x = test::family("normal").row(33);
  const std::vector<double> w = draw_weights(33, 0.3);
  const std::vector<WeightedRoot> want = solve(x, w, {1.0, 7.5}, 0.1);
  for (const double unit : {0x1p-900, 0x1p900}) {
    std::vector<double> scaled = w;
    for (double& v : scaled) v *= unit;
    const std::vector<WeightedRoot> got = solve(x, scaled, {unit, 7.5 * unit}, 0.1);
    for (std::size_t t = 0; t < want.size(); ++t) {
      EXPECT_EQ(got[t].b.anchor, want[t].b.anchor);
      EXPECT_EQ(got[t].b.offset, want[t].b.offset);
    }
  }
}

TEST(WeightedLevels, elements_without_weight_do_not_matter) {
  // A plateau whose ends are far away from elements without weight.
  const WeightedRoot root = solve({0, 10, 20, 30}, {1, 0, 0, 1}, {1}, 1e-3)[0];
  EXPECT_EQ(root.b.anchor + root.b.offset, 15);
  EXPECT_EQ(root.left_share, 0.5);
  EXPECT_EQ(root.right_share, 0.5);
  EXPECT_EQ(root.left, 0);
  EXPECT_EQ(root.right, 30);
}

TEST(WeightedLevels, saturate) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const auto expect = [&](const std::vector<double>& x, const std::vector<double>& w, double k,
                          double anchor, double offset) {
    const Threshold b = solve(x, w, {k}, 1)[0].b;
    EXPECT_TRUE(within(b.anchor, anchor, 0)) << "k = " << k;
    EXPECT_EQ(b.offset, offset) << "k = " << k;
  };
  for (const double k : {-kInf, -1.0, 0.0}) expect({1, 2}, {2, 3}, k, -kInf, 0);
  for (const double k : {5.0, 6.0, kInf}) expect({1, 2}, {2, 3}, k, kInf, 0);
  expect({-kInf, 2, -kInf}, {3, 1, 1}, 1, -kInf, 0.25);
  expect({-kInf, 2, -kInf}, {3, 1, 1}, 4, -kInf, 1);
  expect({-kInf, 2, -kInf}, {3, 1, 1}, 4.5, 2, 0);
  expect({-kInf, 2, kInf}, {0, 1, 9}, 0.5, 2, 0);
  expect({-kInf, 2, kInf}, {0, 1, 9}, 1, kInf, 0);
  expect({1, 2}, {0, 0}, 0, -kInf, 0);
  expect({1, 2}, {0, 0}, 1e-300, kInf, 0);
  expect({}, {}, 1, kInf, 0);
  expect({1, 2}, {2, 3}, nan, nan, 0);
  expect({1, nan}, {2, 3}, 1, nan, 0);
  for (const double bad : {-1.0, kInf, nan}) expect({1, 2}, {2, bad}, 1, nan, 0);
  expect({1, 2}, {1e308, 1e308}, 1, nan, 0);
}

TEST(WeightedLevels, have_the_same_bits_for_any_thread_count) {
  const std::vector<double> x = test::family("normal").row(100003);
  const std::vector<double> w = draw_weights(100003, 1);
  std::vector<double> k;
  for (int t = 0; t < 40000; ++t) k.push_back(0.7 * ((t * 7919) % 40000));
  std::vector<std::vector<double>> runs;
  for (const int threads : {1, 2, 3}) {
    std::vector<double> run;
    for (const WeightedRoot& root : solve(x, w, k, 0.1, threads)) {
      run.insert(run.end(), {root.b.anchor, root.b.offset, root.left_share, root.rate});
    }
    runs.push_back(run);
  }
  EXPECT_TRUE(test::same_bits(runs[1], runs[0]));
  EXPECT_TRUE(test::same_bits(runs[2], runs[0]));
}

TEST(Compensated, keeps_what_a_double_loses) {
  Compensated sum;
  sum.add(1e16);
  for (int i = 0; i < 1000; ++i) sum.add(0.001953125);
  EXPECT_EQ(sum.minus({1e16, 0}), 1.953125);
  sum.add(-1e16);
  EXPECT_EQ(sum.value(), 1.953125);
}

}  // namespace
}  // namespace lapsum::cpu
