// Short rows, several at a time: their thresholds, and their masks at them.
// Which rows are solved together, and how many, does not change a bit of a row's result.
#pragma once

#include <cstddef>
#include <span>

#include "cpu/primitives/arena.h"
#include "cpu/primitives/element.h"
#include "lapsum/rows.h"

namespace lapsum::cpu {

/// The longest rows for which this is the faster way. What masks of normal rows cost in a tile, alone,
/// and row by row as in threshold.h, in ns per row with AVX-512, k = n / 2
/// (benchmarks/cpp/bench_lanes.cpp):
///   n                      64               256               1000
///   float, alpha 0.1       120  400  550    380  650  900    1310  1480  2030
///   float, alpha 0.001     160  520  700    510  800 1030    1910  1930  2110
///   double, alpha 0.1      180  530  570    590  860 1120    2150  2130  2680
///   double, alpha 0.001    230  680  740    720 1020 1340    2740  2590  2910
/// Tiles of heavy tails go at the pace of their hardest row. Rows of floats from 512 on are guessed first
/// (guessed_mask.h).
inline constexpr std::ptrdiff_t kLaneLength = 1024;

/// No instruction set has more lanes of float than this.
inline constexpr std::ptrdiff_t kMostLanes = 16;

/// How many rows are solved together on this machine; 0: none can be.
std::ptrdiff_t lane_rows();

/// A row with its level. `b`, and `p` if given, are written where the search succeeds, which
/// `solved` tells; it gives up on what is not finite, on k outside of (0, n), on rows that need many
/// steps, and now and then on a whole k in a gap of more than a thousand alphas: the values at its ends
/// are then `below` and `above`.
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
