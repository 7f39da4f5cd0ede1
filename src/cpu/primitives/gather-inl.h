// Doubles from here and there into one vector. Where there are four lanes or more, loading one after the
// other is faster than the instruction that gathers.
// Included once per instruction set, after hwy/highway.h.
#if defined(LAPSUM_GATHER_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef LAPSUM_GATHER_INL_H
#undef LAPSUM_GATHER_INL_H
#else
#define LAPSUM_GATHER_INL_H
#endif

#include <cstdint>

HWY_BEFORE_NAMESPACE();
namespace lapsum::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// from[at[l]] in lane l; the indices are 64 bits wide, or 32 without a sign.
template <class D, class Index>
HWY_INLINE hn::Vec<D> gather(D d, const double* from, const Index* at) {
#if HWY_TARGET <= HWY_AVX2 && HWY_ARCH_X86
  if constexpr (hn::MaxLanes(D()) > 2) {
    const hn::Half<D> half;
    return hn::Combine(d, gather(half, from, at + hn::Lanes(half)), gather(half, from, at));
  } else {
    return hn::Vec<D>{_mm_loadh_pd(_mm_load_sd(from + at[0]), from + at[1])};
  }
#else
  const hn::RebindToSigned<D> di;
  if constexpr (sizeof(Index) == sizeof(std::int64_t)) {
    return hn::GatherIndex(d, from, hn::LoadU(di, at));
  } else {
    const auto wide =
        hn::PromoteTo(hn::RebindToUnsigned<D>(), hn::LoadU(hn::Rebind<Index, D>(), at));
    return hn::GatherIndex(d, from, hn::BitCast(di, wide));
  }
#endif
}
template <class D>
HWY_INLINE hn::Vec<D> gather(D d, const double* from, hn::Vec<hn::RebindToSigned<D>> at) {
  HWY_ALIGN std::int64_t place[hn::MaxLanes(d)];
  hn::Store(at, hn::RebindToSigned<D>(), place);
  return gather(d, from, place);
}

}  // namespace lapsum::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
