// Short rows side by side, one per lane: sorted by a network, scanned and solved without a branch.
// For rows of float without infinities or NaN; everything inside is double.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "cpu/primitives/arena.h"

namespace lapsum::cpu {

/// The longest row that a tile takes.
inline constexpr std::ptrdiff_t kTileLength = 1024;

/// No instruction set has more lanes of float than this.
inline constexpr int kMostTileRows = 16;

/// How many rows a tile has room for on this machine.
int tile_rows();

/// Rows of n values each, and what goes with each row.
struct Tile {
  using PerLane = std::array<double, kMostTileRows>;
  using From = std::array<const float*, kMostTileRows>;
  using To = std::array<float*, kMostTileRows>;

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

/// soft_rank and soft_sort of a tile, and their gradients in x. n in [1, kTileLength].
void rank_tile(const Tile& tile, const Tile::To& rank, Arena& arena);
void rank_tile_vjp(const Tile& tile, const Tile::From& g, const Tile::To& gx, Arena& arena);
void sort_tile(const Tile& tile, const Tile::To& sorted, Arena& arena);
void sort_tile_vjp(const Tile& tile, const Tile::From& g, const Tile::To& gx, Arena& arena);

}  // namespace lapsum::cpu
