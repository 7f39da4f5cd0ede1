// Quickselect on LapSum itself: a pivot v splits the values, LapSum(v) is known from the sums of
// both sides, and each level goes on with the side that holds its root.
#include "cpu/primitives/threshold.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>

#include "cpu/primitives/laplace.h"
#include "cpu/primitives/parallel.h"
#include "math/interval.h"

namespace lapsum::cpu {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

struct Level {
  double k;
  std::ptrdiff_t at;  // where its threshold goes
};

class Selection {
 public:
  Selection(double alpha, std::span<double> spare, std::span<Threshold> b, int threads)
      : alpha_(alpha), spare_(spare), b_(b), threads_(threads) {}

  // Solves `levels` (ascending) on `values`; `at` and `left_count` tell of the elements around
  // them. Depth is bounded: beyond `budget` splits the pivot is the exact median.
  void solve(std::span<double> values, math::Interval at, double left_count,
             std::span<const Level> levels, int budget) {
    while (!levels.empty()) {
      if (values.empty()) {
        for (const Level& level : levels) {
          b_[level.at] = math::solve_interval(at, level.k - left_count, alpha_).b;
        }
        return;
      }
      const double pivot = choose_pivot(values, budget-- <= 0);
      const Split sides = split_values(values, pivot);
      const double equal = static_cast<double>(std::ssize(values) - sides.less - sides.greater);
      const double left_sum = sides.less_sum + at.left_sum * decay(pivot - at.left_nearest);
      const double right_sum = sides.greater_sum + at.right_sum * decay(at.right_nearest - pivot);
      // LapSum(pivot) = to_pivot + (right_sum - left_sum) / 2; the counts are subtracted first,
      // exactly.
      const double left_behind = left_count + static_cast<double>(sides.less);
      const double to_pivot = left_behind + 0.5 * equal;
      const auto beyond = std::partition_point(
          levels.begin(), levels.end(),
          [&](const Level& level) { return level.k - to_pivot <= 0.5 * (right_sum - left_sum); });
      const std::span<const Level> lower(levels.begin(), beyond);
      levels = {beyond, levels.end()};
      std::span<double> smaller = values.first(static_cast<std::size_t>(sides.less));
      values = values.subspan(smaller.size(), static_cast<std::size_t>(sides.greater));
      if (!levels.empty()) {
        std::copy_n(spare_.begin(), values.size(), values.begin());
      }
      if (!lower.empty()) {
        solve(smaller, {at.left_nearest, at.left_sum, pivot, right_sum + equal}, left_count, lower,
              budget);
      }
      at.left_nearest = pivot;
      at.left_sum = left_sum + equal;
      left_count = left_behind + equal;
    }
  }

 private:
  double decay(double distance) const { return std::exp(-distance / alpha_); }

  // The median of a sample spread over the values: of all of them if `exact`.
  double choose_pivot(std::span<const double> values, bool exact) {
    constexpr std::size_t kSample = 33;
    if (exact) {
      std::copy(values.begin(), values.end(), spare_.begin());
      const auto middle = spare_.begin() + std::ssize(values) / 2;
      std::nth_element(spare_.begin(), middle, spare_.begin() + std::ssize(values));
      return *middle;
    }
    std::array<double, kSample> sample;
    const std::size_t count = values.size() < 2 * kSample ? 1 : kSample;
    for (std::size_t i = 0; i < count; ++i) {
      sample[i] = values[(2 * i + 1) * values.size() / (2 * count)];
    }
    std::nth_element(sample.begin(), sample.begin() + count / 2, sample.begin() + count);
    return sample[count / 2];
  }

  // Smaller values to the front of `values`, greater ones to the front of the spare buffer.
  Split split_values(std::span<double> values, double pivot) {
    const std::ptrdiff_t n = std::ssize(values);
    if (n <= kChunk) return split(values.data(), n, pivot, alpha_, spare_.data());
    std::vector<Split> parts(static_cast<std::size_t>(chunk_count(n)));
    for_each_chunk(n, threads_, [&](std::ptrdiff_t begin, std::ptrdiff_t end) {
      parts[static_cast<std::size_t>(begin / kChunk)] =
          split(values.data() + begin, end - begin, pivot, alpha_, spare_.data() + begin);
    });
    Split all;
    for (std::size_t c = 0; c < parts.size(); ++c) {
      const std::ptrdiff_t begin = static_cast<std::ptrdiff_t>(c) * kChunk;
      std::copy_n(values.begin() + begin, parts[c].less, values.begin() + all.less);
      std::copy_n(spare_.begin() + begin, parts[c].greater, spare_.begin() + all.greater);
      all.less += parts[c].less;
      all.greater += parts[c].greater;
      all.less_sum += parts[c].less_sum;
      all.greater_sum += parts[c].greater_sum;
    }
    return all;
  }

  double alpha_;
  std::span<double> spare_;
  std::span<Threshold> b_;
  int threads_;
};

}  // namespace

void solve_thresholds(std::span<const double> r, const NonFinite& counts, std::span<const double> k,
                      double alpha, std::span<Threshold> b, Arena& arena, int threads) {
  const auto below = static_cast<double>(counts.below);
  const std::ptrdiff_t finite = std::ssize(r) - counts.below - counts.above;
  std::span<Level> levels = arena.take<Level>(std::ssize(k));
  std::size_t open = 0;
  for (std::ptrdiff_t t = 0; t < std::ssize(k); ++t) {
    const double level = k[t];
    if (counts.nan > 0 || std::isnan(level)) {
      b[t] = {kNaN, 0};
    } else if (level <= below) {
      b[t] = {-kInf, level > 0 ? level / below : 0};
    } else if (level - below >= static_cast<double>(finite)) {
      b[t] = {kInf, 0};
    } else {
      levels[open++] = {level - below, t};
    }
  }
  levels = levels.first(open);
  if (levels.empty()) return;
  std::sort(levels.begin(), levels.end(), [](const Level& a, const Level& c) { return a.k < c.k; });
  std::span<double> values = arena.take<double>(finite);
  if (finite == std::ssize(r)) {
    for_each_chunk(finite, threads, [&](std::ptrdiff_t begin, std::ptrdiff_t end) {
      std::copy(r.begin() + begin, r.begin() + end, values.begin() + begin);
    });
  } else {
    std::copy_if(r.begin(), r.end(), values.begin(), [](double v) { return std::isfinite(v); });
  }
  const int budget = 3 * std::bit_width(static_cast<std::size_t>(finite)) + 16;
  Selection(alpha, arena.take<double>(finite), b, threads)
      .solve(values, {-kInf, 0, kInf, 0}, 0, levels, budget);
}

}  // namespace lapsum::cpu
