// Elements of rows in and out of vector registers, in the type they are computed in; element.h says
// the same of single ones.
// Included once per instruction set, after hwy/highway.h.
#if defined(LAPSUM_ELEMENTS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef LAPSUM_ELEMENTS_INL_H
#undef LAPSUM_ELEMENTS_INL_H
#else
#define LAPSUM_ELEMENTS_INL_H
#endif

#include <cstdint>
#include <type_traits>

#include "cpu/primitives/element.h"

// Where Highway converts binary16 by an instruction; elsewhere its conversions do not round.
#undef LAPSUM_HAS_F16C
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2 && !defined(HWY_DISABLE_F16C)
#define LAPSUM_HAS_F16C 1
#else
#define LAPSUM_HAS_F16C 0
#endif

HWY_BEFORE_NAMESPACE();
namespace lapsum::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class D>
using Bits = hn::Vec<hn::RebindToSigned<D>>;

template <class D>
HWY_INLINE Bits<D> upper_half(D, hn::Vec<D> v) {
  const hn::RebindToUnsigned<D> du;
  return hn::BitCast(hn::RebindToSigned<D>(), hn::ShiftRight<16>(hn::BitCast(du, v)));
}

/// The numbers of elements whose bits stand in lanes of 32 bits.
template <class D>
HWY_INLINE hn::Vec<D> from_bits(D d, Bits<D> bits, Bfloat16) {
  return hn::BitCast(d, hn::ShiftLeft<16>(bits));
}
template <class D>
HWY_INLINE hn::Vec<D> from_bits(D d, Bits<D> bits, Half) {
#if LAPSUM_HAS_F16C
  const hn::Rebind<std::uint16_t, D> narrow;
  const hn::Rebind<hwy::float16_t, D> half;
  return hn::PromoteTo(d, hn::BitCast(half, hn::DemoteTo(narrow, bits)));
#else
  const hn::RebindToSigned<D> di;
  const auto sign = hn::And(bits, hn::Set(di, HalfBits::kSign));
  const auto size = hn::ShiftLeft<13>(hn::Xor(bits, sign));
  const auto bias = hn::Set(di, HalfBits::kBias);
  const auto least = hn::Set(di, HalfBits::kLeast);
  const auto is_least = hn::Lt(size, hn::Set(di, 1 << 23));
  const auto is_finite = hn::Lt(size, hn::Set(di, HalfBits::kInf << 13));
  const auto normal = hn::Add(size, hn::IfThenElse(is_finite, bias, hn::Add(bias, bias)));
  const auto moved = hn::BitCast(d, hn::Add(size, least));
  const auto small = hn::BitCast(di, hn::Sub(moved, hn::BitCast(d, least)));
  const auto wide = hn::IfThenElse(is_least, small, normal);
  return hn::BitCast(d, hn::Or(wide, hn::ShiftLeft<16>(sign)));
#endif
}

/// The bits of v rounded to elements, to nearest, ties to even.
template <class D>
HWY_INLINE Bits<D> to_bits(D d, hn::Vec<D> v, Bfloat16) {
  const hn::RebindToSigned<D> di;
  const auto odd = hn::And(upper_half(d, v), hn::Set(di, 1));
  const auto up = hn::Add(hn::BitCast(di, v), hn::Add(odd, hn::Set(di, 0x7fff)));
  const auto rounded = upper_half(d, hn::BitCast(d, up));
  const auto is_number = hn::RebindMask(di, hn::Eq(v, v));
  return hn::IfThenElse(is_number, rounded, hn::Set(di, 0x7fc0));
}
template <class D>
HWY_INLINE Bits<D> to_bits(D d, hn::Vec<D> v, Half) {
  const hn::RebindToSigned<D> di;
#if LAPSUM_HAS_F16C
  const hn::Rebind<std::uint16_t, D> narrow;
  const hn::Rebind<hwy::float16_t, D> half;
  return hn::PromoteTo(di, hn::BitCast(narrow, hn::DemoteTo(half, v)));
#else
  const auto size = hn::BitCast(di, hn::Abs(v));
  const auto sign = hn::And(upper_half(d, v), hn::Set(di, HalfBits::kSign));
  const auto odd = hn::And(hn::ShiftRight<13>(size), hn::Set(di, 1));
  const auto up = hn::Add(size, hn::Add(odd, hn::Set(di, 0xfff - HalfBits::kBias)));
  const auto moved = hn::Add(hn::Abs(v), hn::Set(d, 0.5f));
  const auto small = hn::Sub(hn::BitCast(di, moved), hn::Set(di, HalfBits::kOneHalf));
  const auto is_least = hn::Lt(size, hn::Set(di, HalfBits::kLeast));
  const auto finite = hn::IfThenElse(is_least, small, hn::ShiftRight<13>(up));
  const auto is_number = hn::RebindMask(di, hn::Eq(v, v));
  const auto beyond =
      hn::IfThenElse(is_number, hn::Set(di, HalfBits::kInf), hn::Set(di, HalfBits::kNaN));
  const auto is_finite = hn::Lt(size, hn::Set(di, HalfBits::kBeyond));
  return hn::Or(hn::IfThenElse(is_finite, finite, beyond), sign);
#endif
}

template <class D, class T>
HWY_INLINE void store_bits(D, Bits<D> bits, T* out) {
  const hn::Rebind<std::uint16_t, D> narrow;
  hn::StoreU(hn::DemoteTo(narrow, bits), narrow, reinterpret_cast<std::uint16_t*>(out));
}

/// The elements at x.
template <class D, class T>
HWY_INLINE hn::Vec<D> load_elements(D d, const T* x) {
  if constexpr (!kIsHalf<T>) {
    return hn::LoadU(d, x);
  } else {
    const hn::Rebind<std::uint16_t, D> narrow;
    const auto bits = hn::LoadU(narrow, reinterpret_cast<const std::uint16_t*>(x));
    if constexpr (LAPSUM_HAS_F16C && std::is_same_v<T, Half>) {
      return hn::PromoteTo(d, hn::BitCast(hn::Rebind<hwy::float16_t, D>(), bits));
    } else {
      return from_bits(d, hn::PromoteTo(hn::RebindToSigned<D>(), bits), T());
    }
  }
}

/// v rounded to elements.
template <class D, class T>
HWY_INLINE void store_elements(D d, hn::Vec<D> v, T* out) {
  if constexpr (!kIsHalf<T>) {
    hn::StoreU(v, d, out);
  } else if constexpr (LAPSUM_HAS_F16C && std::is_same_v<T, Half>) {
    const hn::Rebind<std::uint16_t, D> narrow;
    const auto half = hn::DemoteTo(hn::Rebind<hwy::float16_t, D>(), v);
    hn::StoreU(hn::BitCast(narrow, half), narrow, reinterpret_cast<std::uint16_t*>(out));
  } else {
    store_bits(d, to_bits(d, v, T()), out);
  }
}

/// v, which holds numbers of T.
template <class D, class T>
HWY_INLINE void store_exact(D d, hn::Vec<D> v, T* out) {
  if constexpr (std::is_same_v<T, Bfloat16>) {
    store_bits(d, upper_half(d, v), out);
  } else {
    store_elements(d, v, out);
  }
}

}  // namespace lapsum::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
