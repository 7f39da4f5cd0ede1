// A row in ascending order with its decays: infinities stand aside at both ends, the finite values
// between them carry the scans.
#pragma once

#include <span>

#include "cpu/primitives/argsort.h"
#include "cpu/primitives/decayed_scan.h"
#include "cpu/primitives/kept_order.h"
#include "cpu/primitives/parallel.h"
#include "cpu/primitives/row.h"
#include "cpu/primitives/scattered.h"
#include "math/orientation.h"

namespace lapsum::cpu {

/// Whether the caller needs to know which element stands where, or the sorted values alone.
enum class Need { keys, order };

struct SortedRow {
  bool valid = false;            ///< no NaN in the row, a valid alpha
  std::ptrdiff_t n = 0;          ///< all elements
  std::ptrdiff_t below = 0;      ///< elements at -inf, sorted positions [0, below)
  std::ptrdiff_t above = 0;      ///< elements at +inf, the last ones
  std::span<const Index> order;  ///< sorted position -> element; empty for Need::keys
  Decays decays;                 ///< of the finite values, or no more than these values

  std::ptrdiff_t finite() const { return decays.size(); }
  /// The elements whose values are finite, in ascending order of value.
  std::span<const Index> finite_order() const {
    return order.subspan(static_cast<std::size_t>(below), static_cast<std::size_t>(finite()));
  }

  /// v (one entry per element, `stride` apart) in the order of the finite values.
  template <class T>
  std::span<double> gather(const T* v, std::ptrdiff_t stride, Arena& arena, int threads,
                           double scale = 1) const {
    const std::span<const Index> elements = finite_order();
    std::span<double> out = arena.take<double>(finite());
    for_each_part(finite(), threads, [&](std::ptrdiff_t begin, std::ptrdiff_t end) {
      for (std::ptrdiff_t j = begin; j < end; ++j) {
        out[j] = scale * static_cast<double>(v[stride * static_cast<std::ptrdiff_t>(elements[j])]);
      }
    });
    return out;
  }

  /// v = 0 at the elements that are not finite.
  template <class T>
  void clear_infinite(T* v) const {
    for (std::ptrdiff_t p = 0; p < below; ++p) v[order[p]] = Element<T>::round(0);
    for (std::ptrdiff_t p = n - above; p < n; ++p) v[order[p]] = Element<T>::round(0);
  }

  /// Results of the finite values, in their order, for the elements of v.
  template <class T>
  Scattered<T> scattered(T* v, Arena& arena, int threads) const {
    return {finite_order(), n, v, arena, threads};
  }

  /// v[element] = narrow(value(j)) for the finite values j.
  template <class T, class Value>
  void scatter(T* v, Arena& arena, int threads, Value&& value) const {
    const Arena::Scope scope(arena);
    Scattered<T> results = scattered(v, arena, threads);
    for_each_chunk(finite(), threads, [&](std::ptrdiff_t begin, std::ptrdiff_t end) {
      results.put(begin, end, [&](std::ptrdiff_t j, int count, double* to) {
        for (int l = 0; l < count; ++l) to[l] = value(j + l);
      });
    });
    results.finish();
  }
};

/// The row whose values order(sorted) brings into order: it fills `sorted`, which has room for n, and
/// returns the order.
template <class T, class ToOrder>
SortedRow make_sorted_row(const T* x, std::ptrdiff_t n, const Orientation& orientation,
                          Arena& arena, int threads, ToOrder&& order) {
  SortedRow row;
  const NonFinite odd = count_non_finite(x, n, orientation.sign, threads);
  row.n = n;
  row.valid = orientation.valid && odd.nan == 0;
  if (!row.valid) return row;
  row.below = odd.below;
  row.above = odd.above;
  std::span<double> sorted = arena.take<double>(n);
  row.order = order(sorted);
  row.decays.r = sorted.subspan(static_cast<std::size_t>(row.below),
                                static_cast<std::size_t>(n - row.below - row.above));
  row.decays.alpha = orientation.alpha;
  return row;
}

/// Sorts a row, for scan_in_chunks: without decays. `keep`, if it is not null, receives the order,
/// whatever the need.
template <class T>
SortedRow sort_values(const T* x, std::ptrdiff_t n, const Orientation& orientation, Need need,
                      Arena& arena, int threads, Index* keep = nullptr) {
  const auto sort = [&](std::span<double> sorted) -> std::span<const Index> {
    Index* order = keep;
    if (!keep && need == Need::order) order = arena.take<Index>(n).data();
    argsort(x, n, orientation.sign < 0, sorted.data(), order, arena, threads);
    return {order, order ? static_cast<std::size_t>(n) : 0};
  };
  return make_sorted_row(x, n, orientation, arena, threads, sort);
}

/// The same row with its order, which is sorted for only if `kept` is null.
template <class T>
SortedRow order_values(const T* x, std::ptrdiff_t n, const Orientation& orientation,
                       const Index* kept, Arena& arena, int threads) {
  if (!kept) return sort_values(x, n, orientation, Need::order, arena, threads);
  const auto gather = [&](std::span<double> sorted) -> std::span<const Index> {
    gather_sorted(x, n, orientation.sign < 0, kept, sorted.data(), threads);
    return {kept, static_cast<std::size_t>(n)};
  };
  return make_sorted_row(x, n, orientation, arena, threads, gather);
}

/// The same rows with their decays.
inline SortedRow with_decays(SortedRow row, Arena& arena, int threads) {
  if (row.valid) row.decays = make_decays(row.decays.r, row.decays.alpha, arena, threads);
  return row;
}

template <class T>
SortedRow sort_row(const T* x, std::ptrdiff_t n, const Orientation& orientation, Need need,
                   Arena& arena, int threads) {
  return with_decays(sort_values(x, n, orientation, need, arena, threads), arena, threads);
}

template <class T>
SortedRow order_row(const T* x, std::ptrdiff_t n, const Orientation& orientation, const Index* kept,
                    Arena& arena, int threads) {
  return with_decays(order_values(x, n, orientation, kept, arena, threads), arena, threads);
}

}  // namespace lapsum::cpu
