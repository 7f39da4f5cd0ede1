// Small cases whose results can be written down, and what is documented for the ends of the level,
// infinities and NaN.
#include <gtest/gtest.h>

#include <numeric>

#include "batch.h"
#include "tolerances.h"

namespace lapsum::test {
namespace {

template <class T>
class ByHand : public testing::Test {
 public:
  void expect(const char* operation, const std::vector<T>& got, const std::vector<double>& want) {
    ASSERT_EQ(got.size(), want.size());
    for (std::size_t i = 0; i < got.size(); ++i) {
      const Real y = std::abs(Real(want[i]));
      const Real limit = allowed(operation, kDtype<T>, "value",
                                 {{"1+y", 1 + y}, {"n", 5}, {"near", 1 + y}, {"max|v|", 10}});
      EXPECT_TRUE(within(got[i], want[i], limit)) << operation << " " << i;
    }
  }
  std::vector<T> topk(const std::vector<T>& x, double k, double alpha,
                      Order order = Order::descending) {
    const auto n = std::ssize(x);
    std::vector<T> p(x.size());
    soft_topk<T>({x.data(), 1, n}, k, alpha, {p.data(), 1, n}, nullptr, order);
    return p;
  }
  std::vector<T> log_topk(const std::vector<T>& x, double k, double alpha) {
    const auto n = std::ssize(x);
    std::vector<T> p(x.size());
    log_soft_topk<T>({x.data(), 1, n}, k, alpha, {p.data(), 1, n});
    return p;
  }
  std::vector<T> rank(const std::vector<T>& x, double alpha, Order order = Order::ascending) {
    std::vector<T> y(x.size());
    soft_rank<T>({x.data(), 1, std::ssize(x)}, alpha, {y.data(), 1, std::ssize(x)}, order);
    return y;
  }
  std::vector<T> sort(const std::vector<T>& x, double alpha, Order order = Order::ascending) {
    std::vector<T> y(x.size());
    soft_sort<T>({x.data(), 1, std::ssize(x)}, alpha, {y.data(), 1, std::ssize(x)}, order);
    return y;
  }
  std::vector<T> inverse(const std::vector<T>& r, double k, double alpha) {
    T b = 0;
    lap_sum_inverse<T>({r.data(), 1, std::ssize(r)}, k, alpha, {&b, 1, 1});
    return {b};
  }
  std::vector<T> kth(const std::vector<T>& x, double k, double alpha,
                     Order order = Order::descending) {
    T b = 0;
    soft_kth_value<T>({x.data(), 1, std::ssize(x)}, k, alpha, {&b, 1, 1}, order);
    return {b};
  }
  std::vector<T> quantile(const std::vector<T>& x, double q, double alpha) {
    T b = 0;
    soft_quantile<T>({x.data(), 1, std::ssize(x)}, q, alpha, {&b, 1, 1});
    return {b};
  }
  std::vector<T> weighted_topk(const std::vector<T>& x, const std::vector<T>& w, double k,
                               double alpha) {
    const auto n = std::ssize(x);
    std::vector<T> p(x.size());
    weighted_soft_topk<T>({x.data(), 1, n}, {w.data(), 1, n}, k, alpha, {p.data(), 1, n});
    return p;
  }
  std::vector<T> weighted_rank(const std::vector<T>& x, const std::vector<T>& w, double alpha) {
    const auto n = std::ssize(x);
    std::vector<T> y(x.size());
    weighted_soft_rank<T>({x.data(), 1, n}, {w.data(), 1, n}, alpha, {y.data(), 1, n});
    return y;
  }
  std::vector<T> weighted_quantile(const std::vector<T>& x, const std::vector<T>& w, double q,
                                   double alpha) {
    T b = 0;
    const auto n = std::ssize(x);
    weighted_soft_quantile<T>({x.data(), 1, n}, {w.data(), 1, n}, q, alpha, {&b, 1, 1});
    return {b};
  }
  std::vector<T> sum(const std::vector<T>& r, const std::vector<T>& x, double alpha) {
    std::vector<T> y(x.size());
    const auto m = std::ssize(x);
    lap_sum<T>({r.data(), 1, std::ssize(r)}, {x.data(), 1, m}, alpha, {y.data(), 1, m});
    return y;
  }
  std::vector<T> permutation(const std::vector<T>& x, double alpha) {
    const auto n = std::ssize(x);
    std::vector<T> p(x.size() * x.size());
    soft_permutation<T>({x.data(), 1, n}, alpha, {p.data(), 1, n * n});
    return p;
  }
  std::vector<T> permute(const std::vector<T>& x, const std::vector<T>& v, double alpha,
                         Apply apply) {
    const auto n = std::ssize(x);
    std::vector<T> y(x.size());
    soft_permute<T>({x.data(), 1, n}, {v.data(), 1, n}, 1, alpha, {y.data(), 1, n}, apply);
    return y;
  }

