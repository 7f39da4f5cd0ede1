// Ragged batches: every row has the bits it has alone, whatever its padding holds and how wide it is.
#include <gtest/gtest.h>

#include "batch.h"

namespace lapsum::test {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

using Numbers = std::vector<double>;

/// The elements of a row: an axis of `n`, `each` of them side by side, or a matrix of n by n.
struct Axis {
  std::ptrdiff_t n;
  bool square;

  std::ptrdiff_t size(std::ptrdiff_t each) const { return square ? n * n : n * each; }
};

/// `row` with its axis of elements made longer, or cut.
Numbers resized(const Numbers& row, Axis from, Axis to, double padding) {
  if (from.n == 0) return Numbers(static_cast<std::size_t>(to.size(0)), padding);
  const std::ptrdiff_t each = from.square ? 1 : std::ssize(row) / from.n;
  Numbers out(static_cast<std::size_t>(to.size(each)), padding);
  const std::ptrdiff_t lines = from.square ? std::min(from.n, to.n) : 1;
  const std::ptrdiff_t run = std::min(from.n, to.n) * each;
  for (std::ptrdiff_t i = 0; i < lines; ++i) {
    std::copy_n(row.begin() + i * from.n, run, out.begin() + i * to.n);
  }
  return out;
}

template <class T>
class RaggedBatch : public testing::Test {
 public:
  static bool per_element(const Operation<T>& op) { return op.shape(10, 3).length != 3; }
  static bool square(const Operation<T>& op) { return op.shape(10, 3).length == 100; }

  /// The one row of `batch` with its elements padded or cut to `n`.
  static Batch with_length(const Operation<T>& op, Batch batch, std::ptrdiff_t n, double padding) {
    const Axis from{batch.n, false}, to{n, false};
    for (Numbers* row : {&batch.x, &batch.dx}) *row = resized(*row, from, to, padding);
    if (op.weighted) {
      for (Numbers* row : {&batch.weights, &batch.dweights}) {
        *row = resized(*row, from, to, padding);
      }
    }
    if (op.kind == Second::values) {
      for (Numbers* row : {&batch.second, &batch.dsecond}) *row = resized(*row, from, to, padding);
      batch.seconds = 2 * n;
    }
    batch.g = blocks_resized(op, batch, batch.g, batch.n, n, padding);
    batch.n = n;
    batch.shape = op.shape(n, batch.seconds);
    return batch;
  }

  /// A row of results with its elements padded or cut.
  static Numbers blocks_resized(const Operation<T>& op, const Batch& batch, const Numbers& row,
                                std::ptrdiff_t from, std::ptrdiff_t to, double padding) {
    if (!per_element(op)) return row;
    Numbers out;
    const std::ptrdiff_t size = std::ssize(row) / batch.shape.blocks;
    for (std::ptrdiff_t i = 0; i < batch.shape.blocks; ++i) {
      const Numbers block(row.begin() + i * size, row.begin() + (i + 1) * size);
      const Numbers part = resized(block, {from, square(op)}, {to, square(op)}, padding);
      out.insert(out.end(), part.begin(), part.end());
    }
    return out;
  }
};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(RaggedBatch, Types);

TYPED_TEST(RaggedBatch, padding_has_no_part) {
  constexpr std::ptrdiff_t kLong = 33;
  const std::vector<std::ptrdiff_t> lengths = {33, 1, 5, 5, 20, 33, 2};
  for (const Operation<TypeParam>& op : operations<TypeParam>()) {
    SCOPED_TRACE(op.name);
    const Batch source = make_batch(op, family("normal"), 7, kLong, 0.1, Order::descending);
    for (const std::ptrdiff_t width : {33, 40, 130}) {
      Batch wide;
      std::vector<Batch> rows;
      for (std::ptrdiff_t i = 0; i < source.rows; ++i) {
        const std::ptrdiff_t n = lengths[static_cast<std::size_t>(i)];
        rows.push_back(this->with_length(op, source.row(i), n, 0));
        const Batch row = this->with_length(op, rows.back(), width, i % 2 ? kNaN : 1e30);
        for (auto part : {&Batch::x, &Batch::second, &Batch::alpha, &Batch::dx, &Batch::dsecond,
                          &Batch::dalpha, &Batch::g, &Batch::weights, &Batch::dweights}) {
          (wide.*part).insert((wide.*part).end(), (row.*part).begin(), (row.*part).end());
        }
        wide.n = row.n;
        wide.seconds = row.seconds;
        wide.shape = row.shape;
      }
      wide.rows = source.rows;
      wide.order = source.order;
      wide.lengths = lengths;
      const Results together = evaluate(op, wide, 2, 3);
      const double absent = std::string(op.name).ends_with("log_soft_topk") ? -INFINITY : 0.0;
      for (std::ptrdiff_t i = 0; i < wide.rows; ++i) {
        SCOPED_TRACE(i);
        const Batch& alone = rows[static_cast<std::size_t>(i)];
        const Results want = evaluate(op, alone);
        const auto part = [&](const Numbers& of) {
          const std::ptrdiff_t size = std::ssize(of) / wide.rows;
          return Numbers(of.begin() + i * size, of.begin() + (i + 1) * size);
        };
        const auto results = [&](const Numbers& row, double padding) {
          return this->blocks_resized(op, alone, row, alone.n, width, padding);
        };
        const auto elements = [&](const Numbers& row) {
          return resized(row, {alone.n, false}, {width, false}, 0);
        };
        EXPECT_TRUE(same_bits(part(together.value), results(want.value, absent)));
        EXPECT_TRUE(same_bits(part(together.tangent), results(want.tangent, 0)));
        EXPECT_TRUE(same_bits(part(together.gx), elements(want.gx)));
        EXPECT_TRUE(same_bits(part(together.gsecond),
                              op.kind == Second::values ? elements(want.gsecond) : want.gsecond));
        EXPECT_TRUE(same_bits(part(together.galpha), want.galpha));
        if (op.weighted) {
          EXPECT_TRUE(same_bits(part(together.gweights), elements(want.gweights)));
        }
      }
    }
  }
}

TEST(Ragged, lengths_beyond_the_row_count_as_its_ends) {
  const std::vector<float> x = {3, 1, 2, 3, 1, 2};
  const std::vector<std::ptrdiff_t> lengths = {-4, 99};
  std::vector<float> rank(6, -1.0f);
  soft_rank<float>({x.data(), 2, 3, 3, lengths.data()}, 1e-3, {rank.data(), 2, 3});
  EXPECT_EQ(rank, (std::vector<float>{0, 0, 0, 2, 0, 1}));
}

TEST(Ragged, k_beyond_the_elements_chooses_them_all) {
  const std::vector<double> x = {3, 1, 2, 0, kNaN, kNaN};
  const std::vector<std::ptrdiff_t> lengths = {3, 1};
  std::vector<double> p(6, -1.0);
  soft_topk<double>({x.data(), 2, 3, 3, lengths.data()}, 3.0, 0.1, {p.data(), 2, 3});
  EXPECT_EQ(p, (std::vector<double>{1, 1, 1, 1, 0, 0}));
}

}  // namespace
}  // namespace lapsum::test
