// Columns of values, n x d row-major in each row of a batch, as rows of their own: those of one row
// of the batch follow each other.
#pragma once

#include "cuda/primitives/element.h"
#include "cuda/primitives/for_each.h"
#include "lapsum/rows.h"

namespace lapsum::gpu {

/// `count` columns from `first` on, of `all` in each row.
struct Columns {
  std::ptrdiff_t all, first, count;
};

template <class T>
struct LoadColumns {
  Rows<const T> values;
  std::ptrdiff_t n;
  Columns columns;
  double* out;
  __device__ void operator()(std::ptrdiff_t line, std::ptrdiff_t c) const {
    const std::ptrdiff_t row = line / n;
    const std::ptrdiff_t i = line - row * n;
    out[(row * columns.count + c) * n + i] =
        to_double(values[row][i * columns.all + columns.first + c]);
  }
};

template <class T>
struct StoreColumns {
  const double* y;
  std::ptrdiff_t n;
  Columns columns;
  Rows<T> out;
  __device__ void operator()(std::ptrdiff_t line, std::ptrdiff_t c) const {
    const std::ptrdiff_t row = line / n;
    const std::ptrdiff_t i = line - row * n;
    out[row][i * columns.all + columns.first + c] = narrow<T>(y[(row * columns.count + c) * n + i]);
  }
};

template <class T>
double* load_columns(Queue& queue, Rows<const T> values, std::ptrdiff_t n, const Columns& columns) {
  double* const out = queue.take<double>(values.count * n * columns.count);
  for_each(queue, values.count * n, columns.count, LoadColumns<T>{values, n, columns, out});
  return out;
}

template <class T>
void store_columns(Queue& queue, const double* y, std::ptrdiff_t n, const Columns& columns,
                   Rows<T> out) {
  for_each(queue, out.count * n, columns.count, StoreColumns<T>{y, n, columns, out});
}

}  // namespace lapsum::gpu
