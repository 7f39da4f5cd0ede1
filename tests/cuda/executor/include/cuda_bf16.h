// The stand-in for bfloat16: storage and conversions, no arithmetic of its own.
#pragma once

#include <bit>
#include <cstdint>

#include "cuda_runtime.h"
#include "executor/short_float.h"

struct __nv_bfloat16 {
  using ShortFloat = executor::ShortFloat<8, 7>;
  std::uint16_t bits;

  __nv_bfloat16() = default;
  __nv_bfloat16(float x) : bits(ShortFloat::narrow(x)) {}
  __nv_bfloat16(double x) : bits(ShortFloat::narrow(x)) {}
  operator float() const { return static_cast<float>(ShortFloat::widen(bits)); }
};
using nv_bfloat16 = __nv_bfloat16;

inline float __bfloat162float(__nv_bfloat16 x) { return x; }
inline __nv_bfloat16 __float2bfloat16(float x) { return x; }
inline __nv_bfloat16 __float2bfloat16_rn(float x) { return x; }
inline __nv_bfloat16 __double2bfloat16(double x) { return x; }
inline unsigned short __bfloat16_as_ushort(__nv_bfloat16 x) { return x.bits; }
inline short __bfloat16_as_short(__nv_bfloat16 x) { return std::bit_cast<short>(x.bits); }
inline __nv_bfloat16 __ushort_as_bfloat16(unsigned short bits) {
  return std::bit_cast<__nv_bfloat16>(bits);
}
inline __nv_bfloat16 __short_as_bfloat16(short bits) { return std::bit_cast<__nv_bfloat16>(bits); }
