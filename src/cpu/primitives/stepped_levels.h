// Levels with steps of one, as those of a soft sort: they need no search, for every value marks the first
// level beyond it. Those of a row of float are solved while the scans of the values around them are in
// the caches, so that no scan of a long row is written to memory.
#pragma once

#include <functional>
#include <span>

#include "cpu/primitives/argsort.h"
#include "cpu/primitives/intervals.h"
#include "cpu/primitives/levels.h"

namespace lapsum::cpu {

/// lefts[t] = how many values of the row lie left of the root of level + t, for `count` of them.
void count_lefts(const SummedRow& row, double level, std::ptrdiff_t count, Index* lefts);

/// Whether levels have steps of one, all inside (0, n), and none is all but an integer: then the
/// functions below take them.
bool are_plain_steps(const RowLevels& k, std::ptrdiff_t n);

/// As level_values in points.h.
void step_values(std::span<const double> sorted, double alpha, const RowLevels& k, Arena& arena,
                 int threads, const std::function<void(std::ptrdiff_t, std::span<double>)>& body);

/// What levels bring to the values next to their roots, u_t times their weights: to the left of c values
/// at_left[c], to the right at_right[c]. Both have a place more than there are values.
void spread_steps(std::span<const double> sorted, double alpha, const RowLevels& k,
                  std::span<const double> u, std::span<double> at_left, std::span<double> at_right,
                  Arena& arena, int threads);

}  // namespace lapsum::cpu
