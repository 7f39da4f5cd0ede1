// The argsort that soft_rank and soft_sort keep: derivatives have the same bits with it as without,
// and one that is not that of its row is refused, without a look beyond the row.
#include <gtest/gtest.h>

#include <numeric>
#include <stdexcept>
#include <utility>

#include "bits.h"
#include "cpu/primitives/kept_order.h"
#include "cpu/primitives/parallel.h"
#include "cpu/primitives/tile.h"
#include "families.h"
#include "guarded.h"
#include "lapsum/lapsum.h"
#include "targets.h"

namespace lapsum::test {
namespace {

using cpu::Index;

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr Index kUntouched = 0xabcdef01;

template <class T>
struct Operation {
  const char* name;
  decltype(&soft_rank<T>) value;
  decltype(&soft_rank_vjp<T>) vjp;
  decltype(&soft_rank_jvp<T>) jvp;
};

template <class T>
const Operation<T> kOperations[] = {
    {"soft_rank", soft_rank<T>, soft_rank_vjp<T>, soft_rank_jvp<T>},
    {"soft_sort", soft_sort<T>, soft_sort_vjp<T>, soft_sort_jvp<T>},
};

template <class T>
std::vector<T> narrowed(const std::vector<double>& row) {
  return {row.begin(), row.end()};
}

/// A row of a family, with infinities and signed zeros among its values.
template <class T>
std::vector<T> with_ends(const Family& family, std::ptrdiff_t n) {
  std::vector<T> x = narrowed<T>(family.row(n));
  const double others[] = {kInf, -kInf, 0.0, -0.0, kInf, -0.0, 0.0, -kInf};
  for (std::size_t i = 0; i < std::size(others) && 3 * i < x.size(); ++i) {
    x[3 * i] = static_cast<T>(others[i]);
  }
  return x;
}

/// Everything an operation gives on a batch, with the argsort it kept or without.
template <class T>
struct Results {
  std::vector<T> y, gx, dy;
  std::vector<double> galpha;
  std::vector<Index> argsort;
};

template <class T>
Results<T> evaluate(const Operation<T>& op, Rows<const T> x, double alpha, Order order, int threads,
                    bool keep) {
  const std::ptrdiff_t size = x.count * x.length;
  const std::vector<T> g = narrowed<T>(Draw(1).normals(size));
  const std::vector<double> dalpha = Draw(2).normals(x.count);
  Guarded<T> y(size), gx(size), dy(size);
  Guarded<double> galpha(x.count);
  Guarded<Index> argsort(std::vector<Index>(static_cast<std::size_t>(size), kUntouched));
  Rows<Index> kept;
  if (keep) kept = {argsort.data(), x.count, x.length};
  const Rows<const T> given(g.data(), x.count, x.length);
  const auto to = [&](Guarded<T>& out) { return Rows<T>(out.data(), x.count, x.length); };
  op.value(x, alpha, to(y), order, threads, kept);
  op.vjp(x, alpha, given, to(gx), galpha.data(), order, threads, kept);
  op.jvp(x, alpha, given, dalpha.data(), to(dy), order, threads, kept);
  return {y.copy(), gx.copy(), dy.copy(), galpha.copy(), argsort.copy()};
}

template <class T>
void expect_same(const Results<T>& got, const Results<T>& want) {
  EXPECT_TRUE(same_bits(got.y, want.y));
  EXPECT_TRUE(same_bits(got.gx, want.gx));
  EXPECT_TRUE(same_bits(got.dy, want.dy));
  EXPECT_TRUE(same_bits(got.galpha, want.galpha));
}

template <class T>
std::vector<Index> stable_argsort(const T* x, std::ptrdiff_t n, bool descending) {
  std::vector<Index> order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), Index{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](Index a, Index b) { return descending ? x[a] > x[b] : x[a] < x[b]; });
  return order;
}

// From here on rows of every type have an argsort to keep.
constexpr std::ptrdiff_t kLong = kArgsortFrom<float>;

template <class T>
class KeptOrder : public testing::Test {};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(KeptOrder, Types);

TYPED_TEST(KeptOrder, changes_no_bit) {
  using T = TypeParam;
  for (const Operation<T>& op : kOperations<T>) {
    for (const std::ptrdiff_t n : {std::ptrdiff_t{1}, std::ptrdiff_t{2}, std::ptrdiff_t{97},
                                   kLong - 1, kLong, kLong + 90, std::ptrdiff_t{40000}}) {
      for (const Family& family : kFamilies) {
        SCOPED_TRACE(testing::Message() << op.name << ", " << family.name << ", n = " << n);
        const Order order = n % 2 == 0 ? Order::ascending : Order::descending;
        const std::vector<T> x = with_ends<T>(family, n);
        const Rows<const T> row(x.data(), 1, n);
        const Results<T> want = evaluate(op, row, 0.3, order, 1, false);
        const Results<T> got = evaluate(op, row, 0.3, order, 3, true);
        expect_same(got, want);
        EXPECT_EQ(want.argsort, std::vector<Index>(x.size(), kUntouched));
        if (n < kArgsortFrom<T>) {
          EXPECT_EQ(got.argsort, want.argsort);
        } else {
          EXPECT_EQ(got.argsort, stable_argsort(x.data(), n, order == Order::descending));
        }
      }
    }
  }
}

