// The mask of a row that the nearest caches hold, and its threshold: decays are made once, seen from
// a guess, and what lies between the guess and the threshold is few.
#pragma once

#include <cstddef>
#include <optional>

#include "cpu/primitives/arena.h"
#include "lapsum/rows.h"

namespace lapsum::cpu {

/// Rows of these lengths are worth a guess.
inline constexpr std::ptrdiff_t kLeastGuessed = 512, kMostGuessed = 1 << 14;

/// p = F((b - sign * x) / alpha) with p summing to k, and b; p may be null. None, and p is of no use, for
/// rows that do not suit this way: of double, with elements that are not finite or of which many are equal,
/// with a distribution that is not about normal unless alpha is wide, and for levels in the tails of longer
/// rows or that no finite threshold meets. Rows of half types go as the same rows of floats would.
template <class T>
std::optional<Threshold> mask_from_guess(const T* x, std::ptrdiff_t n, double sign, double k,
                                         double alpha, T* p, Arena& arena);

}  // namespace lapsum::cpu
