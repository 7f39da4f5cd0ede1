// Short rows of float, several at a time: their thresholds, and their masks at them. Which rows are
// solved together, and how many, does not change a bit of a row's result.
#pragma once

#include <cstddef>
#include <span>

#include "cpu/primitives/arena.h"
#include "lapsum/rows.h"

namespace lapsum::cpu {

/// The longest row for which this is the faster way. What masks of normal rows at alpha = 0.5 and
/// k = n / 2 cost in a tile, alone, and row by row as in threshold.h, in ns per row
/// (benchmarks/cpp/bench_lanes.cpp):
///   n         64               256               1000                2048
///   AVX-512   130  480  490    400  690   780    1830  2050  2370    5180  3890  3730
///   AVX2      240  460  910    670  880  2030    2340  2350  5480
/// At alpha = 0.001 the ways meet at 1000 on AVX-512 (2110, 2300, 1970), later on AVX2; with heavy
/// tails, where tiles go at the pace of their hardest row, rows alone win there (4440, 3560, 4240 for
/// e^{3 normal}).
inline constexpr std::ptrdiff_t kLaneLength = 1024;

/// No instruction set has more lanes of float than this.
inline constexpr std::ptrdiff_t kMostLanes = 16;

/// How many rows are solved together on this machine; 0: none can be.
std::ptrdiff_t lane_rows();

/// A row with its level. `b`, and `p` if given, are written where the search succeeds, which
/// `solved` tells; it gives up on what is not finite, on k outside of (0, n), and on rows that need
/// many steps.
struct Lane {
  const float* x;
  double sign;  ///< kernels see sign * x
  double k;
  double alpha;  ///< positive
  float* p;
  Threshold b{};
  bool solved = false;
};

/// How rows are laid out: side by side, one per lane; or one after the other, each across the
/// lanes.
enum class Layout { shorter, tile, alone };

/// Up to lane_rows() rows of n values each, n in [1, kLaneLength].
void solve_lanes(std::span<Lane> rows, std::ptrdiff_t n, Arena& arena,
                 Layout layout = Layout::shorter);

}  // namespace lapsum::cpu
