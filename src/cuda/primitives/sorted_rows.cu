// NaN is sorted last, infinities next to it: one look at the end and two searches tell a row's
// facts.
#include "cuda/primitives/sorted_rows.h"

#include "cuda/primitives/bisection.h"
#include "cuda/primitives/for_each.h"
#include "cuda/primitives/numbers.h"
#include "math/orientation.h"

namespace lapsum::gpu {
namespace {

struct FindFacts {
  const double* r;
  std::ptrdiff_t n;
  Numbers alpha;
  Order order;
  RowFacts* facts;
  __device__ void operator()(std::ptrdiff_t row, std::ptrdiff_t) const {
    const double* const at = r + row * n;
    const Orientation orientation(alpha.at(row), order);
    const bool valid = orientation.valid && !(n > 0 && std::isnan(at[n - 1]));
    const std::ptrdiff_t below =
        valid ? count_while(0, n, IsBelow<double>{at, -HUGE_VAL, true}) : 0;
    const std::ptrdiff_t end = valid ? count_while(0, n, IsBelow<double>{at, HUGE_VAL, false}) : 0;
    const double unit = valid ? 1.0 : static_cast<double>(NAN);
    facts[row] = {below,
                  end - below,
                  orientation.alpha,
                  unit,
                  unit * orientation.sign,
                  unit * orientation.alpha_sign,
                  unit * orientation.peak()};
  }
};

struct FindGaps {
  const double* r;
  std::ptrdiff_t n;
  const RowFacts* facts;
  double* gap;
  __device__ void operator()(std::ptrdiff_t row, std::ptrdiff_t j) const {
    const RowFacts& at = facts[row];
    const std::ptrdiff_t i = row * n + j;
    const bool inside = j > at.below && j < at.end();
    gap[i] = inside ? std::fmin((r[i] - r[i - 1]) / at.alpha, kApart) : kApart;
  }
};

struct TakeInOrder {
  const double* v;
  const Index* order;
  std::ptrdiff_t n, repeat;
  double* out;
  __device__ void operator()(std::ptrdiff_t row, std::ptrdiff_t j) const {
    out[row * n + j] = v[row * n + order[shared_row(row, repeat) * n + j]];
  }
};

struct PutBack {
  const double* v;
  const Index* order;
  std::ptrdiff_t n, repeat;
  double* out;
  __device__ void operator()(std::ptrdiff_t row, std::ptrdiff_t j) const {
    out[row * n + order[shared_row(row, repeat) * n + j]] = v[row * n + j];
  }
};

struct Multiply {
  const double* a;
  const double* v;
  std::ptrdiff_t n, repeat;
  double* out;
  __device__ void operator()(std::ptrdiff_t row, std::ptrdiff_t j) const {
    out[row * n + j] = a[shared_row(row, repeat) * n + j] * v[row * n + j];
  }
};

}  // namespace

SortedRows sort_rows(Queue& queue, const double* r, std::ptrdiff_t rows, std::ptrdiff_t n,
                     int idle_bits, const PerRow& alpha, Order order) {
  double* const sorted = queue.take<double>(rows * n);
  Index* const places = queue.take<Index>(rows * n);
  double* const gap = queue.take<double>(rows * n);
  RowFacts* const facts = queue.take<RowFacts>(rows);
  sort_rows(queue, r, rows, n, idle_bits, sorted, places);
  for_each(queue, rows, 1, FindFacts{sorted, n, alpha, order, facts});
  for_each(queue, rows, n, FindGaps{sorted, n, facts, gap});
  return {rows, n, sorted, places, gap, facts};
}

double* in_order(Queue& queue, const SortedRows& sorted, const double* v, std::ptrdiff_t repeat) {
  double* const out = queue.take<double>(sorted.rows * repeat * sorted.n);
  for_each(queue, sorted.rows * repeat, sorted.n,
           TakeInOrder{v, sorted.order, sorted.n, repeat, out});
  return out;
}

double* back_in_place(Queue& queue, const SortedRows& sorted, const double* v,
                      std::ptrdiff_t repeat) {
  double* const out = queue.take<double>(sorted.rows * repeat * sorted.n);
  for_each(queue, sorted.rows * repeat, sorted.n, PutBack{v, sorted.order, sorted.n, repeat, out});
  return out;
}

double* multiply(Queue& queue, const SortedRows& sorted, const double* a, const double* v,
                 std::ptrdiff_t repeat) {
  double* const out = queue.take<double>(sorted.rows * repeat * sorted.n);
  for_each(queue, sorted.rows * repeat, sorted.n, Multiply{a, v, sorted.n, repeat, out});
  return out;
}

}  // namespace lapsum::gpu
