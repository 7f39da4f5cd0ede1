// Sorting against std::stable_sort: order, ties, signed zeros, denormals, infinities and NaN.
#include <gtest/gtest.h>

#include <numeric>

#include "bits.h"
#include "cpu/primitives/argsort.h"
#include "families.h"
#include "guarded.h"
#include "targets.h"

namespace lapsum::cpu {
namespace {

using test::Draw;
using test::Guarded;

template <class T>
std::vector<T> values(std::ptrdiff_t n) {
  using Limits = std::numeric_limits<T>;
  const T special[] = {T(0),
                       -T(0),
                       Limits::denorm_min(),
                       -Limits::denorm_min(),
                       Limits::min(),
                       Limits::max(),
                       Limits::lowest(),
                       Limits::infinity(),
                       T(1),
                       T(-1),
                       -Limits::infinity(),
                       Limits::quiet_NaN(),
                       -Limits::quiet_NaN()};
  Draw draw(static_cast<unsigned>(n));
  std::vector<T> x(static_cast<std::size_t>(n));
  for (T& v : x) {
    const auto pick = static_cast<std::size_t>(draw.below(3 * std::ssize(special)));
    v = pick < std::size(special) ? special[pick] : static_cast<T>(draw.normal());
  }
  return x;
}

template <class T>
void expect_sorted(const std::vector<T>& x, bool negate, bool with_order, int threads) {
  const std::ptrdiff_t n = std::ssize(x);
  std::vector<Index> want(x.size());
  std::iota(want.begin(), want.end(), Index{0});
  std::stable_sort(want.begin(), want.end(), [&](Index a, Index b) {
    if (std::isnan(x[a]) || std::isnan(x[b])) return !std::isnan(x[a]) && std::isnan(x[b]);
    return negate ? x[a] > x[b] : x[a] < x[b];
  });

  Guarded<T> input(x);
  for (const Sorting sorting : {Sorting::compared, Sorting::fastest}) {
    SCOPED_TRACE(sorting == Sorting::compared ? "compared" : "fastest");
    Guarded<double> sorted(n);
    Guarded<Index> order(n);
    Arena arena;
    argsort(input.data(), n, negate, sorted.data(), with_order ? order.data() : nullptr, arena,
            threads, sorting);
    for (std::ptrdiff_t i = 0; i < n; ++i) {
      const auto value = static_cast<double>(x[want[static_cast<std::size_t>(i)]]);
      if (std::isnan(value)) {
        ASSERT_TRUE(std::isnan(sorted[i])) << "position " << i;
      } else {
        ASSERT_EQ(sorted[i], negate ? -value : value) << "position " << i;
        ASSERT_FALSE(value == 0 && std::signbit(sorted[i])) << "position " << i;
      }
    }
    if (with_order) {
      EXPECT_EQ(order.copy(), want);
    }
    EXPECT_TRUE(test::same_bits(input.copy(), x)) << "input changed";
  }
}

// Rows that digits in equal steps tell apart, and rows that they do not.
const test::Family kSpreads[] = {
    {"normal", [](Draw& draw, auto, auto) { return draw.normal(); }},
    {"sorted", [](Draw&, auto i, auto) { return 0.25 * static_cast<double>(i); }},
    {"reversed", [](Draw&, auto i, auto) { return -0.1 * static_cast<double>(i); }},
    {"equal", [](Draw&, auto, auto) { return -2.5; }},
    {"rounded", [](Draw& draw, auto, auto) { return std::round(100 * draw.normal()) / 100; }},
    {"halves", [](Draw& draw, auto, auto) { return std::max(0.0, draw.normal()); }},
    {"mostly zeros",
     [](Draw& draw, auto, auto) { return draw.uniform() < 0.99 ? -0.0 : draw.normal(); }},
    {"clusters",
     [](Draw& draw, auto, auto) { return double(draw.below(20)) + 1e-5 * draw.normal(); }},
    {"one outlier", [](Draw& draw, auto i, auto n) { return i == n / 2 ? 1e30 : draw.normal(); }},
    {"heavy tails", [](Draw& draw, auto, auto) { return draw.normal() / draw.normal(); }},
    {"wide", [](Draw& draw, auto, auto) { return std::exp(80 * draw.uniform()); }},
    {"all of the range", [](Draw& draw, auto, auto) { return 3e38 * (2 * draw.uniform() - 1); }},
    {"denormal", [](Draw& draw, auto, auto) { return 1e-40 * draw.normal(); }},
    {"two infinities",
     [](Draw& draw, auto i, auto) { return i < 2 ? INFINITY * (1 - 2 * i) : draw.normal(); }},
};

template <class T>
class Argsort : public testing::Test {};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(Argsort, Types);

TYPED_TEST(Argsort, is_a_stable_sort_at_every_length) {
  std::vector<std::ptrdiff_t> lengths(std::begin(test::kLengths), std::end(test::kLengths));
  lengths.insert(lengths.end(), {799, 800, 801, 32767, 32768, 32769});
  for (const std::ptrdiff_t n : lengths) {
    SCOPED_TRACE(n);
    for (const int threads : {1, 2, 3}) {
      expect_sorted(values<TypeParam>(n), false, true, threads);
      expect_sorted(values<TypeParam>(n), true, true, threads);
      expect_sorted(values<TypeParam>(n), false, false, threads);
    }
  }
}

TYPED_TEST(Argsort, keeps_the_order_of_ties) {
  for (const std::ptrdiff_t n : {5, 1000, 100003}) {
    std::vector<TypeParam> x(static_cast<std::size_t>(n));
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = i % 2 ? TypeParam(0) : -TypeParam(0);
    expect_sorted(x, false, true, 3);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<TypeParam>(i % 7);
    expect_sorted(x, true, true, 3);
  }
}

TYPED_TEST(Argsort, sorts_rows_of_every_spread) {
  for (const test::Family& family : kSpreads) {
    for (const std::ptrdiff_t n : {2, 513, 4099, 40001, 300007}) {
      SCOPED_TRACE(testing::Message() << family.name << ", n = " << n);
      Draw draw(static_cast<unsigned>(n));
      std::vector<TypeParam> x;
      for (std::ptrdiff_t i = 0; i < n; ++i) {
        x.push_back(static_cast<TypeParam>(family.element(draw, i, n)));
      }
      for (const int threads : {1, 2}) {
        expect_sorted(x, threads == 2, true, threads);
        if (n < 100000) expect_sorted(x, threads == 1, false, threads);
      }
    }
  }
}

}  // namespace
}  // namespace lapsum::cpu
