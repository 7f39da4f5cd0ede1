// Thresholds and masks of a batch of short rows, several rows at a time; those that lanes give up
// on go alone. Which way a row goes depends on the row alone.
#pragma once

#include <algorithm>
#include <array>
#include <span>

#include "cpu/primitives/guessed_mask.h"
#include "cpu/primitives/lanes.h"
#include "cpu/primitives/masked_row.h"

namespace lapsum::cpu {

/// Whether lanes take rows of this length.
inline bool fits_lanes(std::ptrdiff_t length) {
  return length > 0 && length <= kLaneLength && lane_rows() > 0;
}
// The mask of a row whose threshold lies in a wide gap: p is 0 or 1 to the last bit.
template <class T>
void choose_below(const MaskedRow<T>& row, Work<T> below, T* p) {
  const auto sign = static_cast<Work<T>>(row.orientation.sign);
  const T zero = Element<T>::round(0), one = Element<T>::round(1);
  for (std::ptrdiff_t j = 0; j < row.n; ++j) p[j] = sign * to_work(row.x[j]) <= below ? one : zero;
}

template <class T>
bool solve_gap(const MaskedRow<T>& row, Lane<T>& lane, Arena& arena) {
  return solve_between(row.x, row.n, lane.sign, lane.below, lane.above, lane.k, lane.alpha, lane.b,
                       arena);
}

/// The thresholds of all rows at all levels, to b, and their masks F(z) to p, as far as they are
/// given. fill(row, p) writes the mask of a row that has gone alone.
template <class T, class Fill>
void solve_short_rows(Rows<const T> x, const Levels& k, const PerRow& alpha, Threshold* b,
                      Rows<T> p, Order order, Threads threads, Fill&& fill) {
  const std::ptrdiff_t levels = k.count();
  const bool guessed = x.length >= kLeastGuessed;
  const auto on_group = [&](std::ptrdiff_t first, std::ptrdiff_t end, Arena& arena) {
    std::array<Lane<T>, kMostLanes> lanes;
    std::array<std::ptrdiff_t, kMostLanes> places;
    std::size_t left = 0;
    std::ptrdiff_t i = first / levels, l = first - i * levels;
    for (std::ptrdiff_t at = first; at < end; ++at) {
      const Orientation o(alpha[i], order);
      const double level = k[i][l];
      const T* const from = x[i];
      if (++l == levels) {
        ++i;
        l = 0;
      }
      T* const to = p.data ? p[at] : nullptr;
      if (guessed) {
        if (const auto found = mask_from_guess(from, x.length, o.sign, level, o.alpha, to, arena)) {
          if (b) b[at] = *found;
          continue;
        }
      }
      places[left] = at;
      lanes[left++] = {from, o.sign, level, o.alpha, to};
    }
    if (left == 0) return;
    solve_lanes(std::span(lanes).first(left), x.length, arena);
    for (std::size_t j = 0; j < left; ++j) {
      const std::ptrdiff_t at = places[j];
      Lane<T>& lane = lanes[j];
      if (!lane.solved) {
        const Arena::Scope scope(arena);
        const Orientation o(alpha[at / levels], order);
        const MaskedRow<T> row{lane.x, x.length, o, {&lane.b, 1}};
        const bool gap = lane.below < lane.above;
        if (gap && lane.p) choose_below(row, lane.below, lane.p);
        if (!gap || (b && !solve_gap(row, lane, arena))) {
          solve_row(row, {&lane.k, 1}, {&lane.b, 1}, arena, 1);
          if (lane.p) fill(row, Rows<T>(lane.p, 1, x.length));
        }
      }
      if (b) b[at] = lane.b;
    }
  };
  for_each_group(x.count * levels, lane_rows(), x.length, threads, on_group);
}

}  // namespace lapsum::cpu
