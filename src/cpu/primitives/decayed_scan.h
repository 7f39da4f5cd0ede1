// The primitive everything is made of: sums over a sorted row that decay with distance.
#pragma once

#include <cstddef>
#include <span>

#include "cpu/primitives/argsort.h"
#include "cpu/primitives/stepped_scan.h"

namespace lapsum::cpu {

/// Sorted finite values in blocks of at most kBlock values that lie within kSpan alphas. Inside a
/// block decays are ratios of exponentials seen from its anchor, the middle of its ends: rise[j] =
/// e^{(r[j] - anchor) / alpha}, fall[j] = 1 / rise[j]. So a block needs one exponential per value
/// and no chain of products, whose roundings would add up; `anchors` joins the blocks, step by step.
struct Decays {
  static constexpr std::ptrdiff_t kBlock = 64;
  static constexpr double kSpan = 16;

  std::span<const double> r, rise, fall;
  std::span<const Index> first;  ///< where each block begins, and at last the size
  Steps anchors;
  double alpha = 1;

  std::ptrdiff_t size() const { return static_cast<std::ptrdiff_t>(r.size()); }
  std::ptrdiff_t blocks() const { return anchors.size(); }
};

Decays make_decays(std::span<const double> sorted, double alpha, Arena& arena, int threads);

/// e^{-(r[j+1] - r[j]) / alpha} for every value; 0 at the last.
std::span<const double> decays_to_next(const Decays& decays, Arena& arena, int threads);

/// The decayed moments of `w` at every value. O(n).
template <int Order>
Moments<Order> decayed_scan(const Decays& decays, Toward toward, const Weights<Order>& w,
                            Arena& arena, int threads);

/// The two directions of a scan with the same weights.
template <int Order>
struct Scans {
  Moments<Order> right, left;  ///< toward the right, toward the left
};

template <int Order>
Scans<Order> scan_both(const Decays& decays, const Weights<Order>& w, Arena& arena, int threads);

}  // namespace lapsum::cpu
