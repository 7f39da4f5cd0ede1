// Rows to lanes of float and back: a matrix is transposed in blocks of four columns.
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

// Blocks of four lanes each, from at(0), at(kStep), ... and to them.
template <int kStep, class D, class At>
HWY_INLINE hn::Vec<D> load_blocks(D d, const At& at, int first = 0) {
  if constexpr (hn::MaxLanes(d) <= 4) {
    return load_block(d, at(first));
  } else {
    const hn::Half<D> half;
    constexpr int kBlocks = static_cast<int>(hn::MaxLanes(half)) / 4;
    return hn::Combine(d, load_blocks<kStep>(half, at, first + kBlocks * kStep),
                       load_blocks<kStep>(half, at, first));
  }
}
template <int kStep, class D, class At>
HWY_INLINE void store_blocks(D d, hn::Vec<D> v, const At& at, int first = 0) {
  if constexpr (hn::MaxLanes(d) <= 4) {
    store_block(d, v, at(first));
  } else {
    const hn::Half<D> half;
    constexpr int kBlocks = static_cast<int>(hn::MaxLanes(half)) / 4;
    store_blocks<kStep>(half, hn::LowerHalf(half, v), at, first);
    store_blocks<kStep>(half, hn::UpperHalf(half, v), at, first + kBlocks * kStep);
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

// Transposes the four by four floats of each block.
template <class D, class Out>
HWY_INLINE void transpose_blocks(D d, hn::Vec<D> a, hn::Vec<D> b, hn::Vec<D> c, hn::Vec<D> e,
                                 Out out) {
  const hn::RepartitionToWide<D> pairs;
  const auto low_ab = hn::BitCast(pairs, hn::InterleaveLower(d, a, b));
  const auto low_ce = hn::BitCast(pairs, hn::InterleaveLower(d, c, e));
  const auto high_ab = hn::BitCast(pairs, hn::InterleaveUpper(d, a, b));
  const auto high_ce = hn::BitCast(pairs, hn::InterleaveUpper(d, c, e));
  out(hn::BitCast(d, hn::InterleaveLower(pairs, low_ab, low_ce)),
      hn::BitCast(d, hn::InterleaveUpper(pairs, low_ab, low_ce)),
      hn::BitCast(d, hn::InterleaveLower(pairs, high_ab, high_ce)),
      hn::BitCast(d, hn::InterleaveUpper(pairs, high_ab, high_ce)));
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
#endif

/// put(j, v) with v[l] = rows[l][j], for every j below n, for some of them twice.
template <class D, class T, class Put>
HWY_INLINE void interleave(D d, const T* const* rows, std::ptrdiff_t n, Put put) {
#if HWY_TARGET != HWY_SCALAR
  constexpr std::ptrdiff_t kEach = kInLane<T>;
  const bool done = cover<4 * kEach>(n, [&](std::ptrdiff_t j) HWY_ATTR {
    const auto at = [&](int l) { return rows[l] + j; };
    transpose_blocks(d, load_blocks<4>(d, at, 0), load_blocks<4>(d, at, 1),
                     load_blocks<4>(d, at, 2), load_blocks<4>(d, at, 3),
                     [&](auto v0, auto v1, auto v2, auto v3) HWY_ATTR {
                       put_lanes<T>(d, v0, j, put);
                       put_lanes<T>(d, v1, j + kEach, put);
                       put_lanes<T>(d, v2, j + 2 * kEach, put);
                       put_lanes<T>(d, v3, j + 3 * kEach, put);
                     });
  });
  if (done) return;
#endif
  for (std::ptrdiff_t j = 0; j < n; ++j) {
    HWY_ALIGN float v[hn::MaxLanes(d)];
    for (std::size_t l = 0; l < hn::MaxLanes(d); ++l) v[l] = to_work(rows[l][j]);
    put(j, hn::Load(d, v));
  }
}

/// rows[l][j] = get(j)[l], for every j below n.
template <class D, class T, class Get>
HWY_INLINE void separate(D d, std::ptrdiff_t n, Get get, T* const* rows) {
#if HWY_TARGET != HWY_SCALAR
  constexpr std::ptrdiff_t kEach = kInLane<T>;
  const bool done = cover<4 * kEach>(n, [&](std::ptrdiff_t j) HWY_ATTR {
    const auto at = [&](int l) { return rows[l] + j; };
    transpose_blocks(d, get_lanes<T>(d, j, get), get_lanes<T>(d, j + kEach, get),
                     get_lanes<T>(d, j + 2 * kEach, get), get_lanes<T>(d, j + 3 * kEach, get),
                     [&](auto v0, auto v1, auto v2, auto v3) HWY_ATTR {
                       store_blocks<4>(d, v0, at, 0);
                       store_blocks<4>(d, v1, at, 1);
                       store_blocks<4>(d, v2, at, 2);
                       store_blocks<4>(d, v3, at, 3);
                     });
  });
  if (done) return;
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
