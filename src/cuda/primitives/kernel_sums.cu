// A weighted scan of the asked order, gathered at the points.
#include "cuda/primitives/kernel_sums.h"

#include "cuda/primitives/for_each.h"
#include "cuda/primitives/row_factors.h"

namespace lapsum::gpu {
namespace {

template <int Order>
void add_order(Queue& queue, const SortedRows& sorted, const double* w, const Points& points,
               const Term& term, double* y) {
  const Queue::Scope scope(queue);
  gather(queue, scan_both<Order>(queue, sorted.gaps(), w), sorted.n, points, term, y);
}

void add_order(Queue& queue, int order, const SortedRows& sorted, const double* w,
               const Points& points, const Term& term, double* y) {
  switch (order) {
    case 0:
      return add_order<0>(queue, sorted, w, points, term, y);
    case 1:
      return add_order<1>(queue, sorted, w, points, term, y);
    case 2:
      return add_order<2>(queue, sorted, w, points, term, y);
    case 3:
      return add_order<3>(queue, sorted, w, points, term, y);
  }
}

// Adds the elements whose CDF is 1 but for an exponential: all those left of the point, and half of
// those at the same infinity. `sums` are the prefix sums of w, null where w are ones.
struct AddCounts {
  SortedRows sorted;
  const double* sums;
  const double* x;
  Points points;
  double* y;

  __device__ double before(std::ptrdiff_t row, std::ptrdiff_t place) const {
    if (sums == nullptr) return static_cast<double>(place);
    return place > 0 ? sums[row * sorted.n + place - 1] : 0;
  }
  __device__ void operator()(std::ptrdiff_t row, std::ptrdiff_t t) const {
    const std::ptrdiff_t i = row * points.m + t;
    double count = before(row, static_cast<std::ptrdiff_t>(points.at[i].next));
    if (std::isinf(x[i])) count = 0.5 * (x[i] > 0 ? count + before(row, sorted.n) : count);
    y[i] += count;
  }
};

}  // namespace

void kernel_sums(Queue& queue, const SortedRows& sorted, const double* w, const double* x,
                 std::ptrdiff_t m, Kernel kernel, double* y) {
  const Queue::Scope scope(queue);
  const bool cdf = kernel.shape == Kernel::Shape::cdf;
  const bool odd = kernel.shape != Kernel::Shape::even;
  const bool jumps = kernel.shape == Kernel::Shape::odd && kernel.order == 0;
  const Points points = locate(queue, sorted, x, m, true);
  Term term{.odd = odd, .scale = cdf ? -0.5 : jumps ? 0.5 : 1};
  add_order(queue, kernel.order, sorted, w, points, term, y);
  if (jumps) {  // the mean of ties counted on either side counts them 0
    term.add = true;
    add_order(queue, kernel.order, sorted, w, locate(queue, sorted, x, m, false), term, y);
  }
  if (cdf) {
    double* sums = nullptr;
    if (w) {
      sums = queue.take<double>(sorted.rows * sorted.n);
      decayed_scan<0>(queue, {sorted.rows, sorted.n, nullptr}, {Toward::right, w, {sums}}, {});
    }
    for_each(queue, sorted.rows, m, AddCounts{sorted, sums, x, points, y});
  }
  scale_rows(queue, sorted, {}, m, y);
}

}  // namespace lapsum::gpu
