// Sums over the rows of a batch, always added in the same order.
#pragma once

#include "cuda/primitives/queue.h"

namespace lapsum::gpu {

/// sums[row] = sum of x over the row, rows x n; 0 for an empty row.
void sum_rows(Queue& queue, const double* x, std::ptrdiff_t rows, std::ptrdiff_t n, double* sums);

}  // namespace lapsum::gpu
