// The adjoint of gather: numbers at points, as the elements of the row see them.
#pragma once

#include "cuda/primitives/points.h"

namespace lapsum::gpu {

/// Points in ascending order, cut into runs that lie between the same neighbours.
struct Runs {
  std::ptrdiff_t rows, m;
  const Index* from;  ///< place in this order -> point; null: they are in order
  const Index* next;  ///< as Point::next
  const double* gap;  ///< 0 inside a run, kApart between runs
};

/// `ascending`: the points of a row are in order already.
Runs find_runs(Queue& queue, const Points& points, bool ascending);

/// Numbers that lie on elements, per sorted place.
struct Sources {
  const double* left;   ///< from the points next to the right of an element
  const double* right;  ///< from those next to the left
};

/// What points, in the order of `runs`, give to their neighbours: `to_left` to the left one,
/// `to_right` to the right one. `repeat` rows of numbers for each row of points.
Sources collect(Queue& queue, const SortedRows& sorted, const Runs& runs, const double* to_left,
                const double* to_right, std::ptrdiff_t repeat);

/// The sources of a row as its elements see them.
Scans<0> scan_sources(Queue& queue, const SortedRows& sorted, const Sources& sources,
                      std::ptrdiff_t repeat);

/// sum_t u_t |z|^p e^-|z| at every sorted place, p up to Order, from the points left of it
/// (`right`, scanned toward the right) and right of it (`left`). u counts in units of the point's
/// scale.
template <int Order>
Scans<Order> spread(Queue& queue, const SortedRows& sorted, const Points& points, const Runs& runs,
                    const double* u, std::ptrdiff_t repeat = 1);

}  // namespace lapsum::gpu