  static constexpr T kInf = std::numeric_limits<T>::infinity();
  static constexpr T kNaN = std::numeric_limits<T>::quiet_NaN();
};

using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(ByHand, Types);

// With alpha = 1 / log 2, e^{-1 / alpha} = 1/2 and F(1) = 3/4, F(2) = 7/8.
constexpr double kHalving = 1 / std::numbers::ln2;

TYPED_TEST(ByHand, two_elements) {
  this->expect("lap_sum", this->sum({0}, {-1, 0, 1, 2}, kHalving), {0.25, 0.5, 0.75, 0.875});
  this->expect("lap_sum", this->sum({0}, {-1, 0, 1, 2}, -kHalving), {0.75, 0.5, 0.25, 0.125});
  this->expect("soft_rank", this->rank({0, 1}, kHalving), {0.25, 0.75});
  this->expect("soft_rank", this->rank({0, 1}, kHalving, Order::descending), {0.75, 0.25});
  this->expect("soft_rank", this->rank({0, 1}, -kHalving), {0.75, 0.25});
  this->expect("soft_topk", this->topk({0, 2}, 1, kHalving), {0.25, 0.75});
  this->expect("soft_topk", this->topk({0, 2}, 1, kHalving, Order::ascending), {0.75, 0.25});
  this->expect("log_soft_topk", this->log_topk({0, 2}, 1, kHalving),
               {-2 * std::numbers::ln2, std::log(0.75)});
  this->expect("lap_sum_inverse", this->inverse({0, 2}, 1, kHalving), {1});
  this->expect("soft_permutation", this->permutation({2, 0}, kHalving), {0.25, 0.75, 0.75, 0.25});
  for (const Apply apply : {Apply::permutation, Apply::transpose}) {
    this->expect("soft_permute", this->permute({2, 0}, {0, 4}, kHalving, apply), {3, 1});
  }
}

TYPED_TEST(ByHand, equal_elements_share) {
  // 3 F((b - 5) / alpha) = 1/2, 3/2, 5/2.
  const double spread = 2 * std::log(3.0);
  this->expect("soft_sort", this->sort({5, 5, 5}, 2), {5 - spread, 5, 5 + spread});
  this->expect("soft_rank", this->rank({5, 5, 5}, 2), {1, 1, 1});
  this->expect("soft_topk", this->topk({5, 5, 5}, 1.2, 2), {0.4, 0.4, 0.4});
  this->expect("soft_quantile", this->quantile({5, 5, 5}, 0.5, 2), {5});
  this->expect("soft_permutation", this->permutation({5, 5, 5}, 2),
               std::vector<double>(9, 1.0 / 3));
}

TYPED_TEST(ByHand, small_alpha_is_the_hard_operation) {
  const std::vector<TypeParam> x = {30, 0, 20, 10};
  this->expect("soft_topk", this->topk(x, 2, 0.05), {1, 0, 1, 0});
  this->expect("soft_rank", this->rank(x, 0.05), {3, 0, 2, 1});
  this->expect("soft_sort", this->sort(x, 0.05), {0, 10, 20, 30});
  this->expect("soft_sort", this->sort(x, 0.05, Order::descending), {30, 20, 10, 0});
  this->expect("soft_sort", this->sort(x, -0.05), {30, 20, 10, 0});
  this->expect("lap_sum_inverse", this->inverse(x, 2, 0.05), {15});
  this->expect("soft_kth_value", this->kth(x, 1, 0.05), {25});
  this->expect("soft_kth_value", this->kth(x, 1, 0.05, Order::ascending), {5});
  this->expect("soft_kth_value", this->kth(x, 2.5, 0.05), {10});
  this->expect("soft_quantile", this->quantile(x, 0.25, 0.05), {5});
  this->expect("soft_quantile", this->quantile(x, 0.25, -0.05), {25});
  this->expect("soft_permute", this->permute(x, {1, 2, 3, 4}, 0.05, Apply::permutation),
               {2, 4, 3, 1});
  this->expect("soft_permute", this->permute(x, {2, 4, 3, 1}, 0.05, Apply::transpose),
               {1, 2, 3, 4});
}

TYPED_TEST(ByHand, levels_at_the_ends_are_exact) {
  using V = std::vector<TypeParam>;
  EXPECT_EQ(this->topk({1, 2, 3}, 0, 1), V(3, 0));
  EXPECT_EQ(this->topk({1, 2, 3}, 3, 1), V(3, 1));
  EXPECT_EQ(this->log_topk({1, 2, 3}, 0, 1), V(3, -this->kInf));
  EXPECT_EQ(this->log_topk({1, 2, 3}, 3, 1), V(3, 0));
  EXPECT_EQ(this->inverse({1, 2, 3}, 0, 1), V{-this->kInf});
  EXPECT_EQ(this->inverse({1, 2, 3}, 3, 1), V{this->kInf});
  EXPECT_EQ(this->inverse({1, 2, 3}, 3, -1), V{-this->kInf});
  EXPECT_EQ(this->quantile({1, 2, 3}, 1, 1), V{this->kInf});
}

TYPED_TEST(ByHand, infinities) {
  using V = std::vector<TypeParam>;
  const TypeParam inf = this->kInf;
  EXPECT_EQ(this->topk({-inf, 3, 4}, 2, 1), (V{0, 1, 1}));
  EXPECT_EQ(this->topk({-inf, 3, 4}, 2.5, 1), (V{0, 1, 1}));
  EXPECT_EQ(this->topk({-inf, 3, 4}, 3, 1), (V{0, 1, 1}));
  EXPECT_EQ(this->topk({inf, 3, inf, 4}, 1, 1), (V{0.5, 0, 0.5, 0}));
  EXPECT_EQ(this->topk({inf, 3, 4}, 1, 1, Order::ascending)[0], 0);
  this->expect("soft_topk", this->topk({inf, 0, -inf, 2}, 2, kHalving), {1, 0.25, 0, 0.75});
  EXPECT_EQ(this->log_topk({-inf, 3, 4}, 2, 1), (V{-inf, 0, 0}));
  EXPECT_EQ(this->rank({inf, 0, -inf, inf, -inf}, 1), (V{3.5, 2, 0.5, 3.5, 0.5}));
  EXPECT_EQ(this->sort({inf, 7, -inf, inf}, 1), (V{-inf, 7, inf, inf}));
  EXPECT_EQ(this->permutation({inf, 7, inf}, 1), (V{0, 1, 0, 0.5, 0, 0.5, 0.5, 0, 0.5}));
  EXPECT_EQ(this->permute({inf, 7, inf}, {2, 3, 4}, 1, Apply::permutation), (V{3, 3, 3}));
  EXPECT_EQ(this->sum({-inf, inf}, {-inf, 0, inf}, 1), (V{0.5, 1, 1.5}));
}

// The gradient is written there too, whatever was in its place; in short rows and in long ones.
TYPED_TEST(ByHand, gradients_at_infinities_are_zero) {
  using T = TypeParam;
  for (const std::ptrdiff_t n : {5, 1500, 40000}) {
    std::vector<T> x(static_cast<std::size_t>(n));
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<T>(i * 7919 % 1000) / 100;
    x[0] = x[3] = this->kInf;
    x[2] = -this->kInf;
    const std::vector<T> g(x.size(), 1);
    const double k[] = {1, 1.5};
    const Rows<const T> from(x.data(), 1, n), with(g.data(), 1, n), with_two(g.data(), 1, 2);
    const auto expect_zeros = [&](const char* what, auto&& vjp) {
      std::vector<T> gx(x.size(), T(-12345));
      vjp(Rows<T>(gx.data(), 1, n));
      for (const std::size_t i : {0, 2, 3}) EXPECT_EQ(gx[i], 0) << what << ", n = " << n;
      EXPECT_EQ(std::count(gx.begin(), gx.end(), T(-12345)), 0) << what << ", n = " << n;
    };
    expect_zeros("rank", [&](Rows<T> gx) { soft_rank_vjp<T>(from, 0.1, with, gx, nullptr); });
    expect_zeros("sort", [&](Rows<T> gx) { soft_sort_vjp<T>(from, 0.1, with, gx, nullptr); });
    expect_zeros("inverse", [&](Rows<T> gx) {
      lap_sum_inverse_vjp<T>(from, Levels(k, 2, 2), 0.1, with_two, gx, nullptr, nullptr);
    });
  }
}

TYPED_TEST(ByHand, weights) {
  using V = std::vector<TypeParam>;
  const TypeParam inf = this->kInf;
  this->expect("soft_topk", this->weighted_topk({0, 1, 2}, {1, 0, 1}, 1, kHalving),
               {0.25, 0.5, 0.75});
  this->expect("soft_topk", this->weighted_topk({5, 5}, {1, 3}, 1, 2), {0.25, 0.25});
  this->expect("soft_rank", this->weighted_rank({0, 1}, {2, 3}, kHalving), {0.75, 1.5});
  this->expect("soft_rank", this->weighted_rank({5, 5, 5}, {2, 0, 1}, 2), {0.5, 1.5, 1});
  this->expect("soft_quantile", this->weighted_quantile({30, 0, 7, 10}, {1, 1, 0, 2}, 0.5, 0.05),
               {10});
  this->expect("soft_quantile", this->weighted_quantile({30, 0, 20, 10}, {1, 1, 0, 2}, 0.75, 0.05),
               {20 + 0.025 * std::numbers::ln2});
  EXPECT_EQ(this->weighted_topk({1, 2}, {0.5, 0.25}, 0.75, 1), V(2, 1));
  EXPECT_EQ(this->weighted_topk({1, 2}, {0, 0}, 0, 1), V(2, 0));
  EXPECT_EQ(this->weighted_topk({1, 2}, {0, 0}, 0.5, 1), V(2, 1));
  EXPECT_EQ(this->weighted_topk({inf, 3, inf}, {2, 1, 1}, 1.5, 1), (V{0.5, 0, 0.5}));
  EXPECT_EQ(this->weighted_topk({-inf, 3, 4}, {9, 1, 1}, 5, 1), (V{0, 1, 1}));
  EXPECT_EQ(this->weighted_rank({inf, 0, -inf, inf, -inf}, {1, 2, 3, 4, 5}, 1),
            (V{12, 8, 2.5, 10.5, 1.5}));
  EXPECT_TRUE(std::isnan(this->weighted_quantile({1, 2}, {0, 0}, 0.5, 1)[0]));
}

TYPED_TEST(ByHand, nan_makes_its_row_nan) {
  const TypeParam nan = this->kNaN;
  const auto all_nan = [](const std::vector<TypeParam>& y) {
    return std::all_of(y.begin(), y.end(), [](TypeParam v) { return std::isnan(v); });
  };
  const std::vector<TypeParam> x = {1, nan, 3};
  EXPECT_TRUE(all_nan(this->topk(x, 1, 1)));
  EXPECT_TRUE(all_nan(this->topk(x, 0, 1)));
  EXPECT_TRUE(all_nan(this->log_topk(x, 1, 1)));
  EXPECT_TRUE(all_nan(this->rank(x, 1)));
  EXPECT_TRUE(all_nan(this->sort(x, 1)));
  EXPECT_TRUE(all_nan(this->inverse(x, 1, 1)));
  EXPECT_TRUE(all_nan(this->quantile(x, 0.5, 1)));
  EXPECT_TRUE(all_nan(this->permutation(x, 1)));
  EXPECT_TRUE(all_nan(this->permute(x, {1, 1, 1}, 1, Apply::permutation)));
  EXPECT_TRUE(all_nan(this->sum(x, {0, 1}, 1)));
  const std::vector<TypeParam> y = this->sum({1, 2}, {0, nan, 3}, 1);
  EXPECT_FALSE(std::isnan(y[0]) || std::isnan(y[2]));
  EXPECT_TRUE(std::isnan(y[1]));
}

TYPED_TEST(ByHand, log_topk_is_finite_where_topk_underflows) {
  const std::vector<TypeParam> logp = this->log_topk({0, 1000}, 1, 0.5);
  this->expect("log_soft_topk", logp, {-1000 - std::numbers::ln2, 0});
}

TYPED_TEST(ByHand, kernels_are_their_sums) {
  using T = TypeParam;
  Draw draw(8);
  const std::vector<double> r = floats(draw.normals(17));
  const std::vector<double> w = floats(draw.normals(17));
  std::vector<double> x = floats(draw.normals(9));
  x.insert(x.end(), {r[0], r[5], 100, -100});
  Buffer<T> rows(1, 17, 0, r), weights(1, 17, 0, w), points(1, std::ssize(x), 0, x);
  const Real sum = std::accumulate(w.begin(), w.end(), Real{0},
                                   [](Real s, double v) { return s + std::abs(v); });
  using Shape = Kernel::Shape;
  for (const Shape shape : {Shape::cdf, Shape::even, Shape::odd}) {
    for (int order = 0; order <= (shape == Shape::cdf ? 0 : Kernel::kMaxOrder); ++order) {
      for (const double alpha : {0.02, 0.5, -3.0}) {
        Buffer<T> y(1, std::ssize(x), 0);
        lap_kernel<T>(rows.rows(), weights.rows(), points.rows(), alpha, {shape, order}, y.rows());
        const std::vector<double> got = y.values();
        for (std::size_t t = 0; t < x.size(); ++t) {
          const Real want = reference::lap_kernel({shape, order}, {r.begin(), r.end()},
                                                  {w.begin(), w.end()}, x[t], alpha);
          EXPECT_TRUE(
              within(got[t], want, allowed("lap_kernel", kDtype<T>, "value", {{"sum|w|", sum}})))
              << "shape " << static_cast<int>(shape) << ", order " << order << ", x = " << x[t];
        }
      }
    }
  }
}

}  // namespace
}  // namespace lapsum::test
