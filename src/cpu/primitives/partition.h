// Keys in parts that threads can sort by themselves: none has a key below one of the part before it.
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

}  // namespace lapsum::cpu
