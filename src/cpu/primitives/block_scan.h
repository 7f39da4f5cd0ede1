// One direction of a scan inside the blocks of a sorted row, vectorised.
#pragma once

#include <cstddef>

#include "cpu/primitives/decayed_scan.h"

namespace lapsum::cpu {

/// A scan of the weights w, or of ones if there are none. The ends of block b have the entries 2 b
/// and 2 b + 1; a scan enters a block at one of them and leaves it at the other.
struct BlockScan {
  Toward toward;
  const double* w;
  double* at;       ///< one per value
  double* at_ends;  ///< two per block
};

/// What the values of blocks [first, last) add up to, each block by itself: to at_ends where the scan
/// leaves it, 0 where it enters. Leaves the running sums of narrow blocks in `at`.
void sum_blocks(const Decays& decays, const BlockScan& scan, std::ptrdiff_t first,
                std::ptrdiff_t last);

/// Brings `at` to its final values by what comes from other blocks: at_ends[e] of it is seen at the
/// first value of a block.
void finish_blocks(const Decays& decays, const BlockScan& scan, std::ptrdiff_t first,
                   std::ptrdiff_t last);

}  // namespace lapsum::cpu
