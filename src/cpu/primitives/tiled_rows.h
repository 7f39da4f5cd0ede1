// Rows of a batch through tiles where they are short and finite, else one at a time. Which way a row
// goes depends on the row alone, so that its result does not depend on the others.
#pragma once

#include <algorithm>
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
      : first_(first), count_(count), n_(x.length) {
    tile_.rows = count == 1 ? 1 : tile_rows();
    tile_.n = n_;
    tile_.x = load(x, arena);
    tile_.sign.fill(1);
    tile_.alpha.fill(1);
    for (std::ptrdiff_t l = 0; l < count; ++l) {
      const Orientation orientation(alpha[first + l], order);
      const float* row = x[first + l];
      taken_[l] = orientation.valid && is_finite(row, n_);
      if (taken_[l]) {
        tile_.sign[l] = orientation.sign;
        tile_.alpha[l] = orientation.alpha;
      } else {
        std::fill_n(const_cast<float*>(tile_.x) + l * n_, n_, 0.0f);
      }
    }
  }

  const Tile& tile() const { return tile_; }
  bool takes(std::ptrdiff_t l) const { return taken_[l]; }

  /// The same rows of another array.
  float* load(Rows<const float> from, Arena& arena) const {
    float* to = room(arena);
    for (std::ptrdiff_t l = 0; l < count_; ++l) std::copy_n(from[first_ + l], n_, to + l * n_);
    std::fill_n(to + count_ * n_, (tile_.rows - count_) * n_, 0.0f);
    return to;
  }
  /// An array like a tile, not initialised, and its rows brought home.
  float* room(Arena& arena) const { return arena.take<float>(tile_.rows * n_).data(); }
  void store(const float* from, Rows<float> to) const {
    for (std::ptrdiff_t l = 0; l < count_; ++l) {
      if (taken_[l]) std::copy_n(from + l * n_, n_, to[first_ + l]);
    }
  }

 private:
  std::ptrdiff_t first_, count_, n_;
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
