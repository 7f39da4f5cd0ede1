// Every argument error, word by word: operation, argument, what is allowed, what was given.
#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <stdexcept>

#include "operations.h"

namespace lapsum::test {
namespace {

constexpr std::ptrdiff_t kRows = 2;
constexpr std::ptrdiff_t kLength = 5;
constexpr std::ptrdiff_t kTooLong = std::ptrdiff_t{1} << 32;
constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

std::string message(const std::function<void()>& call) {
  try {
    call();
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "nothing thrown";
}

// All arguments of an operation; a test breaks one.
struct All {
  Call<float> call;
  Rows<float> out;
  Rows<const float> g;
  Gradients<float> to;
  Tangents<float> along;
};
using Break = std::function<void(All&)>;

class Errors : public testing::Test {
 public:
  All good(const Operation<float>& op) {
    const std::ptrdiff_t seconds = op.kind == Second::points   ? 3
                                   : op.kind == Second::values ? kColumns * kLength
                                                               : 1;
    const Shape shape = op.shape(kLength, seconds);
    const Rows<float> x(memory_, kRows, kLength);
    const Rows<float> second(memory_, kRows, seconds);
    const Rows<float> out(memory_, kRows * shape.blocks, shape.length);
    const Levels level(op.kind == Second::quantiles ? 0.5 : 2);
    const Rows<float> weights = op.weighted ? x : Rows<float>{};
    return {{x, second, level, 1.0, Order::ascending, 1, weights},
            out,
            out,
            {x, second, numbers_, numbers_, weights},
            {x, second, numbers_, numbers_, weights}};
  }

  // Breaks the arguments and expects `want`, after "operation: ", of one function or of all three.
  void expect_value(const Operation<float>& op, const Break& damage, const std::string& want) {
    All a = good(op);
    damage(a);
    EXPECT_EQ(message([&] { op.value(a.call, a.out); }), op.name + (": " + want));
  }
  void expect_vjp(const Operation<float>& op, const Break& damage, const std::string& want) {
    All a = good(op);
    damage(a);
    EXPECT_EQ(message([&] { op.vjp(a.call, a.g, a.to); }), op.name + ("_vjp: " + want));
  }
  void expect_jvp(const Operation<float>& op, const Break& damage, const std::string& want) {
    All a = good(op);
    damage(a);
    EXPECT_EQ(message([&] { op.jvp(a.call, a.along, a.out); }), op.name + ("_jvp: " + want));
  }
  void expect_all(const Operation<float>& op, const Break& damage, const std::string& want) {
    expect_value(op, damage, want);
    expect_vjp(op, damage, want);
    expect_jvp(op, damage, want);
  }

 private:
  float memory_[100] = {};
  double numbers_[20] = {};
};

// What is said of a view that has lost its last row.
template <class View>
std::string lost_a_row(const std::string& name, const View& view) {
  const std::string length = " rows of " + std::to_string(view.length);
  return name + " must have " + std::to_string(view.count) + length + ", got " +
         std::to_string(view.count - 1) + length;
}

std::string no_data(const std::string& name) {
  return name + " must have data, got a null pointer";
}

std::string too_long(const std::string& name) {
  return "length of " + name + " must be in [0, 4294967295], got 4294967296";
}

TEST_F(Errors, nothing_is_wrong_with_the_arguments_before_they_are_broken) {
  for (const Operation<float>& op : operations<float>()) {
    const All a = good(op);
    EXPECT_NO_THROW(op.value(a.call, a.out));
    EXPECT_NO_THROW(op.vjp(a.call, a.g, a.to));
    EXPECT_NO_THROW(op.jvp(a.call, a.along, a.out));
  }
}

TEST_F(Errors, of_alpha_and_threads) {
  const std::string must = "alpha must be finite and not 0, got alpha=";
  for (const Operation<float>& op : operations<float>()) {
    expect_all(op, [](All& a) { a.call.alpha = 0.0; }, must + "0");
    expect_all(op, [](All& a) { a.call.alpha = kInf; }, must + "inf");
    expect_all(op, [](All& a) { a.call.alpha = -kInf; }, must + "-inf");
    expect_all(op, [](All& a) { a.call.alpha = kNaN; }, must + "nan");
    expect_all(op, [](All& a) { a.call.threads = -1; }, "threads must be in [0, 1048576], got -1");
  }
}

TEST_F(Errors, of_the_row) {
  for (const Operation<float>& op : operations<float>()) {
    expect_all(op, [](All& a) { a.call.x.data = nullptr; }, no_data(op.x));
    expect_all(
        op, [](All& a) { a.call.x.count = -1; },
        op.x + " must have no negative size, got -1 rows of 5");
    expect_all(
        op, [](All& a) { a.call.x.length = -3; },
        op.x + " must have no negative size, got 2 rows of -3");
    expect_all(op, [](All& a) { a.call.x.length = kTooLong; }, too_long(op.x));
  }
}

TEST_F(Errors, of_a_level) {
  for (const Operation<float>& op : operations<float>()) {
    if (!op.has_levels()) continue;
    const bool quantile = op.kind == Second::quantiles;
    const std::string limit = quantile ? "1" : op.weighted ? "inf" : "n";
    const std::string must = op.second + " must be in [0, " + limit + "], got " + op.second + "=";
    const std::string tail = limit == "n" ? " with n=5" : "";
    if (limit != "inf") {
      expect_all(op, [](All& a) { a.call.levels = Levels(7.0); }, must + "7" + tail);
    }
    expect_all(op, [](All& a) { a.call.levels = Levels(-0.5); }, must + "-0.5" + tail);
    expect_all(op, [](All& a) { a.call.levels = Levels(kNaN); }, must + "nan" + tail);
    expect_all(
        op, [](All& a) { a.call.levels = Levels(nullptr, kTooLong, 0); }, too_long(op.second));
  }
  const Operation<float>& topk = operation<float>("soft_topk");
  expect_value(
      topk, [](All& a) { a.call.levels = Levels(7.0); }, "k must be in [0, n], got k=7 with n=5");
}

TEST_F(Errors, of_weights) {
  for (const Operation<float>& op : operations<float>()) {
    if (!op.weighted) continue;
    const All a = good(op);
    expect_all(op, [](All& b) { --b.call.weights.count; }, lost_a_row("weights", a.call.weights));
    expect_all(op, [](All& b) { b.call.weights.data = nullptr; }, no_data("weights"));
    expect_vjp(op, [](All& b) { --b.to.weights.count; }, lost_a_row("gweights", a.to.weights));
    expect_jvp(
        op, [](All& b) { --b.along.weights.count; }, lost_a_row("dweights", a.along.weights));
  }
}

TEST_F(Errors, of_points_and_values) {
  for (const Operation<float>& op : operations<float>()) {
    if (!op.has_view()) continue;
    const All a = good(op);
    expect_all(op, [](All& b) { --b.call.second.count; }, lost_a_row(op.second, a.call.second));
    expect_all(op, [](All& b) { b.call.second.data = nullptr; }, no_data(op.second));
    expect_vjp(op, [](All& b) { --b.to.second.count; }, lost_a_row("g" + op.second, a.to.second));
    expect_jvp(
        op, [](All& b) { --b.along.second.count; }, lost_a_row("d" + op.second, a.along.second));
  }
  const Operation<float>& lap_sum = operation<float>("lap_sum");
  expect_all(lap_sum, [](All& b) { b.call.second.length = kTooLong; }, too_long("x"));
}

TEST_F(Errors, of_outputs_gradients_and_tangents) {
  for (const Operation<float>& op : operations<float>()) {
    const All a = good(op);
    const auto overlap = [](const std::string& name, std::ptrdiff_t length) {
      return name + " must have rows that do not overlap, got stride 1 for rows of " +
             std::to_string(length);
    };
    const bool may_overlap = a.out.length == 1;
    expect_value(op, [](All& b) { --b.out.count; }, lost_a_row(op.out, a.out));
    expect_value(op, [](All& b) { b.out.data = nullptr; }, no_data(op.out));
    expect_jvp(op, [](All& b) { --b.out.count; }, lost_a_row("d" + op.out, a.out));
    expect_jvp(op, [](All& b) { b.out.data = nullptr; }, no_data("d" + op.out));
    if (!may_overlap) {
      expect_value(op, [](All& b) { b.out.stride = 1; }, overlap(op.out, a.out.length));
      expect_jvp(op, [](All& b) { b.out.stride = 1; }, overlap("d" + op.out, a.out.length));
    }
    expect_vjp(op, [](All& b) { --b.g.count; }, lost_a_row("g", a.g));
    expect_vjp(op, [](All& b) { b.g.data = nullptr; }, no_data("g"));
    expect_vjp(op, [](All& b) { --b.to.x.count; }, lost_a_row("g" + op.x, a.to.x));
    expect_vjp(op, [](All& b) { b.to.x.stride = 1; }, overlap("g" + op.x, kLength));
    expect_jvp(op, [](All& b) { --b.along.x.count; }, lost_a_row("d" + op.x, a.along.x));
  }
}

TEST_F(Errors, of_the_columns_of_soft_permute) {
  float memory[20] = {};
  const Rows<float> x(memory, 2, 5);
  const auto permute = [&](std::ptrdiff_t columns) {
    return message([&] { soft_permute<float>(x, x, columns, 1.0, x); });
  };
  EXPECT_EQ(permute(-1), "soft_permute: length of columns must be in [0, 4294967295], got -1");
  EXPECT_EQ(permute(3), "soft_permute: values must have 2 rows of 15, got 2 rows of 5");
}

TEST_F(Errors, of_lap_kernel) {
  float memory[20] = {};
  const Rows<float> r(memory, 2, 5);
  const Rows<float> x(memory, 2, 3);
  const auto kernel = [&](Rows<const float> w, Rows<const float> at, Kernel of, Rows<float> y) {
    return message([&] { lap_kernel<float>(r, w, at, 1.0, of, y); });
  };
  using Shape = Kernel::Shape;
  EXPECT_EQ(kernel(r, x, {Shape::odd, 3}, x), "nothing thrown");
  EXPECT_EQ(kernel(r, x, {Shape::even, 4}, x), "lap_kernel: order must be in [0, 3], got 4");
  EXPECT_EQ(kernel(r, x, {Shape::odd, -1}, x), "lap_kernel: order must be in [0, 3], got -1");
  EXPECT_EQ(kernel(r, x, {Shape::cdf, 1}, x), "lap_kernel: order must be in [0, 0], got 1");
  EXPECT_EQ(kernel(x, x, {}, x), "lap_kernel: w must have 2 rows of 5, got 2 rows of 3");
  EXPECT_EQ(kernel(r, {memory, 1, 3}, {}, x), "lap_kernel: " + lost_a_row("x", x));
  EXPECT_EQ(kernel(r, {memory, 2, kTooLong}, {}, x), "lap_kernel: " + too_long("x"));
  EXPECT_EQ(kernel(r, x, {}, r), "lap_kernel: y must have 2 rows of 3, got 2 rows of 5");
  EXPECT_EQ(message([&] { lap_kernel<float>(r, r, x, 0.0, {}, x); }),
            "lap_kernel: alpha must be finite and not 0, got alpha=0");
  EXPECT_EQ(message([&] { lap_kernel<float>(r, r, x, 1.0, {}, x, -2); }),
            "lap_kernel: threads must be in [0, 1048576], got -2");
}

}  // namespace
}  // namespace lapsum::test
