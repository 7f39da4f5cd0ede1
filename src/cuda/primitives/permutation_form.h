// Gradients of the soft permutation as an operator, in r and alpha, without the matrix.
#pragma once

#include "cuda/primitives/permutation.h"

namespace lapsum::gpu {

/// The gradients in r (per sorted place) and |alpha| (per row; null if not asked for) of a sum of
/// bilinear forms u^T P v: begin_form, add_form for some of them at a time, end_form, which adds
/// what the roots contribute by moving with r and alpha. NaN in rows that are NaN.
struct FormGradient {
  double* gr;
  double* galpha;
  double* at_roots;  ///< sum over forms of h_t K_v(b_t)
};
FormGradient begin_form(Queue& queue, const Permutation& p, double* galpha);
void add_form(Queue& queue, const Permutation& p, const double* u, const double* v,
              std::ptrdiff_t repeat, const FormGradient& form);
void end_form(Queue& queue, const Permutation& p, const FormGradient& form);

}  // namespace lapsum::gpu
