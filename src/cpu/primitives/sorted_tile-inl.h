// The rows of a tile in ascending order, side by side in lanes of float: by a network.
// Included once per instruction set, after hwy/highway.h.
#if defined(LAPSUM_SORTED_TILE_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef LAPSUM_SORTED_TILE_INL_H
#undef LAPSUM_SORTED_TILE_INL_H
#else
#define LAPSUM_SORTED_TILE_INL_H
#endif

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <span>

#include "cpu/primitives/argsort.h"
#include "cpu/primitives/decay-inl.h"
#include "cpu/primitives/interleave-inl.h"
#include "cpu/primitives/kept_order.h"
#include "cpu/primitives/network-inl.h"
#include "cpu/primitives/tile.h"

HWY_BEFORE_NAMESPACE();
namespace lapsum::cpu::HWY_NAMESPACE {

// As many lanes of float as there are of double.
using F = hn::Rebind<float, D>;
using VF = hn::Vec<F>;

HWY_INLINE std::ptrdiff_t lanes() { return static_cast<std::ptrdiff_t>(hn::Lanes(D())); }
HWY_INLINE std::ptrdiff_t float_lanes() { return static_cast<std::ptrdiff_t>(hn::Lanes(DF())); }

template <class Orders>
bool has_any(const Orders& orders) {
  return std::any_of(orders.begin(), orders.end(), [](const Index* order) { return order; });
}

/// Entry j * rows + l is position j of row l; float_lanes() zeros follow the last position.
class SortedTile {
 public:
  const std::ptrdiff_t rows;  ///< float_lanes(), or 1 for a tile of one row
  float* const values;        ///< of sign * x, without -0
  std::int32_t* const order;  ///< the element that stands there, ties as in the row; or null

  SortedTile(const Tile& tile, bool with_order, const Tile::Kept& kept, Arena& arena)
      : rows(tile.rows == 1 ? 1 : float_lanes()),
        values(take<float>(tile.n, arena)),
        order(with_order ? take<std::int32_t>(tile.n, arena) : nullptr) {
    const Arena::Scope scope(arena);
    if (has_any(kept) || tile.n > kTileLength || (rows == 1 && tile.n >= kSortedAlone)) {
      sort_each(tile, kept, arena);
    } else if (!with_order) {
      sort_values(tile);
    } else if (rows == 1 || !sort_by_steps(tile, arena)) {
      sort_by_keys(tile, arena);
    }
    std::fill_n(values + tile.n * rows, float_lanes(), 0.0f);
    if (with_order) std::fill_n(order + tile.n * rows, float_lanes(), 0);
  }

  /// The order of each row to where it is kept.
  void keep_order(const Tile& tile, const Tile::Keep& keep, Arena& arena) const {
    if (!has_any(keep)) return;
    if (rows == 1) return void(std::copy_n(order, tile.n, keep[0]));
    const Arena::Scope scope(arena);
    const std::span<Index> nowhere = arena.take<Index>(tile.n);
    Tile::Keep to = keep;
    std::replace(to.begin(), to.end(), static_cast<Index*>(nullptr), nowhere.data());
    const auto get = [&](std::ptrdiff_t j)
                         HWY_ATTR { return hn::BitCast(U(), hn::LoadU(I(), order + j * rows)); };
    separate(U(), tile.n, get, to.data());
  }

 private:
  using VW = hn::Vec<DF>;
  using I = hn::RebindToSigned<DF>;
  using U = hn::RebindToUnsigned<DF>;

  template <class T>
  T* take(std::ptrdiff_t n, Arena& arena) const {
    return arena.take<T>(whole_groups(n) * rows + float_lanes()).data();
  }

  static HWY_INLINE float oriented(const Tile& tile, std::ptrdiff_t l, std::ptrdiff_t j) {
    return static_cast<float>(tile.sign[l]) * tile.x[l][j] + 0.0f;  // -0 + 0 is +0
  }
  // put(e, v) for vectors of such entries from e on, for some of them twice.
  template <class Put>
  HWY_INLINE void read(const Tile& tile, Put put) const {
    HWY_ALIGN float sign[kMostTileRows];
    std::copy(tile.sign.begin(), tile.sign.end(), sign);
    const VW factor = hn::Load(DF(), sign);
    interleave(DF(), tile.x.data(), tile.n, [&](std::ptrdiff_t j, VW given) HWY_ATTR {
      put(j * rows, hn::MulAdd(factor, given, hn::Zero(DF())));
    });
  }

