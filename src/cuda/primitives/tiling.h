// How long rows are cut into pieces, each for a team of threads: by their length alone, so that the
// bits of a row do not depend on its company.
#pragma once

#include <algorithm>
#include <cstddef>

namespace lapsum::gpu {

/// Rows of length n: one piece for a warp, or `tiles` pieces of `tile` elements, each for a block.
struct Tiling {
  std::ptrdiff_t n, tile, tiles;
  bool by_warp;
  int passes = 24;  ///< of a search by all blocks of a row, before one of them goes on alone

  static constexpr std::ptrdiff_t kWarpRow = 512;
  static constexpr std::ptrdiff_t kTile = 16384;
  static constexpr std::ptrdiff_t kMostTiles = 1024;

  /// Tests ask for shorter pieces than a GPU would like.
  explicit Tiling(std::ptrdiff_t n, std::ptrdiff_t warp_row = kWarpRow,
                  std::ptrdiff_t shortest = kTile)
      : n(n), by_warp(n <= warp_row) {
    tile = by_warp ? n : std::max(shortest, (n + kMostTiles - 1) / kMostTiles);
    tiles = by_warp ? 1 : (n + tile - 1) / tile;
  }
};

}  // namespace lapsum::gpu
