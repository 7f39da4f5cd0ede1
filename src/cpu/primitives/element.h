// Elements of rows, one at a time: to the type they are computed in, exactly, and back. Rows of a
// half type are computed as rows of float, and what a float row would have as a result is rounded
// to it.
#pragma once

#include <bit>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "lapsum/half.h"

namespace lapsum::cpu {

template <class T>
inline constexpr bool kIsHalf = std::is_same_v<T, Half> || std::is_same_v<T, Bfloat16>;

/// The type that rows of T are computed in.
template <class T>
using Work = std::conditional_t<kIsHalf<T>, float, T>;

/// Binary16 in the bits of a float, less its sign: where normal numbers begin and end, and what is
/// added to their exponents.
struct HalfBits {
  static constexpr std::int32_t kSign = 0x8000;
  static constexpr std::int32_t kInf = 0x7c00;
  static constexpr std::int32_t kNaN = 0x7e00;
  static constexpr std::int32_t kLeast = 113 << 23;   // 2^-14
  static constexpr std::int32_t kBeyond = 143 << 23;  // 2^16
  static constexpr std::int32_t kFloatInf = 255 << 23;
  static constexpr std::int32_t kBias = 112 << 23;
  /// A float next to 1/2 has the step of the subnormal numbers.
  static constexpr std::int32_t kOneHalf = 126 << 23;
};

inline double to_work(double x) { return x; }
inline float to_work(float x) { return x; }
inline float to_work(Bfloat16 x) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(x.bits) << 16);
}
inline float to_work(Half x) {
  const std::int32_t bits = x.bits;
  const std::int32_t size = (bits & ~HalfBits::kSign) << 13;
  std::int32_t wide = size + HalfBits::kBias;
  if (size >= HalfBits::kInf << 13) wide += HalfBits::kBias;
  if (size < 1 << 23) {
    const float moved = std::bit_cast<float>(size + HalfBits::kLeast);
    wide = std::bit_cast<std::int32_t>(moved - std::bit_cast<float>(HalfBits::kLeast));
  }
  const auto sign = static_cast<std::uint32_t>(bits & HalfBits::kSign) << 16;
  return std::bit_cast<float>(static_cast<std::uint32_t>(wide) | sign);
}

template <class T>
double to_double(T x) {
  return static_cast<double>(to_work(x));
}

/// The largest finite number of T, and a number rounded to T, which overflows to infinity.
template <class T>
struct Element {
  static constexpr double kMax = std::numeric_limits<T>::max();
  static T round(double x) { return static_cast<T>(x); }
};
template <>
struct Element<Half> {
  static constexpr double kMax = 65504;
  static Half round(double x) {
    const auto bits = std::bit_cast<std::uint32_t>(static_cast<float>(x));
    const auto size = static_cast<std::int32_t>(bits & 0x7fffffff);
    std::int32_t half = 0;
    if (size >= HalfBits::kBeyond) {
      half = size > HalfBits::kFloatInf ? HalfBits::kNaN : HalfBits::kInf;
    } else if (size < HalfBits::kLeast) {
      half = std::bit_cast<std::int32_t>(std::bit_cast<float>(size) + 0.5f) - HalfBits::kOneHalf;
    } else {
      half = (size - HalfBits::kBias + 0xfff + (size >> 13 & 1)) >> 13;
    }
    return {static_cast<std::uint16_t>(static_cast<std::uint32_t>(half) | (bits >> 16 & 0x8000))};
  }
};
template <>
struct Element<Bfloat16> {
  static constexpr double kMax = 0x1.fep127;
  static Bfloat16 round(double x) {
    const auto wide = static_cast<float>(x);
    if (wide != wide) return {0x7fc0};
    const auto bits = std::bit_cast<std::uint32_t>(wide);
    return {static_cast<std::uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16)};
  }
};

}  // namespace lapsum::cpu
