// Floats as unsigned numbers of the same order, alone or above an index; vectorised.
#pragma once

#include <cstddef>
#include <cstdint>

namespace lapsum::cpu {

/// The key of a float orders as the float does, -0 equal to +0, NaN last; `negate` makes it that of
/// the negated float.
void float_keys(const float* x, std::ptrdiff_t n, bool negate, std::uint32_t* keys);

/// The keys in the upper halves, the indices first, first + 1, ... in the lower ones.
void float_pairs(const float* x, std::ptrdiff_t n, bool negate, std::uint32_t first,
                 std::uint64_t* pairs);

/// The values of keys, and the values and indices of pairs.
void keys_to_values(const std::uint32_t* keys, std::ptrdiff_t n, double* values);
void pairs_to_values(const std::uint64_t* pairs, std::ptrdiff_t n, double* values,
                     std::uint32_t* indices);

}  // namespace lapsum::cpu
