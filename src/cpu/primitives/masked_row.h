// Rows with their thresholds: what masks of all kinds begin with.
#pragma once

#include <algorithm>
#include <cmath>
#include <span>

#include "cpu/primitives/parallel.h"
#include "cpu/primitives/row.h"
#include "cpu/primitives/threshold.h"
#include "lapsum/rows.h"
#include "math/orientation.h"

namespace lapsum::cpu {

/// The mask of an element without a finite threshold, and its derivative in k.
struct Saturated {
  double value, per_level;
};

/// A row with its thresholds, one per level.
template <class T>
struct MaskedRow {
  const T* x;
  std::ptrdiff_t n;
  Orientation orientation;
  std::span<const Threshold> b;

  /// p and dp/dk of every element where threshold l is infinite: body(i, saturated). What the
  /// elements that share a level count together is asked of near(), if need be.
  template <class Near, class Body>
  void for_each_saturated(std::ptrdiff_t l, Near&& near, Body&& body) const {
    const double share = b[l].offset;
    const bool all = b[l].anchor > 0;
    const double per_level = !all && share > 0 && share < 1 ? 1 / near() : 0;
    for (std::ptrdiff_t i = 0; i < n; ++i) {
      const double r = orientation.sign * to_double(x[i]);
      if (all) {
        body(i, Saturated{r == INFINITY ? 0.0 : 1.0, 0});
      } else {
        body(i, r == -INFINITY ? Saturated{share, per_level} : Saturated{0, 0});
      }
    }
  }
  template <class Body>
  void for_each_saturated(std::ptrdiff_t l, Body&& body) const {
    const auto count = [&] {
      return static_cast<double>(count_non_finite(x, n, orientation.sign, 1).below);
    };
    for_each_saturated(l, count, body);
  }
};

/// body(row, masked, arena, threads) for every row of x. Thresholds are taken from `saved` if
/// given, else from solve(row, masked, b, arena, threads), and written to `keep` if given. If solve
/// returns true, it has done all, and there is no body for this row.
template <class T, class Solve, class Body>
void for_each_masked_row(Rows<const T> x, std::ptrdiff_t levels, const PerRow& alpha,
                         const Threshold* saved, Threshold* keep, Order order, Threads threads,
                         Solve&& solve, Body&& body) {
  for_each_row(
      x.count, x.length * std::max<std::ptrdiff_t>(levels, 1), threads,
      [&](std::ptrdiff_t i, Arena& arena, int inner) {
        MaskedRow<T> row{x[i], x.length, Orientation(alpha[i], order), {}};
        const auto count = static_cast<std::size_t>(levels);
        if (saved) {
          row.b = {saved + i * levels, count};
        } else {
          std::span<Threshold> b =
              keep ? std::span(keep + i * levels, count) : arena.take<Threshold>(levels);
          if (!row.orientation.valid) {
            std::fill(b.begin(), b.end(), Threshold{kNaN, 0});
          } else if (solve(i, row, b, arena, inner)) {
            return;
          }
          row.b = b;
        }
        body(i, row, arena, inner);
      },
      kWorthPassed);
}

/// b = the thresholds of a row at the levels k, every element counting one; NaN if alpha is invalid.
template <class T>
void solve_row(const MaskedRow<T>& row, std::span<const double> k, std::span<Threshold> b,
               Arena& arena, int threads) {
  if (!row.orientation.valid) return std::fill(b.begin(), b.end(), Threshold{kNaN, 0});
  solve_thresholds(row.x, row.n, row.orientation.sign, k, row.orientation.alpha, b, arena, threads);
}

/// The same at the levels k, every element counting one.
template <class T, class Body>
void for_each_masked_row(Rows<const T> x, const Levels& k, const PerRow& alpha,
                         const Threshold* saved, Threshold* keep, Order order, Threads threads,
                         Body&& body) {
  const auto solve = [&](std::ptrdiff_t i, const MaskedRow<T>& row, std::span<Threshold> b,
                         Arena& arena, int inner) {
    solve_row(row, {k[i], b.size()}, b, arena, inner);
    return false;
  };
  for_each_masked_row(x, k.count(), alpha, saved, keep, order, threads, solve, body);
}

}  // namespace lapsum::cpu
