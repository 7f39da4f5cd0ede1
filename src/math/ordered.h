// Doubles as unsigned numbers of the same order, for host and device.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include "math/laplace.h"

namespace lapsum::math {

/// Orders as x does, -0 equal to +0, NaN last.
LAPSUM_HOST_DEVICE inline std::uint64_t ordered_key(double x) {
  constexpr std::uint64_t kSign = std::uint64_t{1} << 63;
  if (std::isnan(x)) return ~std::uint64_t{0};
  const auto bits = std::bit_cast<std::uint64_t>(x == 0 ? 0.0 : x);
  return bits & kSign ? ~bits : bits | kSign;
}

/// The double of a key.
LAPSUM_HOST_DEVICE inline double ordered_value(std::uint64_t key) {
  constexpr std::uint64_t kSign = std::uint64_t{1} << 63;
  return std::bit_cast<double>(key & kSign ? key & ~kSign : ~key);
}

}  // namespace lapsum::math
