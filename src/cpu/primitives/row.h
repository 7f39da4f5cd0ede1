// Rows in and out of the kernels: from float or double, as the orientation wants them, to double
// and back; and what a row holds that is not finite.
#pragma once

#include <cmath>
#include <cstddef>
#include <limits>
#include <span>

#include "cpu/primitives/parallel.h"

namespace lapsum::cpu {

/// How many elements of a row are NaN, -inf and +inf.
struct NonFinite {
  std::ptrdiff_t nan = 0, below = 0, above = 0;

  NonFinite& operator+=(const NonFinite& other) {
    nan += other.nan;
    below += other.below;
    above += other.above;
    return *this;
  }
};

/// Counts what is not finite in sign * x.
template <class T>
NonFinite count_non_finite(const T* x, std::ptrdiff_t n, double sign, int threads) {
  constexpr T kInf = std::numeric_limits<T>::infinity();
  bool finite = true;
  for (std::ptrdiff_t i = 0; i < n; ++i) finite &= std::abs(x[i]) < kInf;
  if (finite) return {};
  auto counts = sum_chunks<NonFinite>(n, threads, [&](std::ptrdiff_t begin, std::ptrdiff_t end) {
    NonFinite c;
    for (std::ptrdiff_t i = begin; i < end; ++i) {
      c.nan += x[i] != x[i];
      c.below += x[i] == -kInf;
      c.above += x[i] == kInf;
    }
    return c;
  });
  if (sign < 0) std::swap(counts.below, counts.above);
  return counts;
}

/// out = sign * x.
template <class T>
std::span<double> load(const T* x, std::ptrdiff_t n, double sign, Arena& arena, int threads) {
  std::span<double> out = arena.take<double>(n);
  for_each_chunk(n, threads, [&](std::ptrdiff_t begin, std::ptrdiff_t end) {
    for (std::ptrdiff_t i = begin; i < end; ++i) out[i] = sign * static_cast<double>(x[i]);
  });
  return out;
}

/// x rounded to T; what is finite stays finite.
template <class T>
T narrow(double x) {
  constexpr auto kMax = static_cast<double>(std::numeric_limits<T>::max());
  if (std::isinf(x)) return static_cast<T>(x);
  return static_cast<T>(x > kMax ? kMax : x < -kMax ? -kMax : x);
}

/// out[i] = narrow(value(i)) on [begin, end).
template <class T, class Value>
void narrow_all(std::ptrdiff_t begin, std::ptrdiff_t end, T* out, Value&& value) {
  bool overflow = false;
  for (std::ptrdiff_t i = begin; i < end; ++i) {
    out[i] = static_cast<T>(value(i));
    overflow |= std::abs(out[i]) > std::numeric_limits<T>::max();
  }
  if (!overflow) return;
  for (std::ptrdiff_t i = begin; i < end; ++i) out[i] = narrow<T>(value(i));
}

/// As narrow, but for results that grow without bound: infinite becomes T's largest number too.
template <class T>
T capped(double x) {
  constexpr auto kMax = static_cast<double>(std::numeric_limits<T>::max());
  return static_cast<T>(x > kMax ? kMax : x < -kMax ? -kMax : x);
}

template <class T>
void fill(T* out, std::ptrdiff_t n, double value) {
  for (std::ptrdiff_t i = 0; i < n; ++i) out[i] = static_cast<T>(value);
}

inline constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

}  // namespace lapsum::cpu
