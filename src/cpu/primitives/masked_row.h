// Rows with their thresholds: what masks of all kinds begin with.
#pragma once

#include <algorithm>
#include <cmath>
#include <span>

#include "cpu/primitives/orientation.h"
#include "cpu/primitives/parallel.h"
#include "cpu/primitives/row.h"
#include "cpu/primitives/threshold.h"
#include "lapsum/rows.h"

namespace lapsum::cpu {

/// The mask of an element without a finite threshold, and its derivative in k.
struct Saturated {
  double value, per_level;
};

/// A row with its thresholds, one per level.
struct MaskedRow {
  Orientation orientation;
  std::span<const double> r;
  NonFinite counts;
  std::span<const double> k;
  std::span<const Threshold> b;

  /// p and dp/dk of element i where threshold l is infinite.
  Saturated saturated(std::ptrdiff_t l, std::ptrdiff_t i) const {
    const auto at = [&](double infinity) { return r[i] == infinity; };
    if (b[l].anchor > 0) return {at(INFINITY) ? 0.0 : 1.0, 0};
    if (!at(-INFINITY)) return {0, 0};
    const double share = b[l].offset;
    return {share, share > 0 && share < 1 ? 1 / static_cast<double>(counts.below) : 0};
  }
};

/// body(row, masked, arena, threads) for every row of x. Thresholds are taken from `saved` if
/// given, else solved, and written to `keep` if given.
template <class T, class Body>
void for_each_masked_row(Rows<const T> x, const Levels& k, const PerRow& alpha,
                         const Threshold* saved, Threshold* keep, Order order, Threads threads,
                         Body&& body) {
  const std::ptrdiff_t levels = k.count();
  for_each_row(x.count, x.length * std::max<std::ptrdiff_t>(levels, 1), threads,
               [&](std::ptrdiff_t i, Arena& arena, int inner) {
                 const Orientation orientation(alpha[i], order);
                 // Read once: what is counted is what is solved, whoever else may write to x.
                 const std::span<const double> r =
                     load(x[i], x.length, orientation.sign, arena, inner);
                 MaskedRow row{orientation,
                               r,
                               count_non_finite(r.data(), x.length, 1, inner),
                               {k[i], static_cast<std::size_t>(levels)},
                               {}};
                 if (saved) {
                   row.b = {saved + i * levels, static_cast<std::size_t>(levels)};
                 } else {
                   std::span<Threshold> b = arena.take<Threshold>(levels);
                   if (orientation.valid) {
                     solve_thresholds(row.r, row.counts, row.k, orientation.alpha, b, arena, inner);
                   } else {
                     std::fill(b.begin(), b.end(), Threshold{kNaN, 0});
                   }
                   row.b = b;
                 }
                 if (keep) std::copy(row.b.begin(), row.b.end(), keep + i * levels);
                 body(i, row, arena, inner);
               });
}

}  // namespace lapsum::cpu
