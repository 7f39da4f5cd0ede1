// How the rows of a batch are cut into tiles for blocks of threads: by their length alone, so that
// the bits of a row depend neither on its place in the batch nor on its company.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>

namespace lapsum::gpu {

inline constexpr int kTile = 1024;

/// Rows of at most kTile share tiles, each in 2^slot_bits places; longer ones have tiles of their
/// own.
struct Tiles {
  std::ptrdiff_t rows, n;
  int slot_bits = 0;
  std::ptrdiff_t per_row = 1;  ///< tiles of a row

  Tiles(std::ptrdiff_t rows, std::ptrdiff_t n) : rows(rows), n(n) {
    while (slot_bits < kTileBits && (std::ptrdiff_t{1} << slot_bits) < n) ++slot_bits;
    if (n > kTile) per_row = (n + kTile - 1) / kTile;
  }

  constexpr std::ptrdiff_t count() const {
    const std::ptrdiff_t rows_of_a_tile = std::ptrdiff_t{1} << (kTileBits - slot_bits);
    return n > kTile ? rows * per_row : (rows + rows_of_a_tile - 1) / rows_of_a_tile;
  }

  /// The entry at a place of a tile; `inside` tells whether there is one.
  struct Entry {
    std::ptrdiff_t row, j;
    bool inside;
  };

  /// entry(place) of a tile; a division is made once per tile.
  class Tile {
   public:
    __device__ Tile(const Tiles& tiles, std::ptrdiff_t tile)
        : tiles_(tiles), first_row_(tile / tiles.per_row) {
      first_j_ = (tile - first_row_ * tiles.per_row) * kTile;
      if (tiles.n <= kTile) first_row_ = tile << (kTileBits - tiles.slot_bits);
    }
    __device__ Entry entry(int place) const {
      const std::ptrdiff_t row = first_row_ + (place >> tiles_.slot_bits);
      const std::ptrdiff_t j = first_j_ + (place & ((1 << tiles_.slot_bits) - 1));
      return {row, j, row < tiles_.rows && j < tiles_.n};
    }

   private:
    const Tiles& tiles_;
    std::ptrdiff_t first_row_, first_j_;
  };

 private:
  static constexpr int kTileBits = 10;
  static_assert(1 << kTileBits == kTile);
};

}  // namespace lapsum::gpu
