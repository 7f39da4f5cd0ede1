// A thread for every level: it bisects the row for its interval, and solves that.
#include "cuda/primitives/levels.h"

#include "cuda/primitives/bisection.h"
#include "cuda/primitives/for_each.h"
#include "math/interval.h"

namespace lapsum::gpu {
namespace {

constexpr double kMaxZ = 1e300;  // so that differences and products of z stay numbers

// LapSum(r_j) = j + 1/2 + (behind - before) / 2; the integer part is compared first, exactly.
struct IsBeyond {
  const double* before;
  const double* behind;
  std::ptrdiff_t first;
  double k;
  __device__ bool operator()(std::ptrdiff_t j) const {
    return k - (static_cast<double>(j - first) + 0.5) > 0.5 * (behind[j] - before[j]);
  }
};

struct Solve {
  SortedRows sorted;
  Scans<0> ones;
  RowLevels levels;
  Numbers given;
  Point* points;
  Threshold* b;

  __device__ void operator()(std::ptrdiff_t row, std::ptrdiff_t t) const {
    const RowFacts& facts = sorted.facts[row];
    const double* const r = sorted.r + row * sorted.n;
    const double* const before = ones.right[0] + row * sorted.n;
    const double* const behind = ones.left[0] + row * sorted.n;
    const double level =
        levels.steps ? levels.first + static_cast<double>(t) : levels.scale * given.at(row, t);
    const double k = level - (levels.among_finite ? 0 : static_cast<double>(facts.below));
    const std::ptrdiff_t i = row * levels.count + t;
    if (!(k > 0 && k < static_cast<double>(facts.finite))) {
      const double none = std::isnan(k) ? k : 0.0;
      points[i] = {0, 0, none, none, none, static_cast<Index>(k > 0 ? facts.end() : facts.below)};
      b[i] = {std::isnan(k) ? k : k > 0 ? HUGE_VAL : -HUGE_VAL, 0};
      return;
    }
    const std::ptrdiff_t count =
        count_while(facts.below, facts.end(), IsBeyond{before, behind, facts.below, k});
    const std::ptrdiff_t next = facts.below + count;
    const bool left = count > 0;
    const bool right = count < facts.finite;
    const math::Interval between{left ? r[next - 1] : -HUGE_VAL, left ? before[next - 1] : 0,
                                 right ? r[next] : HUGE_VAL, right ? behind[next] : 0};
    const math::Root root =
        math::solve_interval(between, k - static_cast<double>(count), facts.alpha);
    points[i] = {root.left_weight > 0 ? std::fmin(root.left_z, kMaxZ) : 0,
                 root.right_weight > 0 ? std::fmin(root.right_z, kMaxZ) : 0,
                 root.left_weight,
                 root.right_weight,
                 root.total,
                 static_cast<Index>(next)};
    b[i] = root.b;
  }
};

}  // namespace

Roots solve_levels(Queue& queue, const SortedRows& sorted, const Scans<0>& ones,
                   const RowLevels& levels) {
  const std::ptrdiff_t m = levels.count;
  Point* const points = queue.take<Point>(sorted.rows * m);
  Threshold* const b = queue.take<Threshold>(sorted.rows * m);
  for_each(queue, sorted.rows, m, Solve{sorted, ones, levels, levels.given, points, b});
  return {{sorted.rows, m, points}, b};
}

}  // namespace lapsum::gpu
