// Rows to lanes of 32 or 64 bits and back: a matrix is transposed in blocks of 128 bits.
// Included once per instruction set, after hwy/highway.h.
#if defined(LAPSUM_INTERLEAVE_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef LAPSUM_INTERLEAVE_INL_H
#undef LAPSUM_INTERLEAVE_INL_H
#else
#define LAPSUM_INTERLEAVE_INL_H
#endif

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "cpu/primitives/elements-inl.h"

HWY_BEFORE_NAMESPACE();
namespace lapsum::cpu::HWY_NAMESPACE {

#if HWY_TARGET != HWY_SCALAR
// Lanes as they lie in memory, one element of T each, or two of a half type.
template <class T>
inline constexpr std::ptrdiff_t kInLane = kIsHalf<T> ? 2 : 1;
template <class T>
using Stored = std::conditional_t<kIsHalf<T>, std::uint16_t, T>;

template <class D, class T>
HWY_INLINE hn::Vec<D> load_block(D d, const T* x) {
  const hn::Repartition<Stored<T>, D> stored;
  return hn::BitCast(d, hn::LoadU(stored, reinterpret_cast<const Stored<T>*>(x)));
}
template <class D, class T>
HWY_INLINE void store_block(D, hn::Vec<D> v, T* x) {
  const hn::Repartition<Stored<T>, D> stored;
  hn::StoreU(hn::BitCast(stored, v), stored, reinterpret_cast<Stored<T>*>(x));
}

// Lanes in a block, and columns that are transposed together; there are vectors of half a block.
template <class D>
inline constexpr int kInBlock = 16 / sizeof(hn::TFromD<D>);
template <class D>
inline constexpr bool kHasBlocks = hn::MaxLanes(D()) >= kInBlock<D>;

// Blocks from at(first), at(first + kInBlock), ... and to them.
template <class D, class At>
HWY_INLINE hn::Vec<D> load_blocks(D d, const At& at, int first) {
  if constexpr (hn::MaxLanes(d) <= kInBlock<D>) {
    return load_block(d, at(first));
  } else {
    const hn::Half<D> half;
    return hn::Combine(d, load_blocks(half, at, first + static_cast<int>(hn::MaxLanes(half))),
                       load_blocks(half, at, first));
  }
}
template <class D, class At>
HWY_INLINE void store_blocks(D d, hn::Vec<D> v, const At& at, int first) {
  if constexpr (hn::MaxLanes(d) <= kInBlock<D>) {
    store_block(d, v, at(first));
  } else {
    const hn::Half<D> half;
    store_blocks(half, hn::LowerHalf(half, v), at, first);
    store_blocks(half, hn::UpperHalf(half, v), at, first + static_cast<int>(hn::MaxLanes(half)));
  }
}

// Such lanes as numbers, one column or two.
template <class T, class D, class Put>
HWY_INLINE void put_lanes(D d, hn::Vec<D> v, std::ptrdiff_t j, Put& put) {
  if constexpr (kIsHalf<T>) {
    const hn::RebindToSigned<D> di;
    put(j, from_bits(d, hn::And(hn::BitCast(di, v), hn::Set(di, 0xffff)), T()));
    put(j + 1, from_bits(d, upper_half(d, v), T()));
  } else {
    put(j, v);
  }
}
template <class T, class D, class Get>
HWY_INLINE hn::Vec<D> get_lanes(D d, std::ptrdiff_t j, Get& get) {
  if constexpr (kIsHalf<T>) {
    const auto second = hn::ShiftLeft<16>(to_bits(d, get(j + 1), T()));
    return hn::BitCast(d, hn::Or(to_bits(d, get(j), T()), second));
  } else {
    return get(j);
  }
}

// Transposes the four by four floats of each block, or the two by two doubles.
template <class D>
HWY_INLINE void transpose_blocks(D d, hn::Vec<D>* v) {
  const auto low = hn::InterleaveLower(d, v[0], v[1]);
  const auto high = hn::InterleaveUpper(d, v[0], v[1]);
  if constexpr (kInBlock<D> == 2) {
    v[0] = low;
    v[1] = high;
  } else {
    const hn::RepartitionToWide<D> pairs;
    const auto low_first = hn::BitCast(pairs, low);
    const auto high_first = hn::BitCast(pairs, high);
    const auto low_last = hn::BitCast(pairs, hn::InterleaveLower(d, v[2], v[3]));
    const auto high_last = hn::BitCast(pairs, hn::InterleaveUpper(d, v[2], v[3]));
    v[0] = hn::BitCast(d, hn::InterleaveLower(pairs, low_first, low_last));
    v[1] = hn::BitCast(d, hn::InterleaveUpper(pairs, low_first, low_last));
    v[2] = hn::BitCast(d, hn::InterleaveLower(pairs, high_first, high_last));
    v[3] = hn::BitCast(d, hn::InterleaveUpper(pairs, high_first, high_last));
  }
}

// body(j) for columns [j, j + kCount) that cover [0, n), the last ones twice if need be; false if n
// is less than that.
template <std::ptrdiff_t kCount, class Body>
HWY_INLINE bool cover(std::ptrdiff_t n, Body body) {
  if (n < kCount) return false;
  std::ptrdiff_t j = 0;
  for (; j + kCount <= n; j += kCount) body(j);
  if (j < n) body(n - kCount);
  return true;
}

// body(at, j) for blocks of columns from j on, which row l has at(l); false if rows do not hold one.
template <class D, class T, class Body>
HWY_INLINE bool for_each_block(D, T* const* rows, std::ptrdiff_t n, Body body) {
  if constexpr (kHasBlocks<D>) {
    return cover<kInBlock<D> * kInLane<std::remove_const_t<T>>>(
        n, [&](std::ptrdiff_t j) HWY_ATTR { body([&](int l) { return rows[l] + j; }, j); });
  }
  return false;
}
#endif

/// put(j, v) with v[l] = rows[l][j], for every j below n, for some of them twice.
template <class D, class T, class Put>
HWY_INLINE void interleave(D d, const T* const* rows, std::ptrdiff_t n, Put put) {
#if HWY_TARGET != HWY_SCALAR
  constexpr int kColumns = kInBlock<D>;
  const auto load = [&](const auto& at, std::ptrdiff_t j) HWY_ATTR {
    hn::Vec<D> v[kColumns];
    for (int c = 0; c < kColumns; ++c) v[c] = load_blocks(d, at, c);
    transpose_blocks(d, v);
    for (int c = 0; c < kColumns; ++c) put_lanes<T>(d, v[c], j + c * kInLane<T>, put);
  };
  if (for_each_block(d, rows, n, load)) return;
#endif
  for (std::ptrdiff_t j = 0; j < n; ++j) {
    HWY_ALIGN hn::TFromD<D> v[hn::MaxLanes(d)];
    for (std::size_t l = 0; l < hn::MaxLanes(d); ++l) {
      if constexpr (kIsHalf<T>) {
        v[l] = to_work(rows[l][j]);
      } else {
        v[l] = rows[l][j];
      }
    }
    put(j, hn::Load(d, v));
  }
}

/// rows[l][j] = get(j)[l], for every j below n.
template <class D, class T, class Get>
HWY_INLINE void separate(D d, std::ptrdiff_t n, Get get, T* const* rows) {
#if HWY_TARGET != HWY_SCALAR
  constexpr int kColumns = kInBlock<D>;
  const auto store = [&](const auto& at, std::ptrdiff_t j) HWY_ATTR {
    hn::Vec<D> v[kColumns];
    for (int c = 0; c < kColumns; ++c) v[c] = get_lanes<T>(d, j + c * kInLane<T>, get);
    transpose_blocks(d, v);
    for (int c = 0; c < kColumns; ++c) store_blocks(d, v[c], at, c);
  };
  if (for_each_block(d, rows, n, store)) return;
#endif
  for (std::ptrdiff_t j = 0; j < n; ++j) {
    T v[hn::MaxLanes(d)];
    store_elements(d, get(j), v);
    for (std::size_t l = 0; l < hn::MaxLanes(d); ++l) rows[l][j] = v[l];
  }
}

}  // namespace lapsum::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
