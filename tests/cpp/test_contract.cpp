// What every operation promises alike: the same bits for any stride and company of rows, inputs left
// alone, optional arguments, empty batches.
#include <gtest/gtest.h>

#include "batch.h"

namespace lapsum::test {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

template <class T>
class Contract : public testing::Test {
 public:
  // body(op) for every operation.
  template <class Body>
  static void for_each(Body&& body) {
    for (const Operation<T>& op : operations<T>()) {
      SCOPED_TRACE(op.name);
      body(op);
    }
  }
  static Batch batch(const Operation<T>& op, std::ptrdiff_t rows, std::ptrdiff_t n) {
    return make_batch(op, family("normal"), rows, n, 0.1, Order::descending);
  }
};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(Contract, Types);

TYPED_TEST(Contract, a_row_does_not_depend_on_the_others) {
  this->for_each([&](const auto& op) {
    Batch batch = this->batch(op, 5, 33);
    batch.x[33] = kNaN;
    batch.x[2 * 33 + 7] = kInf;
    batch.x[2 * 33 + 9] = -kInf;
    batch.alpha[3] = 0;
    const Results together = evaluate(op, batch, 2);
    for (std::ptrdiff_t i = 0; i < batch.rows; ++i) {
      const std::vector<double> row = together.row(i, batch.rows);
      EXPECT_TRUE(same_bits(row, evaluate(op, batch.row(i)).all())) << "row " << i;
      const bool known =
          std::none_of(row.begin(), row.end(), [](double v) { return std::isnan(v); });
      EXPECT_EQ(known, i != 1 && i != 3) << "row " << i;
    }
  });
}

TYPED_TEST(Contract, a_row_with_nan_or_a_bad_alpha_is_nan) {
  this->for_each([&](const auto& op) {
    for (const double alpha : {0.0, kInf, kNaN, 0.1}) {
      Batch batch = this->batch(op, 1, 9);
      batch.alpha[0] = alpha;
      if (alpha == 0.1) batch.x[4] = kNaN;
      const Results got = evaluate(op, batch);
      for (const auto* part : {&got.value, &got.gx, &got.galpha, &got.tangent, &got.gweights}) {
        for (const double v : *part) EXPECT_TRUE(std::isnan(v)) << "alpha = " << alpha;
      }
    }
  });
}

TYPED_TEST(Contract, a_row_with_a_bad_weight_is_nan) {
  this->for_each([&](const auto& op) {
    if (!op.weighted) return;
    for (const double weight : {-1.0, kInf, kNaN}) {
      Batch batch = this->batch(op, 2, 9);
      batch.weights[9 + 4] = weight;
      const Results got = evaluate(op, batch);
      for (const double v : got.row(1, 2)) EXPECT_TRUE(std::isnan(v)) << "weight " << weight;
      for (const double v : got.row(0, 2)) EXPECT_TRUE(std::isfinite(v)) << "weight " << weight;
    }
  });
}

TYPED_TEST(Contract, levels_out_of_range_have_no_gradient) {
  this->for_each([&](const auto& op) {
    if (!op.has_levels()) return;
    for (const double level : {-1.0, 0.0, 9.0, 50.0}) {
      Batch batch = this->batch(op, 1, 9);
      std::fill(batch.second.begin(), batch.second.end(), level);
      const Results got = evaluate(op, batch);
      for (const auto* part : {&got.gx, &got.gsecond, &got.galpha, &got.tangent, &got.gweights}) {
        EXPECT_EQ(*part, std::vector<double>(part->size(), 0.0)) << "level " << level;
      }
    }
  });
}

TYPED_TEST(Contract, rows_may_be_apart) {
  this->for_each([&](const auto& op) {
    const Batch batch = this->batch(op, 3, 17);
    EXPECT_TRUE(same_bits(evaluate(op, batch, 1, 5).all(), evaluate(op, batch).all()));
  });
}

TYPED_TEST(Contract, a_stride_of_zero_repeats_a_row) {
  using T = TypeParam;
  this->for_each([&](const auto& op) {
    const Batch one = this->batch(op, 1, 17);
    Buffer<T> x(1, one.n, 0, one.x), second(1, one.seconds, 0, one.second);
    Buffer<T> weights(1, op.weighted ? one.n : 0, 0, one.weights);
    Buffer<T> y(3 * one.shape.blocks, one.shape.length, 0);
    Guarded<double> levels(one.second);
    const Rows<const T> repeated(x.rows().data, 3, one.n, 0);
    op.value({repeated,
              {second.rows().data, 3, one.seconds, 0},
              {levels.data(), one.seconds, 0},
              one.alpha[0],
              one.order,
              1,
              {weights.rows().data, 3, one.n, 0}},
             y.rows());
    std::vector<double> want;
    for (int i = 0; i < 3; ++i) {
      const std::vector<double> value = evaluate(op, one).value;
      want.insert(want.end(), value.begin(), value.end());
    }
    EXPECT_TRUE(same_bits(y.values(), want));
  });
}

TYPED_TEST(Contract, arguments_left_out_are_neither_read_nor_written) {
  using T = TypeParam;
  this->for_each([&](const auto& op) {
    Batch batch = this->batch(op, 2, 17);
    for (auto* part : {&batch.dx, &batch.dsecond, &batch.dalpha, &batch.dweights}) {
      std::fill(part->begin(), part->end(), 0.0);
    }
    const Results all = evaluate(op, batch);
    Buffer<T> x(2, batch.n, 0, batch.x), second(2, batch.seconds, 0, batch.second);
    const std::ptrdiff_t blocks = 2 * batch.shape.blocks;
    Buffer<T> g(blocks, batch.shape.length, 0, batch.g), dy(blocks, batch.shape.length, 0);
    Buffer<T> gx(2, batch.n, 0), gweights(2, op.weighted ? batch.n : 0, 0);
    Buffer<T> weights(2, op.weighted ? batch.n : 0, 0, batch.weights);
    Guarded<double> levels(batch.second), alpha(batch.alpha), galpha(2);
    const Call<T> call{x.rows(),
                       second.rows(),
                       {levels.data(), batch.seconds, batch.seconds},
                       PerRow(alpha.data()),
                       batch.order,
                       1,
                       weights.rows()};
    op.vjp(call, g.rows(), {{}, {}, nullptr, nullptr});
    op.vjp(call, g.rows(), {gx.rows(), {}, nullptr, nullptr});
    op.vjp(call, g.rows(), {{}, {}, nullptr, galpha.data()});
    op.vjp(call, g.rows(), {{}, {}, nullptr, nullptr, gweights.rows()});
    op.jvp(call, {{}, {}, nullptr, nullptr}, dy.rows());
    EXPECT_TRUE(same_bits(gx.values(), all.gx));
    EXPECT_TRUE(same_bits(galpha.copy(), all.galpha));
    EXPECT_TRUE(same_bits(gweights.values(), all.gweights));
    EXPECT_EQ(dy.values(), std::vector<double>(batch.g.size(), 0.0));
    EXPECT_EQ(dy.values(), all.tangent);
  });
}

TYPED_TEST(Contract, empty_batches_and_empty_rows) {
  this->for_each([&](const auto& op) {
    for (const auto& [rows, n] : {std::pair{0, 5}, std::pair{3, 0}, std::pair{0, 0}}) {
      const Batch batch = this->batch(op, rows, n);
      const Results got = evaluate(op, batch, 2);
      EXPECT_EQ(std::ssize(got.value), rows * batch.shape.blocks * batch.shape.length);
      EXPECT_EQ(std::ssize(got.gx), rows * n);
    }
  });
}

TYPED_TEST(Contract, any_length_stays_inside_its_buffers) {
  this->for_each([&](const auto& op) {
    for (const std::ptrdiff_t n : {1, 2, 3, 7, 8, 9, 15, 16, 17, 97, 257}) {
      const Results got = evaluate(op, this->batch(op, 2, n), 2, 3);
      for (const double v : got.all()) ASSERT_TRUE(std::isfinite(v)) << "n = " << n;
    }
  });
}

// Thresholds that the forward pass kept give the gradients of those that are solved again.
TYPED_TEST(Contract, saved_thresholds_give_the_same_gradients) {
  using T = TypeParam;
  const Batch b = make_batch(operation<T>("soft_topk"), family("normal"), 3, 33, 0.1);
  const std::ptrdiff_t masks = b.rows * b.seconds;
  const Levels k(b.second.data(), b.seconds, b.seconds);
  const PerRow alpha(b.alpha.data());
  Buffer<T> x(b.rows, b.n, 0, b.x), dx(b.rows, b.n, 0, b.dx), g(masks, b.n, 0, b.g);
  const auto compare = [&](auto forward, auto vjp, auto jvp) {
    Buffer<T> y(masks, b.n, 0), gx(b.rows, b.n, 0), gx_saved(b.rows, b.n, 0);
    Buffer<T> dy(masks, b.n, 0), dy_saved(masks, b.n, 0);
    Guarded<Threshold> saved(masks);
    Guarded<double> gk(masks), gk_saved(masks), ga(b.rows), ga_saved(b.rows);
    forward(x.rows(), k, alpha, y.rows(), saved.data(), b.order, 1);
    vjp(x.rows(), k, alpha, nullptr, g.rows(), gx.rows(), gk.data(), ga.data(), b.order, 1);
    vjp(x.rows(), k, alpha, saved.data(), g.rows(), gx_saved.rows(), gk_saved.data(),
        ga_saved.data(), b.order, 1);
    jvp(x.rows(), k, alpha, nullptr, dx.rows(), b.dsecond.data(), b.dalpha.data(), dy.rows(),
        b.order, 1);
    jvp(x.rows(), k, alpha, saved.data(), dx.rows(), b.dsecond.data(), b.dalpha.data(),
        dy_saved.rows(), b.order, 1);
    EXPECT_TRUE(same_bits(gx_saved.values(), gx.values()));
    EXPECT_TRUE(same_bits(gk_saved.copy(), gk.copy()));
    EXPECT_TRUE(same_bits(ga_saved.copy(), ga.copy()));
    EXPECT_TRUE(same_bits(dy_saved.values(), dy.values()));
  };
  compare(soft_topk<T>, soft_topk_vjp<T>, soft_topk_jvp<T>);
  compare(log_soft_topk<T>, log_soft_topk_vjp<T>, log_soft_topk_jvp<T>);
  Draw draw(1);
  Buffer<T> w(1, b.n, 0, draw_weights(b.n, draw));
  const Rows<const T> weights(w.rows().data, b.rows, b.n, 0);
  const auto compare_weighted = [&](auto forward, auto vjp, auto jvp) {
    compare(
        [&](Rows<const T> of, auto&&... rest) { forward(of, weights, rest...); },
        [&](Rows<const T> of, Levels at, PerRow a, const Threshold* from, Rows<const T> given,
            Rows<T> to, auto&&... rest) { vjp(of, weights, at, a, from, given, to, {}, rest...); },
        [&](Rows<const T> of, Levels at, PerRow a, const Threshold* from, Rows<const T> along,
            auto&&... rest) { jvp(of, weights, at, a, from, along, {}, rest...); });
  };
  compare_weighted(weighted_soft_topk<T>, weighted_soft_topk_vjp<T>, weighted_soft_topk_jvp<T>);
  compare_weighted(weighted_log_soft_topk<T>, weighted_log_soft_topk_vjp<T>,
                   weighted_log_soft_topk_jvp<T>);
}

}  // namespace
}  // namespace lapsum::test