  // One row after another, by the order that is known or by digits; lanes without a row have zeros.
  void sort_each(const Tile& tile, const Tile::Kept& kept, Arena& arena) const {
    const std::ptrdiff_t n = tile.n;
    const std::span<double> sorted = arena.take<double>(n);
    float* const narrow = rows == 1 ? values : arena.take<float>(rows * n).data();
    Tile::From from{};
    Tile::Kept elements{};
    for (std::ptrdiff_t l = 0; l < rows; ++l) {
      const auto lane = static_cast<std::size_t>(l);
      const bool negate = tile.sign[lane] < 0;
      if (l >= tile.rows) {
        std::fill(sorted.begin(), sorted.end(), 0.0);
        elements[lane] = elements[0];
      } else if (kept[lane]) {
        gather_sorted(tile.x[lane], n, negate, kept[lane], sorted.data(), 1);
        elements[lane] = kept[lane];
      } else {
        const std::span<Index> own = arena.take<Index>(n);
        argsort(tile.x[lane], n, negate, sorted.data(), own.data(), arena, 1);
        elements[lane] = own.data();
      }
      std::copy(sorted.begin(), sorted.end(), narrow + l * n);
      from[lane] = narrow + l * n;
    }
    if (rows == 1) {
      if (order) std::copy_n(elements[0], n, order);
      return;
    }
    interleave(DF(), from.data(), n,
               [this](std::ptrdiff_t j, VW v) HWY_ATTR { hn::StoreU(v, DF(), values + j * rows); });
    if (!order) return;
    interleave(U(), elements.data(), n, [this](std::ptrdiff_t j, hn::Vec<U> v) HWY_ATTR {
      hn::StoreU(hn::BitCast(I(), v), I(), order + j * rows);
    });
  }

  void sort_values(const Tile& tile) const {
    const std::ptrdiff_t whole = whole_groups(tile.n);
    std::fill(values + tile.n * rows, values + whole * rows,
              std::numeric_limits<float>::infinity());
    if (rows == 1) {
      for (std::ptrdiff_t j = 0; j < tile.n; ++j) values[j] = oriented(tile, 0, j);
      return sort_lanes(hn::CappedTag<float, 1>(), values, whole);
    }
    float* const to = values;
    read(tile, [to](std::ptrdiff_t e, VW v) HWY_ATTR { hn::StoreU(v, DF(), to + e); });
    sort_lanes(DF(), values, whole);
  }

  // A number of 32 bits holds in which of a million equal steps from the least to the greatest value
  // of its row an element lies, above its index. It is read as a float, positive, finite and normal:
  // those of 512 bits are compared twice as fast as integers. Neighbours that share a step may stand
  // the wrong way round; where these are many, it is given up.
  static constexpr int kIndexBits = 11;
  static constexpr std::int32_t kIndexMask = (1 << kIndexBits) - 1;
  static constexpr std::int32_t kFirstKey = 0x00800000, kKeys = 0x7f800000 - kFirstKey;
  static constexpr std::int32_t kSteps = kKeys >> kIndexBits;
  static_assert(kTileLength <= 1 << kIndexBits && (kFirstKey & kIndexMask) == 0);

  bool sort_by_steps(const Tile& tile, Arena& arena) const {
    const DF d;
    const I di;
    const std::ptrdiff_t n = tile.n, w = rows;
    float* const given = take<float>(n, arena);
    VW least = hn::Set(d, std::numeric_limits<float>::infinity());
    VW greatest = hn::Neg(least);
    read(tile, [&least, &greatest, given](std::ptrdiff_t e, VW v) HWY_ATTR {
      hn::StoreU(v, DF(), given + e);
      least = hn::Min(least, v);
      greatest = hn::Max(greatest, v);
    });
    const VW last = hn::Set(d, static_cast<float>(kSteps - 1));
    const VW most = hn::Set(d, std::numeric_limits<float>::max());
    const VW rate = hn::Min(hn::Div(last, hn::Sub(greatest, least)), most);
    for (std::ptrdiff_t j = 0; j < n; ++j) {
      const VW v = hn::LoadU(d, given + j * w);
      const VW step = hn::Min(hn::Mul(hn::Sub(v, least), rate), last);
      const auto key = hn::Add(hn::ShiftLeft<kIndexBits>(hn::ConvertTo(di, step)),
                               hn::Set(di, kFirstKey + static_cast<std::int32_t>(j)));
      hn::StoreU(hn::BitCast(d, key), d, values + j * w);
    }
    const std::ptrdiff_t whole = whole_groups(n);
    std::fill(values + n * w, values + whole * w, std::numeric_limits<float>::infinity());
    sort_lanes(d, values, whole);
    return fetch(given, n);
  }

