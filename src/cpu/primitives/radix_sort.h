// Sorting by the digits of values in equal steps, for rows whose values spread: two passes of
// counting bring all but few elements to their places, and those are moved on one by one. Rows whose
// values crowd, and rows that are not finite, are left to others.
#pragma once

#include <cstddef>
#include <span>

#include "cpu/primitives/arena.h"
#include "cpu/primitives/argsort.h"
#include "cpu/primitives/digits.h"

namespace lapsum::cpu {

/// The longest row that is sorted in one go: beyond, its scattered stores leave the cache.
inline constexpr std::ptrdiff_t kRadixLength = std::ptrdiff_t{1} << 17;

/// Two numbers per element, for as long as a row is sorted.
struct RadixRoom {
  std::span<std::uint32_t> digits, packed;
};

/// As argsort, for n <= kRadixLength. `names`, unless null, stand in for the indices of the elements
/// in `order`, which they may share their place with. False where the values crowd or are not
/// finite: then `names` are as they were, `sorted` and `order` are not done. O(n).
template <class T>
bool radix_sort(const T* x, std::ptrdiff_t n, bool negate, const Index* names, double* sorted,
                Index* order, const RadixRoom& room);

/// A row cut by value into buckets, each in the order of the indices.
template <class T>
struct Buckets {
  std::span<const std::ptrdiff_t>
      begins;  ///< of every bucket, and the end; empty if there are none
  std::span<const T> values;
  std::ptrdiff_t count() const { return std::ssize(begins) - 1; }
  std::ptrdiff_t size(std::ptrdiff_t b) const { return begins[b + 1] - begins[b]; }
};

/// Cuts a row into buckets of some thousand elements, unless many of its values would fall into one.
/// `order` receives the indices of the elements.
template <class T>
Buckets<T> cut_by_value(const T* x, std::ptrdiff_t n, bool negate, Index* order, Arena& arena,
                        int threads);

}  // namespace lapsum::cpu
