// A few values in order, and the decayed sums at each of them: where a search ends.
#pragma once

#include <cstddef>

#include "math/interval.h"

namespace lapsum::cpu {

/// Sorts up to kSmallSort values, none NaN, by counting for each how many precede it.
inline constexpr std::ptrdiff_t kSmallSort = 64;
template <class T>
void small_sort(const T* values, std::ptrdiff_t n, double* sorted);

/// The decayed sums around sorted r, `at` being what lies beyond its ends: left[j] is the sum over
/// what lies below r[j], seen from r[j], right[j] over what lies above r[j - 1], seen from there;
/// j in [0, n], the right end of `at` standing for r[n], the left one for r[-1].
void scan_sums(const double* r, std::ptrdiff_t n, const math::Interval& at, double alpha,
               double* left, double* right);

}  // namespace lapsum::cpu
