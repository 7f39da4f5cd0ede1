// The stand-in for half precision: storage and conversions, no arithmetic of its own.
#pragma once

#include <bit>
#include <cstdint>

#include "cuda_runtime.h"
#include "executor/short_float.h"

struct __half {
  using ShortFloat = executor::ShortFloat<5, 10>;
  std::uint16_t bits;

  __half() = default;
  __half(float x) : bits(ShortFloat::narrow(x)) {}
  __half(double x) : bits(ShortFloat::narrow(x)) {}
  operator float() const { return static_cast<float>(ShortFloat::widen(bits)); }
};
using half = __half;

inline float __half2float(__half x) { return x; }
inline __half __float2half(float x) { return x; }
inline __half __float2half_rn(float x) { return x; }
inline __half __double2half(double x) { return x; }
inline unsigned short __half_as_ushort(__half x) { return x.bits; }
inline short __half_as_short(__half x) { return std::bit_cast<short>(x.bits); }
inline __half __ushort_as_half(unsigned short bits) { return std::bit_cast<__half>(bits); }
inline __half __short_as_half(short bits) { return std::bit_cast<__half>(bits); }
