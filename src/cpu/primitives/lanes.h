// Short rows of float or a half type, several at a time: their thresholds, and their masks at them.
// Which rows are solved together, and how many, does not change a bit of a row's result.
#pragma once

#include <cstddef>
#include <span>

#include "cpu/primitives/arena.h"
#include "lapsum/rows.h"

namespace lapsum::cpu {

/// The longest row for which this is the faster way. What masks of normal rows cost in a tile, alone,
/// and row by row as in threshold.h, in ns per row (benchmarks/cpp/bench_lanes.cpp):
///   n, k = n / 2, alpha 0.5    64               256               1000
///   AVX-512                    130  480  490    400  690   780    1830  2050  2370
///   AVX2                       240  460  910    670  880  2030    2340  2350  5480
/// A small alpha takes more looks: at 256 the ways meet at alpha = 0.001 and k = 5, where at 1000
/// row by row takes 0.8 of the time; and tiles of heavy tails go at the pace of their hardest row.
inline constexpr std::ptrdiff_t kLaneLength = 512;

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
  float below = 0, above = 0;
};

/// How rows are laid out: side by side, one per lane; or one after the other, each across the
/// lanes.
enum class Layout { shorter, tile, alone };

/// Up to lane_rows() rows of n values each, n in [1, kLaneLength].
template <class T>
void solve_lanes(std::span<Lane<T>> rows, std::ptrdiff_t n, Arena& arena,
                 Layout layout = Layout::shorter);

}  // namespace lapsum::cpu
