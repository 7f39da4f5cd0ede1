// Rows of a batch through tiles where they are short and finite, else one at a time. Which way a row
// goes depends on the row alone, so that its result does not depend on the others.
#pragma once

#include <algorithm>
#include <span>
#include <type_traits>

#include "cpu/primitives/parallel.h"
#include "cpu/primitives/row.h"
#include "cpu/primitives/tile.h"
#include "lapsum/rows.h"
#include "math/orientation.h"

namespace lapsum::cpu {

/// The rows [first, first + count) of a batch as a tile. Lanes without a row, and those of rows that
/// a tile does not take, hold zeros.
class TiledRows {
 public:
  TiledRows(Rows<const float> x, const PerRow& alpha, Order order, std::ptrdiff_t first,
            std::ptrdiff_t count, Arena& arena)
      : first_(first),
        nothing_(arena.take<float>(x.length)),
        nowhere_(arena.take<float>(x.length)) {
    std::fill(nothing_.begin(), nothing_.end(), 0.0f);
    tile_.rows = count;
    tile_.n = x.length;
    tile_.sign.fill(1);
    tile_.alpha.fill(1);
    for (std::ptrdiff_t l = 0; l < count; ++l) {
      const Orientation orientation(alpha[first + l], order);
      taken_[l] = orientation.valid && is_finite(x[first + l], x.length);
      if (!taken_[l]) continue;
      tile_.sign[l] = orientation.sign;
      tile_.alpha[l] = orientation.alpha;
    }
    tile_.x = of(x);
  }

  const Tile& tile() const { return tile_; }
  bool takes(std::ptrdiff_t l) const { return taken_[l]; }

  /// The same rows of other arrays.
  Tile::From of(Rows<const float> from) const {
    Tile::From rows;
    for (std::size_t l = 0; l < rows.size(); ++l) {
      rows[l] = taken_[l] ? from[row(l)] : nothing_.data();
    }
    return rows;
  }
  Tile::To of(Rows<float> to) const {
    Tile::To rows;
    for (std::size_t l = 0; l < rows.size(); ++l) {
      rows[l] = taken_[l] ? to[row(l)] : nowhere_.data();
    }
    return rows;
  }

 private:
  std::ptrdiff_t row(std::size_t lane) const { return first_ + static_cast<std::ptrdiff_t>(lane); }

  std::ptrdiff_t first_;
  std::span<float> nothing_, nowhere_;
  std::array<bool, kMostTileRows> taken_{};
  Tile tile_{};
};

static_assert(kArgsortFrom<float> == kTileLength + 1, "rows in tiles have no argsort to keep");

/// Whether tiles take rows of this type and length.
template <class T>
bool fits_tile(std::ptrdiff_t length) {
  return std::is_same_v<T, float> && length > 0 && length <= kTileLength;
}

/// tile(rows, arena) for groups of rows and row(i, arena, threads) for each row that no tile takes.
template <class T, class OnTile, class OnRow>
void for_each_row_or_tile(Rows<const T> x, const PerRow& alpha, Order order, Threads threads,
                          OnTile&& tile, OnRow&& row) {
  if constexpr (std::is_same_v<T, float>) {
    if (fits_tile<T>(x.length)) {
      const std::ptrdiff_t width = tile_rows();
      for_each_row((x.count + width - 1) / width, width * x.length, threads,
                   [&](std::ptrdiff_t group, Arena& arena, int) {
                     const std::ptrdiff_t first = group * width;
                     const std::ptrdiff_t count = std::min(width, x.count - first);
                     const TiledRows rows(x, alpha, order, first, count, arena);
                     tile(rows, arena);
                     for (std::ptrdiff_t l = 0; l < count; ++l) {
                       const Arena::Scope scope(arena);
                       if (!rows.takes(l)) row(first + l, arena, 1);
                     }
                   });
      return;
    }
  }
  for_each_row(x.count, x.length, threads, row);
}

}  // namespace lapsum::cpu
