// Rows in ascending order with their gaps: infinities stand aside at both ends, the finite values
// between them carry the scans.
#pragma once

#include "cuda/primitives/convert.h"
#include "cuda/primitives/decayed_scan.h"
#include "cuda/primitives/sort.h"

namespace lapsum::gpu {

/// What is known of a row. The last four are NaN in a row with NaN or with an invalid alpha:
/// whatever is multiplied by one of them becomes NaN there, as it should.
struct RowFacts {
  std::ptrdiff_t below;   ///< elements at -inf: sorted places [0, below)
  std::ptrdiff_t finite;  ///< places [below, below + finite); none in a row with NaN
  double alpha;           ///< |alpha|
  double unit;            ///< 1
  double sign;            ///< kernels see r = sign * x
  double alpha_sign;      ///< d|alpha| / dalpha
  double peak;            ///< 1 / (2 alpha)

  __device__ std::ptrdiff_t end() const { return below + finite; }
};

struct SortedRows {
  std::ptrdiff_t rows, n;
  const double* r;     ///< sorted values
  const Index* order;  ///< sorted place -> element
  const double* gap;   ///< distances in alphas; kApart next to infinities
  const RowFacts* facts;

  Gaps gaps(std::ptrdiff_t repeat = 1) const { return {rows * repeat, n, gap, repeat}; }
};

/// Sorts rows that are already oriented, as load_rows gives them.
SortedRows sort_rows(Queue& queue, const double* r, std::ptrdiff_t rows, std::ptrdiff_t n,
                     int idle_bits, const PerRow& alpha, Order order);

/// x in double as `order` and the sign of alpha want it, contiguous.
template <class T>
double* load(Queue& queue, Rows<const T> x, const PerRow& alpha, Order order) {
  double* const out = queue.take<double>(x.count * x.length);
  load_rows(queue, x, alpha, order, out);
  return out;
}
/// x in double as it is.
template <class T>
double* load(Queue& queue, Rows<const T> x) {
  return load(queue, x, 1, Order::ascending);
}
template <class T>
void store(Queue& queue, const double* y, Rows<T> out) {
  store_rows(queue, y, out);
}

template <class T>
SortedRows sort_rows(Queue& queue, Rows<const T> x, const PerRow& alpha, Order order) {
  return sort_rows(queue, load(queue, x, alpha, order), x.count, x.length, kIdleBits<T>, alpha,
                   order);
}

/// v, one number per element, in sorted order; `repeat` rows of v for each row.
double* in_order(Queue& queue, const SortedRows& sorted, const double* v,
                 std::ptrdiff_t repeat = 1);

/// The inverse: out[element] = v[sorted place].
double* back_in_place(Queue& queue, const SortedRows& sorted, const double* v,
                      std::ptrdiff_t repeat = 1);

/// a times v, both per sorted place; `repeat` rows of v for each row of a.
double* multiply(Queue& queue, const SortedRows& sorted, const double* a, const double* v,
                 std::ptrdiff_t repeat);

}  // namespace lapsum::gpu
