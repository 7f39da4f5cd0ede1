// Rows side by side, one per lane: short ones are sorted by a network, all are scanned and solved
// without a branch. For rows of float without infinities or NaN; everything inside is double.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "cpu/primitives/arena.h"
#include "cpu/primitives/argsort.h"

namespace lapsum::cpu {

/// The longest row that a tile sorts by a network, and takes the rank or sort of; and the longest whose
/// gradient it takes, which comes with its order or is sorted alone.
inline constexpr std::ptrdiff_t kTileLength = 2048;
inline constexpr std::ptrdiff_t kTileGradientLength = 16384;

/// From this length on, a row alone is sorted by its digits; a shorter one by a network of one lane.
inline constexpr std::ptrdiff_t kSortedAlone = 80;

/// No instruction set has more lanes of float than this.
inline constexpr int kMostTileRows = 16;

/// How many rows a tile has room for on this machine.
int tile_rows();

/// Rows of n values each, and what goes with each row.
struct Tile {
  using PerLane = std::array<double, kMostTileRows>;
  using From = std::array<const float*, kMostTileRows>;
  using To = std::array<float*, kMostTileRows>;
  using Keep = std::array<Index*, kMostTileRows>;        ///< where orders of rows go, or null
  using Kept = std::array<const Index*, kMostTileRows>;  ///< those that are known, the others null

  From x;
  std::ptrdiff_t rows;  ///< at most tile_rows(); unless it is 1, there are pointers for so many
  std::ptrdiff_t n;
  PerLane sign;   ///< kernels see sign * x
  PerLane alpha;  ///< positive
};

/// The rows of a tile, each in ascending order of sign * x: entry j * width + l is position j of row l.
struct SortedRows {
  std::ptrdiff_t width;
  const float* values;        ///< of sign * x, without -0
  const std::int32_t* order;  ///< the element of the row that stands there, ties as in the row
};

/// In memory of the arena. n in [1, kTileLength]; alpha is not looked at.
SortedRows sort_rows(const Tile& tile, Arena& arena);

/// soft_rank and soft_sort of a tile, n in [1, kTileLength], and their gradients in x, n in
/// [1, kTileGradientLength]. An order that is not that of its row throws WrongArgsort (kept_order.h).
void rank_tile(const Tile& tile, const Tile::To& rank, const Tile::Keep& keep, Arena& arena);
void rank_tile_vjp(const Tile& tile, const Tile::From& g, const Tile::To& gx,
                   const Tile::Kept& kept, Arena& arena);
void sort_tile(const Tile& tile, const Tile::To& sorted, const Tile::Keep& keep, Arena& arena);
void sort_tile_vjp(const Tile& tile, const Tile::From& g, const Tile::To& gx,
                   const Tile::Kept& kept, Arena& arena);

}  // namespace lapsum::cpu
