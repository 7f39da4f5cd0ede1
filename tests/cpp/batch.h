// A batch of arguments for any operation, and all that the operation makes of it: value, gradients
// and a derivative along a direction, from buffers with guard zones and any stride.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <vector>

#include "bits.h"
#include "families.h"
#include "guarded.h"
#include "operations.h"

namespace lapsum::test {

/// Numbers that float holds exactly, so that float and double see the same problem.
struct Batch {
  std::ptrdiff_t rows = 0, n = 0, seconds = 0;
  Shape shape{};
  std::vector<double> x, second, alpha;     // arguments, rows one after another
  std::vector<double> dx, dsecond, dalpha;  // a direction
  std::vector<double> g;                    // gradients of the output
  Order order = Order::ascending;
  std::vector<std::ptrdiff_t> lengths{};      // of a ragged batch
  std::vector<double> weights{}, dweights{};  // empty if the operation takes none

  /// Row i alone.
  Batch row(std::ptrdiff_t i) const {
    const auto part = [&](const std::vector<double>& of) {
      const std::ptrdiff_t size = std::ssize(of) / rows;
      return std::vector<double>(of.begin() + i * size, of.begin() + (i + 1) * size);
    };
    return {1,
            n,
            seconds,
            shape,
            part(x),
            part(second),
            part(alpha),
            part(dx),
            part(dsecond),
            part(dalpha),
            part(g),
            order,
            {},
            part(weights),
            part(dweights)};
  }
};

inline std::vector<double> floats(std::vector<double> values) {
  for (double& v : values) v = static_cast<double>(static_cast<float>(v));
  return values;
}

/// The second argument of one row: levels lie inside (0, n), the second one being whole.
inline std::vector<double> draw_second(Second kind, std::ptrdiff_t n, Draw& draw) {
  const auto size = static_cast<double>(n);
  switch (kind) {
    case Second::none:
      return {};
    case Second::points:
      return draw.normals(n + 1);
    case Second::levels:
      return {size * (0.1 + 0.8 * draw.uniform()), n > 1 ? std::floor(size / 2) : 0.5, size - 0.25};
    case Second::quantiles:
      return {0.125, 0.5 + 0.25 * std::floor(2 * draw.uniform()), 0.4375};
    case Second::values:
      return draw.normals(2 * n);
  }
  return {};
}

/// Weights of one row, in sum at most n; every third element of a longer row has none.
inline std::vector<double> draw_weights(std::ptrdiff_t n, Draw& draw) {
  std::vector<double> weights;
  for (std::ptrdiff_t i = 0; i < n; ++i) {
    weights.push_back(i % 3 == 1 && n > 2 ? 0 : 0.25 + 0.75 * draw.uniform());
  }
  return floats(weights);
}

template <class T>
Batch make_batch(const Operation<T>& op, const Family& family, std::ptrdiff_t rows,
                 std::ptrdiff_t n, double alpha, Order order = Order::ascending) {
  Draw draw(static_cast<unsigned>(rows + n));
  Batch batch;
  batch.rows = rows;
  batch.n = n;
  batch.order = order;
  batch.seconds = std::ssize(draw_second(op.kind, n, draw));
  const std::vector<double> base = floats(family.row(n));
  for (std::ptrdiff_t i = 0; i < rows; ++i) {
    for (const double v : base) batch.x.push_back(i == 0 ? v : v * (1 + 0.25 * double(i % 4)));
    std::vector<double> second = draw_second(op.kind, n, draw);
    if (op.weighted) {
      const std::vector<double> weights = draw_weights(n, draw);
      const double whole = std::accumulate(weights.begin(), weights.end(), 0.0);
      if (op.kind == Second::levels) {
        for (double& k : second) k *= whole / static_cast<double>(n);
      }
      batch.weights.insert(batch.weights.end(), weights.begin(), weights.end());
    }
    batch.second.insert(batch.second.end(), second.begin(), second.end());
    batch.alpha.push_back(i % 3 == 2 ? -alpha : alpha * (1 + 0.5 * double(i)));
  }
  batch.shape = op.shape(n, batch.seconds);
  batch.x = floats(batch.x);
  batch.second = floats(batch.second);
  batch.dx = floats(draw.normals(rows * n));
  batch.dsecond = floats(draw.normals(rows * batch.seconds));
  batch.dalpha = floats(draw.normals(rows));
  if (op.weighted) batch.dweights = floats(draw.normals(rows * n));
  batch.g = floats(draw.normals(rows * batch.shape.blocks * batch.shape.length));
  return batch;
}

/// Rows of T with `pad` elements between them.
template <class T>
class Buffer {
 public:
  Buffer(std::ptrdiff_t count, std::ptrdiff_t length, std::ptrdiff_t pad)
      : count_(count), length_(length), pad_(pad), data_(count * (length + pad)) {
    std::fill(data_.span().begin(), data_.span().end(), kUntouched);
  }
  Buffer(std::ptrdiff_t count, std::ptrdiff_t length, std::ptrdiff_t pad,
         const std::vector<double>& values)
      : Buffer(count, length, pad) {
    for (std::ptrdiff_t i = 0; i < count * length; ++i) {
      data_[i / length * (length + pad) + i % length] =
          static_cast<T>(values[static_cast<std::size_t>(i)]);
    }
    before_ = data_.copy();
  }
  ~Buffer() {
    if (!before_.empty()) {
      EXPECT_TRUE(same_bits(data_.copy(), before_)) << "an input has changed";
    }
    for (std::ptrdiff_t i = 0; i < count_; ++i) {
      for (std::ptrdiff_t j = 0; j < pad_; ++j) {
        EXPECT_EQ(data_[i * (length_ + pad_) + length_ + j], kUntouched) << "between rows";
      }
    }
  }

