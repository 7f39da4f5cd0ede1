// Values as whole numbers of few bits and the same order: equal steps from the least value of a row
// to the greatest, so that the digits of numbers spread evenly wherever the values lie. Vectorised.
#pragma once

#include <cstddef>
#include <cstdint>

namespace lapsum::cpu {

template <class T>
struct Extent {
  T least, greatest;
  bool finite;  ///< all values are; otherwise nothing else is said

  Extent& operator+=(const Extent& other) {
    least = other.least < least ? other.least : least;
    greatest = other.greatest > greatest ? other.greatest : greatest;
    finite &= other.finite;
    return *this;
  }
};

/// Of x[0] to x[n - 1]; n >= 1.
template <class T>
Extent<T> extent(const T* x, std::ptrdiff_t n);

/// The digits of x, or of -x if `negate`: in [0, most], never descending with the value.
template <class T>
class Digits {
 public:
  /// Of values within `extent`, if `exist()`.
  Digits(const Extent<T>& extent, bool negate, std::uint32_t most);

  /// Not of values whose range has no finite inverse, or is none.
  bool exist() const;

  /// most < 2^24.
  void of(const T* x, std::ptrdiff_t n, std::uint32_t* digits) const;

 private:
  T least_, scale_;
  std::uint32_t most_;
  bool negate_;
};

}  // namespace lapsum::cpu
