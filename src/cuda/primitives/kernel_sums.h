// Weighted sums of any of the kernels over sorted rows, at points.
#pragma once

#include "cuda/primitives/points.h"
#include "lapsum/lap_kernel.h"

namespace lapsum::gpu {

/// y[t] = sum_i w_i phi((x[t] - r_i) / alpha), as lapsum/lap_kernel.h says. w: in sorted order,
/// null for ones; x, y: rows x m, x oriented as the rows.
void kernel_sums(Queue& queue, const SortedRows& sorted, const double* w, const double* x,
                 std::ptrdiff_t m, Kernel kernel, double* y);

}  // namespace lapsum::gpu