TYPED_TEST(KeptOrder, of_ragged_rows_and_rows_that_are_nan) {
  using T = TypeParam;
  constexpr std::ptrdiff_t kWidth = kLong + 100;
  const std::vector<std::ptrdiff_t> lengths = {kWidth, kLong - 1,  kLong,      kLong, 0,
                                               1,      kLong + 50, kLong + 50, kWidth};
  const std::ptrdiff_t count = std::ssize(lengths);
  std::vector<T> x = narrowed<T>(Draw(3).normals(count * kWidth));
  for (std::ptrdiff_t i = 0; i < count; ++i) {
    for (std::ptrdiff_t j = lengths[i]; j < kWidth; ++j) x[i * kWidth + j] = static_cast<T>(kNaN);
  }
  x[6 * kWidth + 5] = static_cast<T>(kNaN);
  const Rows<const T> rows(x.data(), count, kWidth, kWidth, lengths.data());
  for (const Operation<T>& op : kOperations<T>) {
    for (const double alpha : {0.3, -0.3}) {
      SCOPED_TRACE(testing::Message() << op.name << ", alpha = " << alpha);
      const Results<T> want = evaluate(op, rows, alpha, Order::ascending, 1, false);
      const Results<T> got = evaluate(op, rows, alpha, Order::ascending, 3, true);
      expect_same(got, want);
      for (std::ptrdiff_t i = 0; i < count; ++i) {
        SCOPED_TRACE(i);
        std::vector<Index> order;
        if (lengths[i] >= kArgsortFrom<T> && i != 6) {
          order = stable_argsort(x.data() + i * kWidth, lengths[i], alpha < 0);
        }
        order.resize(kWidth, kUntouched);
        const auto begin = got.argsort.begin() + i * kWidth;
        EXPECT_EQ(std::vector<Index>(begin, begin + kWidth), order);
      }
    }
  }
}

// Those that a tile does not take stand among others, and tiles are not all full.
TYPED_TEST(KeptOrder, of_rows_that_are_taken_together) {
  using T = TypeParam;
  constexpr std::ptrdiff_t kCount = 21;
  for (const std::ptrdiff_t n :
       {kLong, cpu::kTileLength, cpu::kTileLength + 1, std::ptrdiff_t{5000}}) {
    std::vector<T> x = narrowed<T>(Draw(4).normals(kCount * n));
    x[3 * n + 5] = static_cast<T>(kNaN);
    x[9 * n + 7] = static_cast<T>(kInf);
    x[10 * n + 1] = static_cast<T>(-kInf);
    for (std::ptrdiff_t j = 0; j < n; j += 3) x[12 * n + j] = static_cast<T>(j % 2 ? 0.0 : -0.0);
    for (const Operation<T>& op : kOperations<T>) {
      for (const std::ptrdiff_t count : {std::ptrdiff_t{5}, kCount}) {
        SCOPED_TRACE(testing::Message() << op.name << ", " << count << " rows, n = " << n);
        const Rows<const T> rows(x.data(), count, n);
        const Results<T> want = evaluate(op, rows, -0.3, Order::ascending, 1, false);
        for (const int threads : {1, 2, 3}) {
          const Results<T> got = evaluate(op, rows, -0.3, Order::ascending, threads, true);
          expect_same(got, want);
          for (std::ptrdiff_t i = 0; i < count; ++i) {
            SCOPED_TRACE(i);
            std::vector<Index> order(static_cast<std::size_t>(n), kUntouched);
            if (i != 3) order = stable_argsort(x.data() + i * n, n, true);
            const auto begin = got.argsort.begin() + i * n;
            EXPECT_EQ(std::vector<Index>(begin, begin + n), order);
          }
        }
      }
    }
  }
}

// The order of a row alone, or of the last of several equal ones.
template <class T>
void expect_refused(const std::vector<T>& x, const std::vector<Index>& right,
                    const std::vector<Index>& wrong, int count, int threads) {
  const std::ptrdiff_t n = std::ssize(x);
  std::vector<T> all;
  std::vector<Index> orders;
  for (int i = 0; i < count; ++i) {
    const std::vector<Index>& order = i + 1 < count ? right : wrong;
    all.insert(all.end(), x.begin(), x.end());
    orders.insert(orders.end(), order.begin(), order.end());
  }
  Guarded<T> row(all);
  Guarded<Index> given(orders);
  Guarded<T> out(count * n);
  for (const Operation<T>& op : kOperations<T>) {
    const Rows<const T> rows(row.data(), count, n);
    const Rows<const Index> argsort(given.data(), count, n);
    const Rows<T> to(out.data(), count, n);
    const auto expect = [&](const std::string& name, auto&& call) {
      try {
        call();
        ADD_FAILURE() << name << " threw nothing";
      } catch (const std::invalid_argument& error) {
        EXPECT_EQ(error.what(), name + ": argsort must be that of x, got another order");
      }
    };
    const std::string name = op.name;
    expect(name + "_vjp",
           [&] { op.vjp(rows, 1.0, rows, to, nullptr, Order::ascending, threads, argsort); });
    expect(name + "_jvp",
           [&] { op.jvp(rows, 1.0, rows, nullptr, to, Order::ascending, threads, argsort); });
  }
}

