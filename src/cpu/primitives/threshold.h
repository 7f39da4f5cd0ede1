// Thresholds without sorting: LapSum(b) = k by selection, in O(n) expected.
#pragma once

#include <span>

#include "cpu/primitives/arena.h"
#include "cpu/primitives/element.h"
#include "lapsum/rows.h"

namespace lapsum::cpu {

/// b[t] with LapSum(b[t]) = k[t] on the row r = sign * x; k in any order. As soft_topk promises:
/// k <= 0 chooses nothing (anchor -inf), k beyond what can be chosen takes all (anchor +inf), k
/// among the elements at -inf is shared by them (anchor -inf, offset the share), NaN k or a row
/// with NaN gives NaN. Exact at every alpha and k: a sample gives a bracket, the sides left behind
/// are kept as decayed sums, and the interval that remains is solved in closed form.
template <class T>
void solve_thresholds(const T* x, std::ptrdiff_t n, double sign, std::span<const double> k,
                      double alpha, std::span<Threshold> b, Arena& arena, int threads);

/// The threshold of one level between two values of a row that have no others in between. False if
/// they have, or are not the place of that level. alpha must be plain (bracket.h).
template <class T>
bool solve_between(const T* x, std::ptrdiff_t n, double sign, Work<T> below, Work<T> above,
                   double k, double alpha, Threshold& b, Arena& arena);

}  // namespace lapsum::cpu
