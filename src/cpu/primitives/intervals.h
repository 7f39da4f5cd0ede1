// math/interval.h for many intervals at once, vectorised.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

namespace lapsum::cpu {

/// A sorted row, not empty, with the decayed sums of ones at its values, from both sides.
struct SummedRow {
  const double* r;
  const double* keep;    ///< the decay from each value to the next; n entries
  const double* before;  ///< scanned toward the right
  const double* behind;  ///< scanned toward the left
  std::ptrdiff_t n;
  double alpha;
};

/// Which intervals: level k[t] has lefts[t] values on its left.
struct LevelsAt {
  const double* k;
  const std::uint32_t* lefts;
  std::ptrdiff_t count;
};

/// first[j] = the first of the levels `level`, level + 1, ... that lies beyond value j, counted from
/// 0.
void first_levels_beyond(const SummedRow& row, double level, std::int32_t* first);

/// Every number becomes the greatest of those up to it.
void keep_greatest(std::uint32_t* numbers, std::ptrdiff_t n);

/// Below this excess, all but an integer, math::solve_interval must be asked if the decay between the
/// neighbours is below this too.
inline constexpr double kLeastExcess = 1e-100;
inline bool is_whole(double level) { return std::abs(level - std::round(level)) < kLeastExcess; }

/// How many levels callers hand over at a time: what is made of them stays in the nearest cache.
inline constexpr std::ptrdiff_t kLevelBlock = 128;

/// Where the roots b of levels inside (0, n) go, as math::solve_interval gives them.
struct RootsTo {
  double* anchor;
  double* offset;
};
/// Where the softmax weights of the two values next to each root go.
struct WeightsTo {
  double* left;
  double* right;
  double* total;
};

/// T is the type of the row: offsets of rows of float are good to 1e-9 of alpha, weights to 1e-11.
template <class T>
void solve_roots(const SummedRow& row, const LevelsAt& levels, const RootsTo& to);
template <class T>
void solve_weights(const SummedRow& row, const LevelsAt& levels, const WeightsTo& to);
/// Both at once, for rows of any type.
void solve_both(const SummedRow& row, const LevelsAt& levels, const RootsTo& roots,
                const WeightsTo& weights);

}  // namespace lapsum::cpu