  Rows<T> rows() { return {data_.data(), count_, length_, length_ + pad_}; }
  std::vector<double> values() {
    std::vector<double> out;
    for (std::ptrdiff_t i = 0; i < count_; ++i) {
      out.insert(out.end(), rows()[i], rows()[i] + length_);
    }
    return out;
  }

 private:
  static constexpr T kUntouched = -12345;

  std::ptrdiff_t count_, length_, pad_;
  Guarded<T> data_;
  std::vector<T> before_;
};

/// All that an operation makes of a batch, rows one after another.
struct Results {
  std::vector<double> value, gx, gsecond, galpha, tangent, gweights{};

  /// Everything of row i, in one piece.
  std::vector<double> row(std::ptrdiff_t i, std::ptrdiff_t rows) const {
    std::vector<double> out;
    for (const std::vector<double>* part : {&value, &gx, &gsecond, &galpha, &tangent, &gweights}) {
      const std::ptrdiff_t size = std::ssize(*part) / rows;
      out.insert(out.end(), part->begin() + i * size, part->begin() + (i + 1) * size);
    }
    return out;
  }
  std::vector<double> all() const { return row(0, 1); }
};

template <class T>
Results evaluate(const Operation<T>& op, const Batch& b, Threads threads = 1,
                 std::ptrdiff_t pad = 0) {
  const std::ptrdiff_t blocks = b.rows * b.shape.blocks;
  Buffer<T> x(b.rows, b.n, pad, b.x), dx(b.rows, b.n, pad, b.dx), gx(b.rows, b.n, pad);
  Buffer<T> second(b.rows, b.seconds, pad, b.second), dsecond(b.rows, b.seconds, pad, b.dsecond);
  Buffer<T> gsecond(b.rows, b.seconds, pad);
  Buffer<T> g(blocks, b.shape.length, pad, b.g), y(blocks, b.shape.length, pad);
  Buffer<T> dy(blocks, b.shape.length, pad);
  const std::ptrdiff_t weighted = op.weighted ? b.n : 0;
  Buffer<T> weights(b.rows, weighted, pad, b.weights), gweights(b.rows, weighted, pad);
  Buffer<T> dweights(b.rows, weighted, pad, b.dweights);
  Buffer<double> levels(b.rows, b.seconds, pad, b.second);
  Guarded<double> dlevels(b.dsecond), glevels(b.rows * b.seconds);
  Guarded<double> alpha(b.alpha), dalpha(b.dalpha), galpha(b.rows);

  Rows<const T> view = x.rows();
  if (!b.lengths.empty()) view.lengths = b.lengths.data();
  const Call<T> call{view,
                     second.rows(),
                     {levels.rows().data, b.seconds, levels.rows().stride},
                     PerRow(alpha.data()),
                     b.order,
                     threads,
                     weights.rows()};
  op.value(call, y.rows());
  op.vjp(call, g.rows(),
         {gx.rows(), gsecond.rows(), glevels.data(), galpha.data(), gweights.rows()});
  op.jvp(call, {dx.rows(), dsecond.rows(), dlevels.data(), dalpha.data(), dweights.rows()},
         dy.rows());
  std::vector<double> second_gradient;
  if (op.has_levels()) second_gradient = glevels.copy();
  if (op.has_view()) second_gradient = gsecond.values();
  return {y.values(), gx.values(), second_gradient, galpha.copy(), dy.values(), gweights.values()};
}

}  // namespace lapsum::test
