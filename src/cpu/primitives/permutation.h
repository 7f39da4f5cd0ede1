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
  // Position i holds the elements (first, last] between its roots, sees those up to `first` with
  // `left` times their decay from there, and those from `last + 1` on with `right`.
  struct Position {
    std::ptrdiff_t first, last;
    double left, right;
  };

  Decays decays_;
  std::span<Position> positions_;
  std::span<Index> position_of_;  // the one that holds an element
  std::span<double> inside_;
};

}  // namespace lapsum::cpu
