// Rows to lanes of float and back: a matrix is transposed in blocks of four columns.
// Included once per instruction set, after hwy/highway.h.
#if defined(LAPSUM_INTERLEAVE_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef LAPSUM_INTERLEAVE_INL_H
#undef LAPSUM_INTERLEAVE_INL_H
#else
#define LAPSUM_INTERLEAVE_INL_H
#endif

#include <cstddef>

#include "cpu/primitives/elements-inl.h"

HWY_BEFORE_NAMESPACE();
namespace lapsum::cpu::HWY_NAMESPACE {

#if HWY_TARGET != HWY_SCALAR
// Blocks of four elements each, from at(0), at(kStep), ... and to them.
template <int kStep, class D, class At>
HWY_INLINE hn::Vec<D> load_blocks(D d, const At& at, int first = 0) {
  if constexpr (hn::MaxLanes(d) <= 4) {
    return load_elements(d, at(first));
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
    store_elements(d, v, at(first));
  } else {
    const hn::Half<D> half;
    constexpr int kBlocks = static_cast<int>(hn::MaxLanes(half)) / 4;
    store_blocks<kStep>(half, hn::LowerHalf(half, v), at, first);
    store_blocks<kStep>(half, hn::UpperHalf(half, v), at, first + kBlocks * kStep);
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
#endif

/// put(j, v) with v[l] = rows[l][j], for every j below n.
template <class D, class T, class Put>
HWY_INLINE void interleave(D d, const T* const* rows, std::ptrdiff_t n, Put put) {
  std::ptrdiff_t j = 0;
#if HWY_TARGET != HWY_SCALAR
  for (; j + 4 <= n; j += 4) {
    const auto at = [&](int l) { return rows[l] + j; };
    transpose_blocks(d, load_blocks<4>(d, at, 0), load_blocks<4>(d, at, 1),
                     load_blocks<4>(d, at, 2), load_blocks<4>(d, at, 3),
                     [&](auto v0, auto v1, auto v2, auto v3) HWY_ATTR {
                       put(j, v0);
                       put(j + 1, v1);
                       put(j + 2, v2);
                       put(j + 3, v3);
                     });
  }
#endif
  for (; j < n; ++j) {
    HWY_ALIGN float v[hn::MaxLanes(d)];
    for (std::size_t l = 0; l < hn::MaxLanes(d); ++l) v[l] = to_work(rows[l][j]);
    put(j, hn::Load(d, v));
  }
}

/// rows[l][j] = get(j)[l], for every j below n.
template <class D, class T, class Get>
HWY_INLINE void separate(D d, std::ptrdiff_t n, Get get, T* const* rows) {
  std::ptrdiff_t j = 0;
#if HWY_TARGET != HWY_SCALAR
  for (; j + 4 <= n; j += 4) {
    const auto at = [&](int l) { return rows[l] + j; };
    transpose_blocks(d, get(j), get(j + 1), get(j + 2), get(j + 3),
                     [&](auto v0, auto v1, auto v2, auto v3) HWY_ATTR {
                       store_blocks<4>(d, v0, at, 0);
                       store_blocks<4>(d, v1, at, 1);
                       store_blocks<4>(d, v2, at, 2);
                       store_blocks<4>(d, v3, at, 3);
                     });
  }
#endif
  for (; j < n; ++j) {
    T v[hn::MaxLanes(d)];
    store_elements(d, get(j), v);
    for (std::size_t l = 0; l < hn::MaxLanes(d); ++l) rows[l][j] = v[l];
  }
}

}  // namespace lapsum::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
