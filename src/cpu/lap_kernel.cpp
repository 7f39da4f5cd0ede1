// A weighted scan of the asked order, gathered at the points.
#include "cpu/lap_kernel.h"

#include "cpu/primitives/points.h"
#include "cpu/primitives/sorted_row.h"
#include "instantiate.h"

namespace lapsum::cpu {
namespace {

template <int Order>
void add_kernel(const SortedRow& row, std::span<const double> w, std::span<const Point> points,
                bool odd, double scale, std::span<double> y, Arena& arena, int threads) {
  Weights<Order> weights{};
  weights[0] = w;
  const Scans<Order> scans = scan_both<Order>(row.decays, weights, arena, threads);
  for_each_chunk(std::ssize(y), threads, [&](std::ptrdiff_t begin, std::ptrdiff_t end) {
    for (std::ptrdiff_t t = begin; t < end; ++t) {
      const Sides sides = gather(scans, points[t]);
      y[t] += scale * (odd ? sides.odd() : sides.even());
    }
  });
}

void add_kernel(const SortedRow& row, std::span<const double> w, std::span<const Point> points,
                int order, bool odd, double scale, std::span<double> y, Arena& arena, int threads) {
  switch (order) {
    case 0:
      return add_kernel<0>(row, w, points, odd, scale, y, arena, threads);
    case 1:
      return add_kernel<1>(row, w, points, odd, scale, y, arena, threads);
    case 2:
      return add_kernel<2>(row, w, points, odd, scale, y, arena, threads);
    case 3:
      return add_kernel<3>(row, w, points, odd, scale, y, arena, threads);
  }
}

// The elements whose CDF at x[t] is 1 but for an exponential: all those left of it, and half of
// those at the same infinity.
template <class T>
void add_counts(const SortedRow& row, const T* w, std::span<const double> x,
                std::span<const Point> points, std::span<double> y, Arena& arena) {
  std::span<double> before = arena.take<double>(row.n + 1);
  before[0] = 0;
  for (std::ptrdiff_t p = 0; p < row.n; ++p) {
    before[p + 1] = before[p] + static_cast<double>(w[row.order[p]]);
  }
  const double finite = before[row.n - row.above];
  for (std::ptrdiff_t t = 0; t < std::ssize(y); ++t) {
    if (x[t] == -INFINITY) {
      y[t] += 0.5 * before[row.below];
    } else if (x[t] == INFINITY) {
      y[t] += finite + 0.5 * (before[row.n] - finite);
    } else {
      y[t] += before[row.below + points[t].j + 1];
    }
  }
}

}  // namespace

template <class T>
void lap_kernel(Rows<const T> r, Rows<const T> w, Rows<const T> x, const PerRow& alpha,
                Kernel kernel, Rows<T> y, Threads threads) {
  const bool odd = kernel.shape != Kernel::Shape::even;
  const bool cdf = kernel.shape == Kernel::Shape::cdf;
  const bool jumps = kernel.shape == Kernel::Shape::odd && kernel.order == 0;
  for_each_row(
      r.count, r.length + x.length, threads, [&](std::ptrdiff_t i, Arena& arena, int inner) {
        const Orientation orientation(alpha[i], Order::ascending);
        const SortedRow row = sort_row(r[i], r.length, orientation, Need::order, arena, inner);
        if (!row.valid) return fill(y[i], x.length, kNaN);
        const std::span<const double> at = load(x[i], x.length, orientation.sign, arena, inner);
        const std::span<const double> weights = row.gather(w[i], 1, arena, inner);
        std::span<double> sum = arena.take<double>(x.length);
        std::fill(sum.begin(), sum.end(), 0.0);
        const std::span<const Point> points = locate(row.decays, at, true, arena, inner);
        const double scale = cdf ? -0.5 : jumps ? 0.5 : 1;
        add_kernel(row, weights, points, kernel.order, odd, scale, sum, arena, inner);
        if (cdf) add_counts(row, w[i], at, points, sum, arena);
        if (jumps) {  // the mean of ties counted on either side counts them 0
          add_kernel(row, weights, locate(row.decays, at, false, arena, inner), kernel.order, odd,
                     scale, sum, arena, inner);
        }
        for (std::ptrdiff_t t = 0; t < x.length; ++t) {
          y[i][t] = narrow<T>(std::isnan(at[t]) ? kNaN : sum[t]);
        }
      });
}

LAPSUM_INSTANTIATE(lap_kernel)

}  // namespace lapsum::cpu