  // Indices and values of sorted keys, which `values` holds. False if it takes too many moves.
  bool fetch(const float* given, std::ptrdiff_t n) const {
    const DF d;
    const I di;
    const std::ptrdiff_t w = rows;
    const auto lane = hn::Iota(di, 0);
    std::ptrdiff_t moves = 4 * n;
    VW before = hn::Set(d, -std::numeric_limits<float>::infinity());
    for (std::ptrdiff_t e = 0; e < n * w; e += w) {
      const auto key = hn::BitCast(di, hn::LoadU(d, values + e));
      const auto index = hn::And(key, hn::Set(di, kIndexMask));
      hn::StoreU(index, di, order + e);
      const auto from = hn::Add(hn::ShiftLeftSame(index, std::countr_zero(hn::Lanes(d))), lane);
      VW v = hn::GatherIndex(d, given, from);
      hn::StoreU(v, d, values + e);
      if (HWY_UNLIKELY(!hn::AllFalse(d, hn::Lt(v, before)))) {
        for (std::ptrdiff_t l = 0; l < w; ++l) moves -= insert(e + l);
        if (moves < 0) return false;
        v = hn::LoadU(d, values + e);
      }
      before = v;
    }
    return true;
  }

  // Entry e to its place among those before it in its row; how many it passes.
  std::ptrdiff_t insert(std::ptrdiff_t e) const {
    const float v = values[e];
    const std::int32_t element = order[e];
    std::ptrdiff_t passed = 0;
    for (; e >= rows && values[e - rows] > v; e -= rows, ++passed) {
      values[e] = values[e - rows];
      order[e] = order[e - rows];
    }
    values[e] = v;
    order[e] = element;
    return passed;
  }

  // Numbers of 64 bits hold a key of the same order as the value above its index. They are compared as
  // doubles: with this bit set, and keys of finite floats, none is odd or denormal.
  void sort_by_keys(const Tile& tile, Arena& arena) const {
    constexpr int kBits = 30;
    constexpr std::uint64_t kNormal = std::uint64_t{1} << 62;
    constexpr std::uint32_t kSign = 0x80000000u;
    const std::ptrdiff_t whole = whole_groups(tile.n), w = HWY_MIN(rows, lanes());
    double* const keys = arena.take<double>(whole * w).data();
    for (std::ptrdiff_t first = 0; first < rows; first += w) {
      for (std::ptrdiff_t e = 0; e < whole * w; ++e) {
        const float v = e < tile.n * w ? oriented(tile, first + e % w, e / w)
                                       : std::numeric_limits<float>::infinity();
        const auto bits = std::bit_cast<std::uint32_t>(v);
        const std::uint64_t key = bits ^ (bits & kSign ? ~0u : kSign);
        keys[e] = std::bit_cast<double>(kNormal | key << kBits | static_cast<std::uint64_t>(e / w));
      }
      if (w == 1) {
        sort_lanes(hn::CappedTag<double, 1>(), keys, whole);
      } else {
        sort_lanes(D(), keys, whole);
      }
      for (std::ptrdiff_t e = 0; e < tile.n * w; ++e) {
        const auto bits = std::bit_cast<std::uint64_t>(keys[e]);
        const auto key = static_cast<std::uint32_t>(bits >> kBits);
        const std::ptrdiff_t to = e / w * rows + first + e % w;
        values[to] = std::bit_cast<float>(key ^ (key & kSign ? kSign : ~0u));
        order[to] = static_cast<std::int32_t>(bits & kIndexMask);
      }
    }
  }
};

}  // namespace lapsum::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
