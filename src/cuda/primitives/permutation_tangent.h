// Derivatives of the soft permutation as an operator, in r and alpha, without the matrix.
#pragma once

#include "cuda/primitives/permutation.h"

namespace lapsum::gpu {

/// A direction in r (per sorted place) and |alpha| (per row), and how the roots move along it.
struct PermutationTangent {
  const double* dr;
  const double* dalpha;
  const double* db;
};
PermutationTangent make_tangent(Queue& queue, const Permutation& p, const double* dr,
                                const double* dalpha);

/// out += (dP) v at the positions.
void add_tangent(Queue& queue, const Permutation& p, const PermutationTangent& tangent,
                 const double* v, std::ptrdiff_t repeat, double* out);
/// out += (dP)^T u at the sorted places.
void add_tangent_transpose(Queue& queue, const Permutation& p, const PermutationTangent& tangent,
                           const double* u, std::ptrdiff_t repeat, double* out);

}  // namespace lapsum::gpu
