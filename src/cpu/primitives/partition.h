// Keys, or elements, in parts that threads can sort by themselves: none has one below those of the part
// before it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "cpu/primitives/arena.h"

namespace lapsum::cpu {

/// Moves the keys, unsigned of 32 or 64 bits, to `to`, which has room for them, in `parts` parts,
/// but not more than eight, of about the same length unless many keys are equal. Gives where every part
/// begins, and the end. O(n) for each part.
template <class Key>
std::span<const std::ptrdiff_t> part_by_value(std::span<const Key> keys, int parts, Key* to,
                                              Arena& arena, int threads);

/// The elements of a row with low <= sign * x < high, and their indices, in their order, go to `values`
/// and `names`, which have room for n + kTakenRoom. T is float or double; no NaN.
struct Taken {
  std::ptrdiff_t below, count;  ///< how many are below low, and how many were taken
};
inline constexpr std::ptrdiff_t kTakenRoom = 16;
template <class T>
Taken take_between(const T* x, std::ptrdiff_t n, T sign, T low, T high, T* values,
                   std::uint32_t* names);

}  // namespace lapsum::cpu
