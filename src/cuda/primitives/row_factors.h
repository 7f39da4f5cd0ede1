// Numbers per row: the factors that orientation asks for, NaN in rows that are NaN.
#pragma once

#include "cuda/primitives/sorted_rows.h"

namespace lapsum::gpu {

/// Which facts of a row a factor is made of.
struct Signs {
  bool sign = false, alpha_sign = false, peak = false;

  __device__ double of(const RowFacts& row) const {
    return (sign ? row.sign : row.unit) * (alpha_sign ? row.alpha_sign : 1) * (peak ? row.peak : 1);
  }
};

/// out[row] = constant times the facts asked for, times given[row] if there is one. `out` may be
/// `given`.
void row_factors(Queue& queue, const SortedRows& sorted, const Signs& of, double constant,
                 const double* given, double* out);

inline double* row_factors(Queue& queue, const SortedRows& sorted, const Signs& of,
                           double constant = 1, const double* given = nullptr) {
  double* const out = queue.take<double>(sorted.rows);
  row_factors(queue, sorted, of, constant, given, out);
  return out;
}

/// y times the facts asked for, in the m entries of every row.
void scale_rows(Queue& queue, const SortedRows& sorted, const Signs& of, std::ptrdiff_t m,
                double* y);

/// out = value in the m entries of every row, NaN in rows that are NaN.
void fill(Queue& queue, const SortedRows& sorted, std::ptrdiff_t m, double value, double* out);

}  // namespace lapsum::gpu
