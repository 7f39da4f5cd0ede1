// Thresholds without sorting: LapSum(b) = k by selection, in O(n) expected.
#pragma once

#include <optional>
#include <span>

#include "cpu/primitives/arena.h"
#include "cpu/primitives/element.h"
#include "lapsum/rows.h"
#include "math/interval.h"

namespace lapsum::cpu {

/// b[t] with LapSum(b[t]) = k[t] on the row r = sign * x; k in any order. As soft_topk promises:
/// k <= 0 chooses nothing (anchor -inf), k beyond what can be chosen takes all (anchor +inf), k
/// among the elements at -inf is shared by them (anchor -inf, offset the share), NaN k or a row
/// with NaN gives NaN. Exact at every alpha and k: a sample gives a bracket, the sides left behind
/// are kept as decayed sums, and the interval that remains is solved in closed form.
template <class T>
void solve_thresholds(const T* x, std::ptrdiff_t n, double sign, std::span<const double> k,
                      double alpha, std::span<Threshold> b, Arena& arena, int threads);

/// The two halves of that for one level, for those who pass over the row themselves. First, from a few
/// looks at the row: most likely the root is between lo and hi, values of the row or infinite, and near
/// `root`. None if they do not settle.
struct Bracket {
  double lo, hi, root;
};
template <class T>
std::optional<Bracket> aim_threshold(const T* x, std::ptrdiff_t n, double sign, double k,
                                     double alpha, Arena& arena);
/// Then, from the values between two ends, and the decayed sums at these and the number of values on
/// the left of all others: the threshold. None if it is not there, or there is NaN.
template <class T>
std::optional<Threshold> solve_inside(std::span<const T> inside, const math::Interval& ends,
                                      double left_count, double k, double alpha, Arena& arena);

/// The threshold of one level between two values of a row that have no others in between. False if
/// they have, or are not the place of that level. alpha must be plain (bracket.h).
template <class T>
bool solve_between(const T* x, std::ptrdiff_t n, double sign, Work<T> below, Work<T> above,
                   double k, double alpha, Threshold& b, Arena& arena);

}  // namespace lapsum::cpu
