// The primitive everything is made of: sums along sorted rows that decay with distance.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "cuda/primitives/queue.h"

namespace lapsum::gpu {

enum class Toward { right, left };

/// Neighbours this far apart, or further, do not see each other: not even NaN passes.
inline constexpr double kApart = 1000;

/// The distances inside the rows that are scanned: gap[j] lies between entries j - 1 and j of a
/// row, that of the first entry is not read. Without gaps all distances are 0, and sums are plain
/// prefix sums. `repeat` rows in a row have the same gaps.
struct Gaps {
  std::ptrdiff_t rows, n;
  const double* gap;
  std::ptrdiff_t repeat = 1;
};

/// The row that a row shares what it has with.
__device__ inline std::ptrdiff_t shared_row(std::ptrdiff_t row, std::ptrdiff_t repeat) {
  // A division of 64 bits is several times as slow, and rows of a slab are fewer than 2^32.
  return repeat == 1 ? row : static_cast<std::uint32_t>(row) / static_cast<std::uint32_t>(repeat);
}

/// One scan: at[p][j] = sum_i w_i zeta^p e^-zeta over the entries i up to and including j on the
/// side the scan comes from, zeta being the distance of i and j. No w stands for ones. `w1`, in
/// scans of order 1, adds to the first moment directly, for sources that do not lie on an entry.
template <int Order>
struct Scan {
  Toward toward;
  const double* w;
  std::array<double*, Order + 1> at;
  const double* w1 = nullptr;
};

/// Two scans of the same gaps; one whose at[0] is null is left out. O(n) work; deterministic, and
/// the bits of a row depend on it alone.
template <int Order>
void decayed_scan(Queue& queue, const Gaps& gaps, const Scan<Order>& first,
                  const Scan<Order>& second);

/// The scans of the same weights in both directions.
template <int Order>
struct Scans {
  std::array<double*, Order + 1> right, left;
};
template <int Order>
Scans<Order> scan_both(Queue& queue, const Gaps& gaps, const double* w) {
  Scans<Order> out;
  for (double*& at : out.right) at = queue.take<double>(gaps.rows * gaps.n);
  for (double*& at : out.left) at = queue.take<double>(gaps.rows * gaps.n);
  decayed_scan<Order>(queue, gaps, {Toward::right, w, out.right}, {Toward::left, w, out.left});
  return out;
}

}  // namespace lapsum::gpu
