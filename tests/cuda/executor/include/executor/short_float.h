// The two float formats of 16 bits: kExponent and kFraction bits, rounded to nearest, ties to even.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

namespace executor {

template <int kExponent, int kFraction>
struct ShortFloat {
  static constexpr int kBias = (1 << (kExponent - 1)) - 1;
  static constexpr unsigned kInfinity = ((1u << kExponent) - 1) << kFraction;

  static double widen(std::uint16_t bits) {
    const int exponent = bits >> kFraction & ((1 << kExponent) - 1);
    const int fraction = bits & ((1 << kFraction) - 1);
    const double sign = bits >> 15 ? -1.0 : 1.0;
    if (exponent == (1 << kExponent) - 1) {
      return fraction ? std::copysign(static_cast<double>(NAN), sign) : sign * HUGE_VAL;
    }
    return exponent == 0
               ? sign * std::ldexp(fraction, 1 - kBias - kFraction)
               : sign * std::ldexp(fraction + (1 << kFraction), exponent - kBias - kFraction);
  }

  static std::uint16_t narrow(double x) {
    const unsigned sign = std::signbit(x) ? 0x8000u : 0u;
    x = std::abs(x);
    if (std::isnan(x)) return 0x7fff;
    if (x == 0) return static_cast<std::uint16_t>(sign);
    int exponent = 0;
    std::frexp(x, &exponent);  // x = m * 2^exponent, m in [1/2, 1)
    const int step = std::max(exponent - 1, 1 - kBias) - kFraction;
    const double units = std::nearbyint(std::ldexp(x, -step));
    const double rounded = std::ldexp(units, step);
    if (!(rounded < std::ldexp(1.0, kBias + 1)))
      return static_cast<std::uint16_t>(sign | kInfinity);
    // A carry into the next binade adds to the exponent by itself.
    const unsigned base = static_cast<unsigned>(step + kFraction + kBias - 1) << kFraction;
    return static_cast<std::uint16_t>(sign | (base + static_cast<unsigned>(units)));
  }
};

}  // namespace executor
