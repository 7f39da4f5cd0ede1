// Derivatives of the soft permutation as an operator, in r and alpha, without the matrix.
#pragma once

#include <span>

#include "cpu/primitives/permutation.h"
#include "cpu/primitives/permutation_roots.h"
#include "cpu/primitives/points.h"
#include "cpu/primitives/sorted_row.h"

namespace lapsum::cpu {

/// A valid row with its operator; positions and elements at infinity stand aside.
struct PermutedRow {
  const SortedRow& row;
  Permutation finite;
  std::span<const Point> roots;  ///< for derivatives alone
  double peak;                   ///< 1 / (2 alpha)

  static PermutedRow make(const SortedRow& row, double peak, bool with_roots, Arena& arena,
                          int threads) {
    const Roots roots = permutation_roots(row, arena, threads);
    const Permutation finite(row.decays, roots, arena, threads);
    if (!with_roots) return {row, finite, {}, peak};
    return {row, finite, root_points(row.decays, roots, arena, threads), peak};
  }

  std::ptrdiff_t root_count() const { return std::ssize(roots); }
};

/// The gradients in r (sorted order) and, if asked for, |alpha| of a sum of bilinear forms u^T P v:
/// add() each form, then finish(), which adds what the roots contribute by moving with r and alpha.
class FormGradient {
 public:
  FormGradient(const PermutedRow& row, bool with_alpha, Arena& arena);

  void add(std::span<const double> u, std::span<const double> v, Arena& arena, int threads);
  void finish(Arena& arena, int threads);

  std::span<const double> gr() const { return gr_; }
  double galpha() const { return galpha_; }

 private:
  const PermutedRow& p_;
  bool with_alpha_;
  std::span<double> gr_;
  std::span<double> at_roots_;  // sum over forms of h_t K_v(b_t)
  double galpha_ = 0;
};

/// A direction in r (sorted order) and |alpha|, and how the roots move along it.
struct PermutationTangent {
  std::span<const double> dr;
  double dalpha;
  std::span<const double> db;

  static PermutationTangent make(const PermutedRow& p, std::span<const double> dr, double dalpha,
                                 Arena& arena, int threads);

  /// (dP) v at the positions.
  std::span<double> apply(const PermutedRow& p, std::span<const double> v, Arena& arena,
                          int threads) const;
  /// (dP)^T u at the elements.
  std::span<double> apply_transpose(const PermutedRow& p, std::span<const double> u, Arena& arena,
                                    int threads) const;
};

}  // namespace lapsum::cpu
