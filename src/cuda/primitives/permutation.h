// The soft permutation as a linear operator in O(n): no matrix, no difference of large sums.
#pragma once

#include "cuda/primitives/cuts.h"
#include "cuda/primitives/spread.h"

namespace lapsum::gpu {

/// P on the elements (in ascending order) and positions of rows. Each finite element lies between
/// exactly one pair of neighbouring roots: there its entry of P is its `inside`; every other entry
/// is the mass of an exponential tail, which decays along the row and is carried by a scan.
/// Infinite elements share the positions at their end evenly.
struct Permutation {
  Cuts cuts;
  Runs runs;  ///< of the roots
  // Per sorted place.
  const Index* position;  ///< the one that an element lies inside
  const double* inside;
  const double* gap;  ///< between elements: 0 inside a position or infinity, kApart elsewhere
  // Per position: what it sees of the elements left of its roots, by their sum at the nearest one,
  // and of those right of them.
  const double* left;
  const double* right;
};

Permutation make_permutation(Queue& queue, const Cuts& cuts);

/// P v, v one number per sorted place; returns one per position. `repeat` rows of v for each row.
double* apply(Queue& queue, const Permutation& p, const double* v, std::ptrdiff_t repeat);

/// P^T u, u one number per position; returns one per sorted place.
double* apply_transpose(Queue& queue, const Permutation& p, const double* u, std::ptrdiff_t repeat);

/// h_t = u_{t-1} - u_t at the roots, times their scale and, if given, a factor per root; u per
/// position.
double* differences(Queue& queue, const Permutation& p, const double* u, const double* factor,
                    std::ptrdiff_t repeat);

}  // namespace lapsum::gpu
