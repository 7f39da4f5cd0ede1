// Doubles from here and there into one vector. Where there are four lanes, loading one after the other is
// faster than the instruction that gathers.
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

/// from[at[l]] in lane l.
template <class D>
HWY_INLINE hn::Vec<D> gather(D d, const double* from, hn::Vec<hn::RebindToSigned<D>> at) {
#if HWY_TARGET == HWY_AVX2
  HWY_ALIGN std::int64_t place[4];
  hn::Store(at, hn::RebindToSigned<D>(), place);
  const auto pair = [&](int l) HWY_ATTR {
    return hn::Vec<hn::Half<D>>{_mm_loadh_pd(_mm_load_sd(from + place[l]), from + place[l + 1])};
  };
  return hn::Combine(d, pair(2), pair(0));
#else
  return hn::GatherIndex(d, from, at);
#endif
}

}  // namespace lapsum::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
