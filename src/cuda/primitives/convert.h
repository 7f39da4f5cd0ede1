// Whole rows to double as the orientation wants them, and back.
#pragma once

#include "cuda/primitives/queue.h"
#include "lapsum/rows.h"

namespace lapsum::gpu {

/// r = sign * x, sign as Orientation says for each row; r: rows x n, one after another. A row whose
/// alpha is not valid becomes NaN.
template <class T>
void load_rows(Queue& queue, Rows<const T> x, const PerRow& alpha, Order order, double* r);

/// out = y rounded to T once; what is finite stays finite.
template <class T>
void store_rows(Queue& queue, const double* y, Rows<T> out);

}  // namespace lapsum::gpu
