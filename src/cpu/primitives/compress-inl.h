// The lanes that a mask chooses, moved to the front of a vector. Up to eight lanes look up where each
// comes from: that is as fast as an instruction, where there is one.
// Included once per instruction set, after hwy/highway.h.
#if defined(LAPSUM_COMPRESS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef LAPSUM_COMPRESS_INL_H
#undef LAPSUM_COMPRESS_INL_H
#else
#define LAPSUM_COMPRESS_INL_H
#endif

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

HWY_BEFORE_NAMESPACE();
namespace lapsum::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// For every mask: its lanes in ascending order, then lane 0. Highway has such tables too, inside of
// functions, where compilers copy them to the stack for every vector.
template <class Number, std::size_t kLanes>
struct CompressTable {
  alignas(64) std::array<std::array<Number, kLanes>, std::size_t{1} << kLanes> from = {};

  constexpr CompressTable() {
    for (std::size_t mask = 0; mask < from.size(); ++mask) {
      std::size_t chosen = 0;
      for (std::size_t l = 0; l < kLanes; ++l) {
        if (mask >> l & 1) from[mask][chosen++] = static_cast<Number>(l);
      }
    }
  }
};
template <class Number, std::size_t kLanes>
inline constexpr CompressTable<Number, kLanes> kCompressTable;

/// A bit for every lane.
template <class D>
HWY_INLINE std::uint32_t bits_of(D d, hn::Mask<D> mask) {
  static_assert(hn::MaxLanes(D()) <= 32);
  std::uint8_t bytes[8] = {};
  hn::StoreMaskBits(d, mask, bytes);
  std::uint32_t bits = bytes[0];
  if constexpr (hn::MaxLanes(D()) > 8) std::memcpy(&bits, bytes, sizeof(bits));
  return bits;
}

/// The lanes of v whose bits are set, in front; what follows them is not said.
template <class D>
HWY_INLINE hn::Vec<D> compress(D d, hn::Vec<D> v, std::uint32_t bits) {
#if HWY_HAVE_SCALABLE || HWY_TARGET == HWY_SCALAR
  constexpr bool kLookUp = false;
#else
  constexpr bool kLookUp = hn::MaxLanes(D()) <= 8;
#endif
  if constexpr (kLookUp) {
    using Number = hn::TFromD<hn::RebindToSigned<D>>;
    constexpr std::size_t kLanes = hn::MaxLanes(D());
    const auto& from = kCompressTable<Number, kLanes>.from[bits];
    const auto lanes = hn::Load(hn::RebindToSigned<D>(), from.data());
    return hn::TableLookupLanes(v, hn::IndicesFromVec(d, lanes));
  } else {
    std::uint8_t bytes[8] = {};
    std::memcpy(bytes, &bits, sizeof(bits));
    return hn::Compress(v, hn::LoadMaskBits(d, bytes));
  }
}
template <class D>
HWY_INLINE hn::Vec<D> compress(D d, hn::Vec<D> v, hn::Mask<D> mask) {
  return compress(d, v, bits_of(d, mask));
}

}  // namespace lapsum::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
