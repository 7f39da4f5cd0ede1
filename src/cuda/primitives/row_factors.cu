// Element-wise: every number is that of its row, times the facts asked for.
#include "cuda/primitives/row_factors.h"

#include "cuda/primitives/for_each.h"

namespace lapsum::gpu {
namespace {

struct MakeFactor {
  const RowFacts* facts;
  Signs signs;
  double constant;
  const double* given;
  double* out;
  __device__ void operator()(std::ptrdiff_t row, std::ptrdiff_t) const {
    const double value = constant * signs.of(facts[row]);
    out[row] = given ? value * given[row] : value;
  }
};

struct ScaleRow {
  const RowFacts* facts;
  Signs signs;
  std::ptrdiff_t m;
  double* y;
  __device__ void operator()(std::ptrdiff_t row, std::ptrdiff_t j) const {
    y[row * m + j] *= signs.of(facts[row]);
  }
};

struct Fill {
  const RowFacts* facts;
  std::ptrdiff_t m;
  double value;
  double* out;
  __device__ void operator()(std::ptrdiff_t row, std::ptrdiff_t j) const {
    out[row * m + j] = facts[row].unit * value;
  }
};

}  // namespace

void row_factors(Queue& queue, const SortedRows& sorted, const Signs& of, double constant,
                 const double* given, double* out) {
  for_each(queue, sorted.rows, 1, MakeFactor{sorted.facts, of, constant, given, out});
}

void scale_rows(Queue& queue, const SortedRows& sorted, const Signs& of, std::ptrdiff_t m,
                double* y) {
  for_each(queue, sorted.rows, m, ScaleRow{sorted.facts, of, m, y});
}

void fill(Queue& queue, const SortedRows& sorted, std::ptrdiff_t m, double value, double* out) {
  for_each(queue, sorted.rows, m, Fill{sorted.facts, m, value, out});
}

}  // namespace lapsum::gpu
