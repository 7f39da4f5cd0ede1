// Rows in and out of the kernels: from any type, as the orientation wants them, to double and back;
// and what a row holds that is not finite.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <span>

#include "cpu/primitives/element.h"
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

/// Whether no element is NaN or infinite.
template <class T>
bool is_finite(const T* x, std::ptrdiff_t n);

/// Counts what is not finite in sign * x.
template <class T>
NonFinite count_non_finite(const T* x, std::ptrdiff_t n, double sign, int threads) {
  constexpr Work<T> kInf = std::numeric_limits<Work<T>>::infinity();
  if (is_finite(x, n)) return {};
  auto counts = sum_chunks<NonFinite>(n, threads, [&](std::ptrdiff_t begin, std::ptrdiff_t end) {
    NonFinite c;
    for (std::ptrdiff_t i = begin; i < end; ++i) {
      const Work<T> v = to_work(x[i]);
      c.nan += v != v;
      c.below += v == -kInf;
      c.above += v == kInf;
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
    for (std::ptrdiff_t i = begin; i < end; ++i) out[i] = sign * to_double(x[i]);
  });
  return out;
}

/// As narrow, but for results that grow without bound: infinite becomes T's largest number too.
template <class T>
T capped(double x) {
  constexpr double kMax = Element<T>::kMax;
  return Element<T>::round(x > kMax ? kMax : x < -kMax ? -kMax : x);
}

/// x rounded to T; what is finite stays finite.
template <class T>
T narrow(double x) {
  return std::isinf(x) ? Element<T>::round(x) : capped<T>(x);
}

/// out = narrow(x), element by element.
template <class T>
void narrow_row(const double* x, std::ptrdiff_t n, T* out);

/// use(i, count, narrowed) for pieces [i, i + count) of [begin, end), where fill(i, count, wide) wrote
/// the numbers to be narrowed.
template <class T, class Fill, class Use>
void narrow_pieces(std::ptrdiff_t begin, std::ptrdiff_t end, Fill&& fill, Use&& use) {
  constexpr int kPiece = 128;
  double wide[kPiece];
  T narrowed[kPiece];
  for (std::ptrdiff_t i = begin; i < end; i += kPiece) {
    const auto count = static_cast<int>(std::min<std::ptrdiff_t>(kPiece, end - i));
    fill(i, count, wide);
    narrow_row(wide, count, narrowed);
    use(i, count, narrowed);
  }
}

/// out[i] = narrow(value(i)) on [begin, end).
template <class T, class Value>
void narrow_all(std::ptrdiff_t begin, std::ptrdiff_t end, T* out, Value&& value) {
  const auto fill = [&](std::ptrdiff_t i, int count, double* wide) {
    for (int l = 0; l < count; ++l) wide[l] = value(i + l);
  };
  narrow_pieces<T>(begin, end, fill, [&](std::ptrdiff_t i, int count, const T* narrowed) {
    std::copy_n(narrowed, count, out + i);
  });
}

template <class T>
void fill(T* out, std::ptrdiff_t n, double value) {
  for (std::ptrdiff_t i = 0; i < n; ++i) out[i] = Element<T>::round(value);
}

inline constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

}  // namespace lapsum::cpu
