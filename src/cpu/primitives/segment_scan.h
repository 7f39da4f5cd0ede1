// Decayed sums along a part of a sorted row, one value after another, its segments side by side in
// lanes: for rows of float. Decays are multiplied along a segment, so that sums are good to 1e-12 in
// parts of kChunk, not to the last bits of a double.
#pragma once

#include <cstddef>

namespace lapsum::cpu {

/// How a part of n values is cut: segments of one length that go side by side, and a short rest. Some
/// are empty.
struct Segments {
  static constexpr std::ptrdiff_t kAbreast = 8;
  static constexpr std::ptrdiff_t kCount = kAbreast + 1;

  explicit Segments(std::ptrdiff_t n) : n(n), length(n / (2 * kAbreast) * 2) {
    // At such distances segments would meet in few places of the cache.
    if (length % 128 == 0 && length > 0) length -= 8;
  }

  std::ptrdiff_t begin(std::ptrdiff_t s) const { return s * length; }
  std::ptrdiff_t end(std::ptrdiff_t s) const { return s < kAbreast ? (s + 1) * length : n; }

  std::ptrdiff_t n, length;
};

/// keep[j] = e^{-(r[j + 1] - r[j]) / alpha}, for the first n of n + 1 values in ascending order; alpha
/// is valid.
void keep_to_next(const double* r, std::ptrdiff_t n, double alpha, double* keep);

/// A part of a row: keep[j] is left of a sum on the way from value j to the next. Weights that are
/// null stand for ones.
struct SegmentScan {
  std::ptrdiff_t n;
  const double* keep;
  const double* right_w;
  const double* left_w;
};

/// Numbers of every segment, for the scan toward the right and that toward the left.
struct AtSegments {
  double right[Segments::kCount], left[Segments::kCount];
};

/// What segments add up to at their last value toward the right, at their first toward the left, if
/// nothing arrives from outside.
AtSegments sum_segments(const SegmentScan& scan);

/// The scans if `arrives` is seen at the first value of each segment from its left, and at the last
/// from its right.
void finish_segments(const SegmentScan& scan, const AtSegments& arrives, double* right,
                     double* left);

}  // namespace lapsum::cpu