TYPED_TEST(KeptOrder, of_another_row_is_refused) {
  using T = TypeParam;
  for (const std::ptrdiff_t n : {kLong + 100, 2 * cpu::kChunk + 50}) {
    std::vector<T> x = narrowed<T>(family("normal").row(n));
    x[3] = x[n / 2] = x[n - 1] = 0;
    const std::vector<Index> right = stable_argsort(x.data(), n, false);
    const auto refuse = [&](const char* what, auto&& damage) {
      SCOPED_TRACE(testing::Message() << what << ", n = " << n);
      std::vector<Index> wrong = right;
      damage(wrong);
      for (const int threads : {1, 3}) {
        for (const int count : {1, 8}) expect_refused(x, right, wrong, count, threads);
      }
    };
    refuse("descending", [](auto& order) { std::reverse(order.begin(), order.end()); });
    refuse("zeros", [](auto& order) { std::fill(order.begin(), order.end(), Index{0}); });
    refuse("never written", [](auto& order) { std::fill(order.begin(), order.end(), kUntouched); });
    refuse("beyond the end", [&](auto& order) { order.back() = static_cast<Index>(n); });
    refuse("far beyond it", [](auto& order) { order[0] = 0xffffffffu; });
    refuse("an element twice", [](auto& order) { order[100] = order[101]; });
    refuse("ties turned round", [&](auto& order) {
      std::swap(*std::find(order.begin(), order.end(), Index{3}),
                *std::find(order.begin(), order.end(), static_cast<Index>(n - 1)));
    });
    for (const std::ptrdiff_t at : {std::ptrdiff_t{1}, n / 2, n - 1, cpu::Chunks(n).begin(1)}) {
      if (at >= n) continue;
      refuse("neighbours exchanged", [&](auto& order) { std::swap(order[at - 1], order[at]); });
    }
  }
}

TYPED_TEST(KeptOrder, values_are_those_of_a_sort) {
  using T = TypeParam;
  for_each_target([] {
    for (const std::ptrdiff_t n : kLengths) {
      for (const bool negate : {false, true}) {
        SCOPED_TRACE(testing::Message() << "n = " << n << ", negate = " << negate);
        Guarded<T> x(with_ends<T>(family("ties"), n));
        Guarded<Index> order(n);
        Guarded<double> want(n), got(n);
        cpu::Arena arena;
        cpu::argsort(x.data(), n, negate, want.data(), order.data(), arena, 1);
        for (const int threads : {1, 3}) {
          cpu::gather_sorted(x.data(), n, negate, order.data(), got.data(), threads);
          EXPECT_TRUE(same_bits(got.copy(), want.copy()));
        }
      }
    }
  });
}

// Whatever lane a wrong place falls into.
TYPED_TEST(KeptOrder, is_checked_at_every_place) {
  using T = TypeParam;
  constexpr Index kParts = 1100;
  for_each_target([&] {
    for (const char* name : {"normal", "all equal"}) {
      Guarded<T> x(narrowed<T>(family(name).row(kParts)));
      std::vector<Index> order = stable_argsort(x.data(), kParts, false);
      Guarded<double> sorted(kParts);
      const auto gather = [&] {
        cpu::gather_sorted(x.data(), kParts, false, order.data(), sorted.data(), 1);
      };
      EXPECT_NO_THROW(gather());
      for (std::size_t p = 1; p < order.size(); ++p) {
        SCOPED_TRACE(testing::Message() << name << ", " << p);
        std::swap(order[p - 1], order[p]);
        EXPECT_THROW(gather(), cpu::WrongArgsort);
        std::swap(order[p - 1], order[p]);
        const Index right = std::exchange(order[p], kParts);
        EXPECT_THROW(gather(), cpu::WrongArgsort);
        order[p] = right;
      }
    }
  });
}

TEST(KeptOrderView, must_have_the_shape_of_x) {
  const std::vector<double> x = {3, 1, 2};
  std::vector<double> y(3);
  std::vector<Index> order(4);
  try {
    soft_rank<double>({x.data(), 1, 3}, 1.0, {y.data(), 1, 3}, Order::ascending, 1,
                      {order.data(), 1, 4});
    ADD_FAILURE() << "nothing thrown";
  } catch (const std::invalid_argument& error) {
    EXPECT_STREQ(error.what(), "soft_rank: argsort must have 1 rows of 3, got 1 rows of 4");
  }
}

}  // namespace
}  // namespace lapsum::test
