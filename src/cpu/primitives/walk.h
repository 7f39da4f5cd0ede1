// Where queries lie in a sorted row. They are visited in ascending order: each chunk finds its first
// interval by bisection and walks on from there, so that n sorted queries cost O(n).
#pragma once

#include <algorithm>
#include <span>

#include "cpu/primitives/argsort.h"
#include "cpu/primitives/parallel.h"

namespace lapsum::cpu {

/// The last j in [-1, n - 1] with beyond(j), which is true up to some j and false after it.
template <class Beyond>
std::ptrdiff_t last_beyond(std::ptrdiff_t n, Beyond&& beyond) {
  std::ptrdiff_t j = -1;
  std::ptrdiff_t stop = n;
  while (stop - j > 1) {
    const std::ptrdiff_t middle = j + (stop - j) / 2;
    (beyond(middle) ? j : stop) = middle;
  }
  return j;
}

/// body(t, j) for every query t, j in [-1, n - 1] being the last value that query t lies beyond.
/// beyond(t, j) must be monotone: true up to some j, then false; and j ascends with the query.
template <class Beyond, class Body>
void walk(std::ptrdiff_t n, std::span<const double> queries, Arena& arena, int threads,
          Beyond&& beyond, Body&& body) {
  const auto m = static_cast<std::ptrdiff_t>(queries.size());
  const Arena::Scope scope(arena);
  std::span<Index> order;
  const auto out_of_order = [](double a, double b) { return !(a <= b); };  // NaN too
  if (std::adjacent_find(queries.begin(), queries.end(), out_of_order) != queries.end()) {
    order = arena.take<Index>(m);
    argsort(queries.data(), m, false, arena.take<double>(m).data(), order.data(), arena, threads);
  }
  for_each_chunk(m, threads, [&](std::ptrdiff_t begin, std::ptrdiff_t end) {
    std::ptrdiff_t j = -1;
    for (std::ptrdiff_t i = begin; i < end; ++i) {
      const std::ptrdiff_t t = order.empty() ? i : static_cast<std::ptrdiff_t>(order[i]);
      if (i == begin) j = last_beyond(n, [&](std::ptrdiff_t at) { return beyond(t, at); });
      while (j + 1 < n && beyond(t, j + 1)) ++j;
      body(t, j);
    }
  });
}

}  // namespace lapsum::cpu
