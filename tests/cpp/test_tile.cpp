// Tiles against the rows taken one at a time in double, which no tile does: every instruction set,
// every family, both directions; a row alone and a row among others.
#include <gtest/gtest.h>
#include <lapsum/lapsum.h>

#include <deque>
#include <numeric>

#include "bits.h"
#include "cpu/primitives/tile.h"
#include "families.h"
#include "guarded.h"
#include "targets.h"
#include "tolerances.h"

namespace lapsum::cpu {
namespace {

using test::allowed;
using test::Guarded;
using test::within;

constexpr std::ptrdiff_t kRows = 11;
constexpr std::ptrdiff_t kLengths[] = {1, 2, 3, 7, 8, 9, 31, 33, 64, 97, 255, kTileLength, 2500};
constexpr double kAlphas[] = {1e-4, 0.1, -1.0, 1e3};

template <class T>
struct Result {
  std::vector<T> rank, rank_gx, sorted, sorted_gx;
};

template <class T>
Result<T> run(const std::vector<double>& x, const std::vector<double>& g, std::ptrdiff_t n,
              double alpha, Order order, int threads = 1) {
  const std::ptrdiff_t rows = std::ssize(x) / n;
  Guarded<T> in(std::vector<T>(x.begin(), x.end()));
  Guarded<T> given(std::vector<T>(g.begin(), g.end()));
  Guarded<T> out(rows * n);
  const Rows<const T> from(in.data(), rows, n);
  const Rows<const T> back(given.data(), rows, n);
  const Rows<T> to(out.data(), rows, n);
  Result<T> result;
  lapsum::soft_rank<T>(from, alpha, to, order, threads);
  result.rank = out.copy();
  lapsum::soft_rank_vjp<T>(from, alpha, back, to, nullptr, order, threads);
  result.rank_gx = out.copy();
  lapsum::soft_sort<T>(from, alpha, to, order, threads);
  result.sorted = out.copy();
  lapsum::soft_sort_vjp<T>(from, alpha, back, to, nullptr, order, threads);
  result.sorted_gx = out.copy();
  return result;
}

struct Input {
  std::vector<double> x, g;
};

Input draw(const test::Family& family, std::ptrdiff_t n) {
  Input in;
  for (std::ptrdiff_t row = 0; row < kRows; ++row) {
    for (const double v : family.row(n + 1000 * row)) {
      if (std::ssize(in.x) < (row + 1) * n) in.x.push_back(static_cast<float>(v));
    }
  }
  for (const double v : test::Draw(3).normals(kRows * n)) in.g.push_back(static_cast<float>(v));
  return in;
}

TEST(Tile, is_the_row_by_row_result) {
  test::for_each_target([] {
    for (const test::Family& family : test::kFamilies) {
      for (const std::ptrdiff_t n : kLengths) {
        const Input in = draw(family, n);
        for (const double alpha : kAlphas) {
          SCOPED_TRACE(testing::Message() << family.name << ", n = " << n << ", alpha = " << alpha);
          const Order order = n % 2 ? Order::descending : Order::ascending;
          const auto got = run<float>(in.x, in.g, n, alpha, order);
          const auto want = run<double>(in.x, in.g, n, alpha, order);
          const double steep = static_cast<double>(n) / std::abs(alpha);
          for (std::size_t i = 0; i < in.x.size(); ++i) {
            const long double y = std::abs(want.rank[i]);
            ASSERT_TRUE(within(got.rank[i], want.rank[i],
                               allowed("soft_rank", "float32", "value", {{"1+y", 1 + y}})));
            ASSERT_TRUE(within(got.rank_gx[i], want.rank_gx[i],
                               allowed("soft_rank", "float32", "grad_x",
                                       {{"D", steep}, {"max|g|", 4}, {"1/alpha", 1}})));
            const long double near = std::abs(want.sorted[i]) + std::abs(alpha);
            ASSERT_TRUE(within(got.sorted[i], want.sorted[i],
                               allowed("soft_sort", "float32", "value", {{"near", near}})));
            ASSERT_TRUE(within(got.sorted_gx[i], want.sorted_gx[i],
                               allowed("soft_sort", "float32", "grad_x", {{"max|g|", 4}})));
          }
        }
      }
    }
  });
}

// Ties in the middle of a row that is its own mirror image lie at levels, up to roundings, which may put
// them there in the wrong order.
TEST(Tile, takes_ties_that_lie_at_levels) {
  constexpr std::ptrdiff_t kSides = 2;
  test::for_each_target([] {
    for (std::ptrdiff_t ties = 2; ties <= 9; ++ties) {
      const std::ptrdiff_t n = 2 * kSides + ties;
      Input in;
      for (std::ptrdiff_t row = 0; row < 100 * kRows; ++row) {
        const double inner = static_cast<float>(0.01 * static_cast<double>(row + 1));
        for (const double v : {-2 * inner, -inner}) in.x.push_back(v);
        in.x.insert(in.x.end(), static_cast<std::size_t>(ties), 0.0);
        for (const double v : {inner, 2 * inner}) in.x.push_back(v);
      }
      for (const double v : test::Draw(3).normals(std::ssize(in.x))) {
        in.g.push_back(static_cast<float>(v));
      }
      const auto got = run<float>(in.x, in.g, n, 0.5, Order::ascending);
      const auto want = run<double>(in.x, in.g, n, 0.5, Order::ascending);
      for (std::size_t i = 0; i < in.x.size(); ++i) {
        SCOPED_TRACE(testing::Message() << ties << " ties, element " << i);
        ASSERT_TRUE(within(got.sorted_gx[i], want.sorted_gx[i],
                           allowed("soft_sort", "float32", "grad_x", {{"max|g|", 4}})));
        ASSERT_TRUE(within(
            got.sorted[i], want.sorted[i],
            allowed("soft_sort", "float32", "value", {{"near", std::abs(want.sorted[i]) + 0.5L}})));
      }
    }
  });
}

TEST(Tile, has_the_same_bits_for_a_row_alone_and_among_others) {
  test::for_each_target([] {
    for (const test::Family& family : test::kFamilies) {
      for (const std::ptrdiff_t n : kLengths) {
        const Input in = draw(family, n);
        const auto all = run<float>(in.x, in.g, n, 0.1, Order::ascending);
        // As many as a tile is wide, fewer of them, and one; by threads, which get some each.
        for (const std::ptrdiff_t count : {1, 2, 5, 8}) {
          for (std::ptrdiff_t row = 0; row < kRows; row += count) {
            SCOPED_TRACE(testing::Message()
                         << family.name << ", n = " << n << ", " << count << " rows from " << row);
            const std::ptrdiff_t end = std::min(row + count, kRows);
            const auto part = [&](const auto& of) {
              return std::decay_t<decltype(of)>(of.begin() + row * n, of.begin() + end * n);
            };
            const int threads = count == 1 ? 1 : 3;
            const auto some = run<float>(part(in.x), part(in.g), n, 0.1, Order::ascending, threads);
            ASSERT_TRUE(test::same_bits(some.rank, part(all.rank)));
            ASSERT_TRUE(test::same_bits(some.rank_gx, part(all.rank_gx)));
            ASSERT_TRUE(test::same_bits(some.sorted, part(all.sorted)));
            ASSERT_TRUE(test::same_bits(some.sorted_gx, part(all.sorted_gx)));
          }
        }
      }
    }
  });
}

// Rows that steps of equal width tell apart, rows of which some share a step, and rows of which most do,
// in one tile.
TEST(Tile, sorts_rows_of_every_spread) {
  using Draw = test::Draw;
  const test::Family spreads[] = {
      {"normal", [](Draw& draw, auto, auto) { return draw.normal(); }},
      {"reversed", [](Draw&, auto i, auto) { return -0.1 * static_cast<double>(i); }},
      {"equal", [](Draw&, auto, auto) { return -2.5; }},
      {"few", [](Draw& draw, auto, auto) { return static_cast<double>(draw.below(7)) - 3; }},
      {"mostly zeros",
       [](Draw& draw, auto, auto) { return draw.uniform() < 0.9 ? -0.0 : draw.normal(); }},
      {"pairs", [](Draw& draw, auto i, auto) { return i % 7 ? draw.normal() : 1 + i * 1e-7; }},
      {"outlier", [](Draw& draw, auto i, auto n) { return i == n / 2 ? 1e30 : draw.normal(); }},
      {"all", [](Draw& draw, auto, auto) { return 6e38 * (draw.uniform() - 0.5); }},
      {"denormal", [](Draw& draw, auto, auto) { return 1e-40 * draw.normal(); }},
  };
  test::for_each_target([&] {
    std::vector<std::ptrdiff_t> lengths = {97, 255, 1000, 1023, kTileLength};
    for (std::ptrdiff_t n = 1; n <= 72; ++n) lengths.push_back(n);
    for (std::ptrdiff_t n = 80; n < 1024; n += 56) lengths.push_back(n);
    for (std::ptrdiff_t n = 1025; n < kTileLength; n += 248) lengths.push_back(n);
    for (const std::ptrdiff_t n : lengths) {
      for (std::size_t first = 0; first < std::size(spreads); ++first) {
        for (const int count : {1, tile_rows()}) {
          std::deque<Guarded<float>> rows;
          Tile tile{};
          tile.rows = count;
          tile.n = n;
          for (int l = 0; l < count; ++l) {
            // Where steps do not do for one row, the others must not suffer; else all are of one kind.
            const auto& family = spreads[n % 2 && l > 0 ? 0 : first];
            rows.emplace_back(family.row<float>(n));
          }
          for (int l = 0; l < count; ++l) {
            tile.x[static_cast<std::size_t>(l)] = rows[static_cast<std::size_t>(l)].data();
            tile.sign[static_cast<std::size_t>(l)] = l % 3 ? 1 : -1;
          }
          Arena arena;
          const SortedRows got = sort_rows(tile, arena);
          for (int l = 0; l < count; ++l) {
            SCOPED_TRACE(testing::Message() << spreads[first].name << ", n = " << n << ", row " << l
                                            << " of " << count);
            const std::vector<float> x = rows[static_cast<std::size_t>(l)].copy();
            const auto sign = static_cast<float>(tile.sign[static_cast<std::size_t>(l)]);
            std::vector<std::int32_t> want(x.size());
            std::iota(want.begin(), want.end(), 0);
            std::stable_sort(want.begin(), want.end(), [&](std::int32_t a, std::int32_t b) {
              return sign * x[static_cast<std::size_t>(a)] < sign * x[static_cast<std::size_t>(b)];
            });
            for (std::ptrdiff_t j = 0; j < n; ++j) {
              const std::int32_t element = want[static_cast<std::size_t>(j)];
              const float value = got.values[j * got.width + l];
              ASSERT_EQ(got.order[j * got.width + l], element) << "position " << j;
              ASSERT_EQ(value, sign * x[static_cast<std::size_t>(element)]) << "position " << j;
              ASSERT_FALSE(value == 0 && std::signbit(value)) << "position " << j;
            }
          }
        }
      }
    }
  });
}

// Lanes beyond the end of a row must not go by what an earlier call has left behind.
TEST(Tile, does_not_look_at_what_scratch_memory_held) {
  test::for_each_target([] {
    for (const std::ptrdiff_t n : {1, 3, 13, 97, 511}) {
      const std::vector<double> row = test::family("normal").row(n);
      const std::vector<float> x(row.begin(), row.end());
      Tile tile{{x.data()}, 1, n, {}, {}};
      tile.sign.fill(1);
      tile.alpha.fill(0.3);
      const auto results = [&](double held) {
        Arena arena;
        std::vector<std::vector<float>> all(4, std::vector<float>(x.size()));
        const auto scope = [&](auto&& body) {
          const Arena::Scope own(arena);
          body();
        };
        const auto dirty = [&] {
          for (int buffer = 0; buffer < 64; ++buffer) {
            for (double& number : arena.take<double>(2000)) number = held;
          }
        };
        scope(dirty);
        scope([&] { rank_tile(tile, {all[0].data()}, {}, arena); });
        scope(dirty);
        scope([&] { rank_tile_vjp(tile, {x.data()}, {all[1].data()}, {}, arena); });
        scope(dirty);
        scope([&] { sort_tile(tile, {all[2].data()}, {}, arena); });
        scope(dirty);
        scope([&] { sort_tile_vjp(tile, {x.data()}, {all[3].data()}, {}, arena); });
        return all;
      };
      const auto want = results(0);
      for (const double held : {-1e3, -1e12, 1e300, std::numeric_limits<double>::quiet_NaN()}) {
        SCOPED_TRACE(testing::Message() << "n = " << n << ", " << held);
        const auto got = results(held);
        for (std::size_t i = 0; i < want.size(); ++i) {
          EXPECT_TRUE(test::same_bits(got[i], want[i]));
        }
      }
    }
  });
}

}  // namespace
}  // namespace lapsum::cpu
