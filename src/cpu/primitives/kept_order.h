// An argsort that a value kept for its derivatives: values come in its order without another sort. It
// is checked as it is read, so that a wrong one reads nothing beyond the row.
#pragma once

#include <algorithm>
#include <exception>

#include "cpu/primitives/argsort.h"
#include "cpu/primitives/parallel.h"

namespace lapsum::cpu {

/// Thrown for an order that is not the argsort of its row.
struct WrongArgsort : std::exception {};

/// What argsort(x, ...) gives as `sorted`, its `order` being known. Equal values must stand in the
/// order of the row: then all elements differ, and there is only one such order.
template <class T>
void gather_sorted(const T* x, std::ptrdiff_t n, bool negate, const Index* order, double* sorted,
                   int threads) {
  const auto value = [&](std::ptrdiff_t p) {
    const double v = x[static_cast<std::ptrdiff_t>(order[p]) < n ? order[p] : 0];
    return (negate ? -v : v) + 0.0;  // -0 + 0 is +0
  };
  const auto wrong = sum_chunks<std::ptrdiff_t>(n, threads, [&](auto begin, auto end) {
    std::ptrdiff_t count = 0;
    for (std::ptrdiff_t p = begin; p < end; ++p) {
      sorted[p] = value(p);
      count += static_cast<std::ptrdiff_t>(order[p]) >= n;
    }
    const auto misplaced = [&](std::ptrdiff_t p, double before) {
      return !(before < sorted[p] || (before == sorted[p] && order[p - 1] < order[p]));
    };
    if (begin > 0) count += misplaced(begin, value(begin - 1));
    for (std::ptrdiff_t p = begin + 1; p < end; ++p) count += misplaced(p, sorted[p - 1]);
    return count;
  });
  if (wrong > 0) throw WrongArgsort();
}

}  // namespace lapsum::cpu
