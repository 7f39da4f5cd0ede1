// Short rows, several at a time: their thresholds, and their masks at them.
// Which rows are solved together, and how many, does not change a bit of a row's result.
#pragma once

#include <cstddef>
#include <span>

#include "cpu/primitives/arena.h"
#include "cpu/primitives/element.h"
#include "lapsum/rows.h"

namespace lapsum::cpu {

/// The longest rows for which this is the faster way; between the two, those whose alpha is not small
/// against their spread, for a small one takes more looks. What masks of normal rows cost in a tile,
/// alone, and row by row as in threshold.h, in ns per row with AVX-512, k = n / 2
/// (benchmarks/cpp/bench_lanes.cpp):
///   n                      64               256               1000
///   float, alpha 0.1       100  440  430    360  600  730    1280  1350  1580
///   float, alpha 0.001     160  550  590    520  740  840    1740  1800  1650
///   double, alpha 0.1      140  440  490    480  730  950    1780  1820  2260
///   double, alpha 0.001    190  580  570    560  830 1000    2120  2220  2200
/// Tiles of heavy tails go at the pace of their hardest row.
inline constexpr std::ptrdiff_t kLaneLength = 1024;

/// No instruction set has more lanes of float than this.
inline constexpr std::ptrdiff_t kMostLanes = 16;

/// How many rows are solved together on this machine; 0: none can be.
std::ptrdiff_t lane_rows();

/// A row with its level. `b`, and `p` if given, are written where the search succeeds, which
/// `solved` tells; it gives up on what is not finite, on k outside of (0, n), on rows that need many
/// steps, and on a whole k in a gap of more than a thousand alphas: the values at its ends are then
/// `below` and `above`.
template <class T>
struct Lane {
  const T* x;
  double sign;  ///< kernels see sign * x
  double k;
  double alpha;  ///< positive
  T* p;
  Threshold b{};
  bool solved = false;
  Work<T> below = 0, above = 0;
};

/// How rows are laid out: side by side, one per lane; or one after the other, each across the
/// lanes.
enum class Layout { shorter, tile, alone };

/// Up to lane_rows() rows of n values each, n in [1, kLaneLength].
template <class T>
void solve_lanes(std::span<Lane<T>> rows, std::ptrdiff_t n, Arena& arena,
                 Layout layout = Layout::shorter);

}  // namespace lapsum::cpu
