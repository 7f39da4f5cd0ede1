// Short rows of float, several at a time: their thresholds, and their masks at them. Which rows are
// solved together, and how many, does not change a bit of a row's result.
#pragma once

#include <cstddef>
#include <span>

#include "cpu/primitives/arena.h"
#include "lapsum/rows.h"

namespace lapsum::cpu {

/// The longest row for which this is the faster way.
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
