// Ragged batches: neighbours of one length run together, as a batch of that length, so that padding
// has no part in any result. A batch without lengths is a single run.
#pragma once

#include <algorithm>
#include <vector>

#include "cpu/primitives/element.h"
#include "cpu/primitives/parallel.h"
#include "lapsum/rows.h"

namespace lapsum::ops {

/// Rows [first, first + count) of a batch of `rows` rows, each with `length` elements out of `width`;
/// and what belongs to them among the other arguments.
struct Run {
  std::ptrdiff_t rows, width;
  std::ptrdiff_t first, count, length;

  /// Arrays with one or more entries per element, one or more of them per row.
  template <class T>
  Rows<T> elements(Rows<T> all) const {
    if (!all.data || width == 0) return all;
    const std::ptrdiff_t each = rows > 0 ? all.count / rows : 0;
    return {all[first * each], count * each, all.length / width * length, all.stride};
  }
  /// As `elements`, for results: what lies beyond the elements becomes `padding`.
  template <class T>
  Rows<T> results(Rows<T> all, double padding = 0) const {
    const Rows<T> own = elements(all);
    for (std::ptrdiff_t i = 0; own.data && length < width && i < own.count; ++i) {
      std::fill(own[i] + own.length, own[i] + all.length, cpu::Element<T>::round(padding));
    }
    return own;
  }
  /// Arrays whose width has nothing to do with the elements.
  template <class T>
  Rows<T> points(Rows<T> all) const {
    return all.data ? Rows<T>(all[first], count, all.length, all.stride) : all;
  }
  /// The argsorts of rows of T, where they are long enough to have one.
  template <class T, class Index>
  Rows<Index> argsorts(Rows<Index> all) const {
    return length < kArgsortFrom<T> ? Rows<Index>{} : elements(all);
  }
  Levels levels(const Levels& all) const { return all.from(first); }
  PerRow numbers(const PerRow& all) const { return all.from(first); }
  /// `each` numbers per row.
  template <class Number>
  Number* numbers(Number* all, std::ptrdiff_t each = 1) const {
    return all ? all + first * each : nullptr;
  }
};

/// body(run, threads) for the runs of a batch; lengths beyond [0, x.length] count as its ends.
template <class T, class Body>
void for_each_run(Rows<const T> x, Threads threads, Body&& body) {
  if (!x.lengths) return body(Run{x.count, x.length, 0, x.count, x.length}, threads);
  std::vector<Run> runs;
  for (std::ptrdiff_t i = 0; i < x.count; ++i) {
    const auto length = std::clamp<std::ptrdiff_t>(x.lengths[i], 0, x.length);
    if (runs.empty() || runs.back().length != length) {
      runs.push_back({x.count, x.length, i, 0, length});
    }
    ++runs.back().count;
  }
  const auto count = static_cast<std::ptrdiff_t>(runs.size());
  const std::ptrdiff_t each = count > 0 ? x.count * x.length / count : 0;
  cpu::for_each_row(count, each, threads, [&](std::ptrdiff_t i, cpu::Arena&, int inner) {
    body(runs[static_cast<std::size_t>(i)], inner);
  });
}

}  // namespace lapsum::ops
