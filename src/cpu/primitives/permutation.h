// The soft permutation as a linear operator in O(n): no matrix, no difference of large sums.
#pragma once

#include <span>

#include "cpu/primitives/permutation_roots.h"

namespace lapsum::cpu {

/// P on the finite elements (in ascending order) and positions of a row. Each element lies between
/// exactly one pair of neighbouring roots: there its entry of P is its `inside`; every other entry
/// is the mass of an exponential tail, which decays along the row and is carried by a scan.
class Permutation {
 public:
  Permutation(const Decays& decays, const Roots& roots, Arena& arena, int threads);

  /// P v, v one number per element; returns one per position.
  std::span<double> apply(std::span<const double> v, Arena& arena, int threads) const;
  /// P^T u, u one number per position; returns one per element.
  std::span<double> apply_transpose(std::span<const double> u, Arena& arena, int threads) const;

 private:
  // Position i holds the elements [begin(i), end(i)) between its roots, sees those before them with
  // `left` times their decay to the last of these, and those behind with `right`.
  std::ptrdiff_t begin(std::ptrdiff_t i) const { return i > 0 ? lefts_[i - 1] : 0; }
  std::ptrdiff_t end(std::ptrdiff_t i) const {
    return i + 1 < decays_.size() ? lefts_[i] : decays_.size();
  }

  // Tells the elements [begin, end) which position holds them.
  void hold(std::ptrdiff_t begin, std::ptrdiff_t end);

  Decays decays_;
  std::span<const Index> lefts_;  // of the roots
  std::span<double> left_, right_;
  std::span<Index> position_of_;  // the one that holds an element
  std::span<double> inside_;
};

}  // namespace lapsum::cpu
