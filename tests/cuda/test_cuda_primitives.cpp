// The primitives that all operations are made of, each against its definition.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "cuda/primitives/levels.h"
#include "cuda/primitives/slabs.h"
#include "cuda/primitives/spread.h"
#include "cuda/primitives/sum_rows.h"
#include "device.h"
#include "families.h"
#include "schedules.h"
#include "tolerances.h"

namespace lapsum::gpu {
namespace {

using test::Draw;
using test::Family;
using Real = long double;

constexpr std::size_t kBytes = std::size_t{1} << 24;

// A queue with memory of its own; arrays go there and back.
struct Memory : test::Device<double, double> {
  Queue queue{this->launch(kBytes)};
};

std::vector<double> draw_normals(std::ptrdiff_t n, unsigned seed) { return Draw(seed).normals(n); }

TEST(CudaSort, is_stable_with_nan_last) {
  for (const std::ptrdiff_t n :
       test::cases<std::ptrdiff_t>({1, 2, 3, 7, 64, 1000, 1024, 1025, 3000})) {
    for (const std::ptrdiff_t rows : test::cases<std::ptrdiff_t>({1, 5})) {
      Draw draw(static_cast<unsigned>(n + rows));
      std::vector<double> x;
      for (std::ptrdiff_t i = 0; i < rows * n; ++i) {
        const double kinds[] = {draw.normal(), static_cast<float>(draw.normal()),
                                0.0,           -0.0,
                                HUGE_VAL,      -HUGE_VAL,
                                2.0,           NAN};
        x.push_back(kinds[draw.below(i / n == 1 ? 8 : 7)]);
      }
      std::vector<double> sorted(x.size());
      std::vector<double> places(x.size());
      {
        Memory memory;
        std::vector<Index> order(x.size());
        double* const to = memory.out(sorted.data(), rows * n);
        Index* const from = memory.queue.take<Index>(rows * n);
        sort_rows(memory.queue, memory.in(x.data(), rows * n), rows, n, kIdleBits<double>, to,
                  from);
        test::check_cuda(
            cudaMemcpy(order.data(), from, order.size() * sizeof(Index), cudaMemcpyDeviceToHost));
        std::copy(order.begin(), order.end(), places.begin());
      }
      for (std::ptrdiff_t row = 0; row < rows; ++row) {
        const double* const at = x.data() + row * n;
        std::vector<std::ptrdiff_t> want(static_cast<std::size_t>(n));
        std::iota(want.begin(), want.end(), 0);
        std::stable_sort(want.begin(), want.end(), [&](std::ptrdiff_t a, std::ptrdiff_t b) {
          return std::isnan(at[b]) ? !std::isnan(at[a]) : at[a] < at[b];
        });
        for (std::ptrdiff_t j = 0; j < n; ++j) {
          const auto i = static_cast<std::size_t>(row * n + j);
          ASSERT_EQ(places[i], want[static_cast<std::size_t>(j)]) << "n = " << n << ", " << j;
          ASSERT_TRUE(test::within(sorted[i], at[want[static_cast<std::size_t>(j)]], 0));
        }
      }
    }
  }
}

// Scans of `repeat` rows of weights for each row of gaps, by their definition.
template <int Order>
void expect_scan(std::ptrdiff_t rows, std::ptrdiff_t n, double widest, Toward toward, bool ones) {
  constexpr std::ptrdiff_t kRepeat = 2;
  Draw draw(static_cast<unsigned>(n));
  std::vector<double> gap;
  for (std::ptrdiff_t i = 0; i < rows * n; ++i) {
    const double kinds[] = {widest * draw.uniform(), 0, 1e-17, kApart};
    gap.push_back(kinds[draw.below(40) < 37 ? 0 : 1 + draw.below(3)]);
  }
  const std::ptrdiff_t count = kRepeat * rows * n;
  const std::vector<double> w = ones ? std::vector<double>(count, 1) : draw_normals(count, 3);
  const std::vector<double> w1 = draw_normals(count, 4);
  std::array<std::vector<double>, Order + 1> got;
  {
    Memory memory;
    Scan<Order> scan{toward, ones ? nullptr : memory.in(w.data(), count), {}};
    if (Order == 1) scan.w1 = memory.in(w1.data(), count);
    for (int p = 0; p <= Order; ++p) {
      got[p].resize(static_cast<std::size_t>(count));
      scan.at[p] = memory.out(got[p].data(), count);
    }
    decayed_scan<Order>(memory.queue, {kRepeat * rows, n, memory.in(gap.data(), rows * n), kRepeat},
                        {}, scan);
  }
  for (std::ptrdiff_t row = 0; row < kRepeat * rows; ++row) {
    const auto at = [&](const std::vector<double>& v, std::ptrdiff_t j) {
      return Real(v[static_cast<std::size_t>(row * n + j)]);
    };
    const auto step = [&](std::ptrdiff_t j) {
      return Real(gap[static_cast<std::size_t>(row / kRepeat * n + j)]);
    };
    for (std::ptrdiff_t j = 0; j < n; j += n > 100 ? 41 : 1) {
      std::array<Real, Order + 1> want{}, size{};
      Real z = 0;
      for (std::ptrdiff_t i = j; i >= 0 && i < n && z < kApart;) {
        for (int p = 0; p <= Order; ++p) {
          Real term = at(w, i) * std::pow(z, p) * std::exp(-z);
          if (Order == 1 && p == 1) term += at(w1, i) * std::exp(-z);
          want[p] += term;
          size[p] += std::abs(term);
        }
        const std::ptrdiff_t next = toward == Toward::right ? i - 1 : i + 1;
        if (next >= 0 && next < n) z += step(std::max(i, next));
        i = next;
      }
      for (int p = 0; p <= Order; ++p) {
        ASSERT_TRUE(test::within(
            at(got[p], j), want[p],
            test::allowed("decayed_scan", "float64", "value", {{"sum|terms|", size[p]}})))
            << "order " << p << ", n = " << n << ", row " << row << ", " << j;
      }
    }
  }
}

TEST(CudaScan, sums_decayed_moments) {
  for (const Toward toward : {Toward::right, Toward::left}) {
    for (const std::ptrdiff_t n : test::cases<std::ptrdiff_t>({1, 2, 7, 33, 1024, 1025, 3100})) {
      for (const double widest : test::cases({1e-3, 2.0})) {
        expect_scan<0>(3, n, widest, toward, true);
        expect_scan<0>(2, n, widest, toward, false);
        expect_scan<1>(3, n, widest, toward, true);
        expect_scan<2>(1, n, widest, toward, false);
        expect_scan<3>(3, n, widest, toward, false);
      }
    }
  }
}

// 150 tiles: more than a block of the carries takes at once.
TEST(CudaScan, joins_many_tiles) { expect_scan<0>(1, 150 * 1024 + 17, 1e-4, Toward::right, true); }

TEST(CudaScan, adds_up_without_gaps_and_keeps_nan_in_its_row) {
  const std::ptrdiff_t rows = 40, n = 50;
  std::vector<double> w(rows * n, 1), got(rows * n);
  w[7 * n + 3] = NAN;
  {
    Memory memory;
    decayed_scan<0>(
        memory.queue, {rows, n, nullptr},
        {Toward::right, memory.in(w.data(), rows * n), {memory.out(got.data(), rows * n)}}, {});
  }
  for (std::ptrdiff_t i = 0; i < rows * n; ++i) {
    const bool spoilt = i / n == 7 && i % n >= 3;
    EXPECT_TRUE(test::within(got[i], spoilt ? NAN : Real(i % n + 1), 0)) << i;
  }
}

TEST(CudaSumRows, adds_up_rows_of_any_length) {
  for (const std::ptrdiff_t n : {0, 1, 31, 33, 1024, 1025, 40000}) {
    const std::ptrdiff_t rows = 3;
    const std::vector<double> x = draw_normals(rows * n, 5);
    std::vector<double> got(rows);
    {
      Memory memory;
      sum_rows(memory.queue, memory.in(x.data(), rows * n), rows, n, memory.out(got.data(), rows));
    }
    for (std::ptrdiff_t row = 0; row < rows; ++row) {
      Real want = 0, size = 0;
      for (std::ptrdiff_t j = 0; j < n; ++j) {
        want += x[row * n + j];
        size += std::abs(x[row * n + j]);
      }
      EXPECT_TRUE(
          test::within(got[row], want,
                       test::allowed("decayed_scan", "float64", "value", {{"sum|terms|", size}})));
    }
  }
}

// sum_t u_t K_w(b_t) = sum_j w_j K_u(r_j), the roots b_t being those of any levels.
TEST(CudaSpread, is_the_adjoint_of_gather) {
  for (const std::ptrdiff_t m : test::cases<std::ptrdiff_t>({1, 5, 300, 1100})) {
    for (const double alpha : test::cases({0.01, 50.0, 1.0})) {
      const std::ptrdiff_t rows = 2, n = 257;
      Draw draw(static_cast<unsigned>(m));
      const std::vector<double> x = draw.normals(rows * n);
      const std::vector<double> w = draw.normals(rows * n), u = draw.normals(rows * m);
      std::vector<double> k;
      for (std::ptrdiff_t i = 0; i < rows * m; ++i) {
        k.push_back(static_cast<double>(n) * (1.2 * draw.uniform() - 0.1));
      }
      std::vector<double> at_points(rows * m), right(rows * n), left(rows * n), in_row(rows * n);
      {
        Memory memory;
        Queue& queue = memory.queue;
        const SortedRows sorted = sort_rows(queue, memory.in(x.data(), rows * n), rows, n,
                                            kIdleBits<double>, alpha, Order::ascending);
        const Scans<0> ones = scan_both<0>(queue, sorted.gaps(), nullptr);
        const Levels levels(memory.in(k.data(), rows * m), m, m);
        const Points points = solve_levels(queue, sorted, ones, RowLevels::of(levels)).points;
        const double* const weights = in_order(queue, sorted, memory.in(w.data(), rows * n));
        gather(queue, scan_both<0>(queue, sorted.gaps(), weights), n, points, {},
               memory.out(at_points.data(), rows * m));
        const Scans<0> seen = spread<0>(queue, sorted, points, find_runs(queue, points, false),
                                        memory.in(u.data(), rows * m));
        const auto download = [&](const double* from, std::vector<double>& to) {
          test::check_cuda(
              cudaMemcpy(to.data(), from, to.size() * sizeof(double), cudaMemcpyDeviceToHost));
        };
        download(seen.right[0], right);
        download(seen.left[0], left);
        download(weights, in_row);
      }
      for (std::ptrdiff_t row = 0; row < rows; ++row) {
        Real there = 0, back = 0, size = 0;
        for (std::ptrdiff_t t = row * m; t < (row + 1) * m; ++t) {
          there += Real(u[t]) * at_points[t];
          size += std::abs(Real(u[t]) * at_points[t]);
        }
        for (std::ptrdiff_t j = row * n; j < (row + 1) * n; ++j) {
          back += Real(in_row[j]) * (Real(right[j]) + left[j]);
          size += std::abs(Real(in_row[j]) * (Real(right[j]) + left[j]));
        }
        EXPECT_TRUE(test::within(
            there, back, test::allowed("scatter", "float64", "value", {{"sum|terms|", size}})))
            << "m = " << m << ", alpha = " << alpha;
      }
    }
  }
}

TEST(CudaSlabs, cover_a_batch_with_the_parts_that_belong_to_them) {
  const std::ptrdiff_t rows = 10, length = kSlab / 3;
  const double numbers[10] = {};
  std::ptrdiff_t next = 0;
  cuda::Launch nowhere;
  Queue queue(nowhere);
  for_each_slab(queue, rows, length, [&](const Slab& slab) {
    EXPECT_EQ(slab.first, next);
    EXPECT_EQ(slab.count, next == 9 ? 1 : 3);
    const Rows<const double> x = slab.of(Rows<const double>(numbers, rows, 1, 1));
    EXPECT_EQ(x.data, numbers + next);
    EXPECT_EQ(x.count, slab.count);
    EXPECT_EQ(slab.of(Rows<const double>()).data, nullptr);
    EXPECT_EQ(slab.of(PerRow(numbers)).data(), numbers + next);
    EXPECT_EQ(slab.of(PerRow(2.0))[0], 2.0);
    EXPECT_EQ(slab.of(Levels(numbers, 1, 1)).data(), numbers + next);
    EXPECT_EQ(slab.of(Levels(numbers, 5, 0)).data(), numbers);
    EXPECT_EQ(slab.of(numbers), numbers + next);
    next += slab.count;
  });
  EXPECT_EQ(next, rows);
}

TEST(CudaQueue, without_a_device_counts_the_memory_of_a_recipe) {
  const auto recipe = [](Queue& queue) {
    queue.take<char>(1);
    {
      const Queue::Scope scope(queue);
      queue.take<double>(1000);
    }
    return queue.take<double>(100);
  };
  Queue counting;
  EXPECT_EQ(recipe(counting), nullptr);
  EXPECT_EQ(counting.most(), 256 + 8192);
  alignas(256) static char memory[256 + 8192];
  Queue queue(cuda::Launch{nullptr, memory, sizeof memory});
  EXPECT_EQ(reinterpret_cast<char*>(recipe(queue)), memory + 256);
}

}  // namespace
}  // namespace lapsum::gpu
