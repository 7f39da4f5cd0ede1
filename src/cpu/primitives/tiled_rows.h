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
  bool is_empty() const {
    return std::none_of(taken_.begin(), taken_.end(), [](bool taken) { return taken; });
  }

  /// The same rows of other arrays.
  Tile::From of(Rows<const float> from) const { return of(from, nothing_.data()); }
  Tile::To of(Rows<float> to) const { return of(to, nowhere_.data()); }
  Tile::Keep of(Rows<Index> keep) const { return of(keep, nullptr); }
  Tile::Kept of(Rows<const Index> kept) const { return of(kept, nullptr); }

 private:
  // Of lanes without a row, `none`.
  template <class T>
  std::array<T*, kMostTileRows> of(Rows<T> all, std::type_identity_t<T>* none) const {
    std::array<T*, kMostTileRows> rows;
    for (std::size_t l = 0; l < rows.size(); ++l) {
      rows[l] = taken_[l] && all.data ? all[first_ + static_cast<std::ptrdiff_t>(l)] : none;
    }
    return rows;
  }

  std::ptrdiff_t first_;
  std::span<float> nothing_, nowhere_;
  std::array<bool, kMostTileRows> taken_{};
  Tile tile_{};
};

/// Which rows go through tiles: those up to a length. `worth` as in for_each_row.
struct Tiling {
  std::ptrdiff_t most = kTileLength, worth = kWorthSorted;

  template <class T>
  bool takes(Rows<const T> x) const {
    return std::is_same_v<T, float> && x.length > 0 && x.length <= most;
  }
};
static_assert(kTileGradientLength <= kChunk, "a longer row may have threads of its own");

/// Whether rows go through tiles one by one: a network sorts the empty lanes of a tile too.
inline bool go_alone(std::ptrdiff_t count, std::ptrdiff_t length) {
  constexpr std::ptrdiff_t kAloneInHalf = 1024;
  const std::ptrdiff_t width = tile_rows();
  return length > kAloneInHalf ? 2 * count <= width : length >= kSortedAlone && 3 * count < width;
}

/// How many rows of a batch one thread takes at a time: not more than its share of them, in whole lanes
/// of double.
inline std::ptrdiff_t rows_together(std::ptrdiff_t count, std::ptrdiff_t length, int threads,
                                    std::ptrdiff_t worth) {
  const auto up = [](std::ptrdiff_t n, std::ptrdiff_t unit) { return (n + unit - 1) / unit; };
  const int shares = threads_for(count * length, threads, worth);
  const std::ptrdiff_t share = std::max<std::ptrdiff_t>(up(count, shares), 1);
  if (go_alone(share, length)) return share;
  const std::ptrdiff_t width = tile_rows(), lanes = std::max<std::ptrdiff_t>(width / 2, 1);
  return std::min(width, lanes * up(share, lanes));
}

/// tile(rows, arena) for groups of rows and row(i, arena, threads) for each row that no tile takes.
template <class T, class OnTile, class OnRow>
void for_each_row_or_tile(Rows<const T> x, const PerRow& alpha, Order order, Threads threads,
                          const Tiling& tiling, OnTile&& tile, OnRow&& row) {
  if constexpr (std::is_same_v<T, float>) {
    if (tiling.takes(x)) {
      const auto take = [&](std::ptrdiff_t first, std::ptrdiff_t count, Arena& arena) {
        const Arena::Scope scope(arena);
        const TiledRows rows(x, alpha, order, first, count, arena);
        if (!rows.is_empty()) tile(rows, arena);
        for (std::ptrdiff_t l = 0; l < count; ++l) {
          const Arena::Scope own(arena);
          if (!rows.takes(l)) row(first + l, arena, 1);
        }
      };
      const std::ptrdiff_t most = rows_together(x.count, x.length, threads, tiling.worth);
      const auto on_group = [&](std::ptrdiff_t begin, std::ptrdiff_t end, Arena& arena) {
        const std::ptrdiff_t step = go_alone(end - begin, x.length) ? 1 : most;
        for (std::ptrdiff_t i = begin; i < end; i += step) take(i, std::min(step, end - i), arena);
      };
      return for_each_group(x.count, most, x.length, threads, on_group, tiling.worth);
    }
  }
  for_each_row(x.count, x.length, threads, row, tiling.worth);
}

}  // namespace lapsum::cpu
