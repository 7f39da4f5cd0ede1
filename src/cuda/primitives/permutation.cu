// Position i is F((b' - r) / alpha) - F((b - r) / alpha) between roots b < b'. With width = (b' -
// b) / alpha, an element outside has (1 - e^-width) / 2 times its decay to the nearer root.
#include "cuda/primitives/permutation.h"

#include "cuda/primitives/bisection.h"
#include "cuda/primitives/for_each.h"

namespace lapsum::gpu {
namespace {

// Elements and positions of a row, both at [0, n); the finite ones among them at [below, end).
struct MakePositions {
  Cuts cuts;
  Runs runs;
  Index* position;
  double* inside;
  double* gap;
  double* left;
  double* right;

  __device__ double loss(double anchor, double offset, double alpha) const {
    return decay_loss(std::fmax((anchor + offset) / alpha, 0.0));
  }
  // The position of a finite element: how many roots lie left of it.
  __device__ std::ptrdiff_t position_of(std::ptrdiff_t row, std::ptrdiff_t place) const {
    const Index* const next = runs.next + row * runs.m;
    return count_while(0, runs.m, IsBelow<Index>{next, static_cast<Index>(place), true});
  }
  __device__ void operator()(std::ptrdiff_t row, std::ptrdiff_t j) const {
    const RowFacts& facts = cuts.sorted.facts[row];
    const std::ptrdiff_t at = row * cuts.sorted.n + j;
    left[at] = right[at] = 0;
    if (j < facts.below || j >= facts.end()) {
      position[at] = static_cast<Index>(j);
      inside[at] = 1;
      gap[at] = j == facts.end() ? kApart : 0;
      return;
    }
    const Threshold none_below{-HUGE_VAL, 0};
    const Threshold none_above{HUGE_VAL, 0};
    const auto lower = [&](std::ptrdiff_t i) { return i > 0 ? cuts.b(row, i - 1) : none_below; };
    const auto upper = [&](std::ptrdiff_t i) {
      return i + 1 < facts.finite ? cuts.b(row, i) : none_above;
    };
    const std::ptrdiff_t i = j - facts.below;
    const Point* const roots = cuts.roots.points.at + row * runs.m;
    const double share = 0.5 * loss(upper(i).anchor - lower(i).anchor,
                                    upper(i).offset - lower(i).offset, facts.alpha);
    if (i > 0) left[at] = share * roots[i - 1].left_weight * roots[i - 1].scale;
    if (i + 1 < facts.finite) right[at] = share * roots[i].right_weight * roots[i].scale;

    const std::ptrdiff_t own = position_of(row, j);
    const double r = cuts.sorted.r[at];
    position[at] = static_cast<Index>(facts.below + own);
    inside[at] = 0.5 * (loss(upper(own).anchor - r, upper(own).offset, facts.alpha) +
                        loss(r - lower(own).anchor, -lower(own).offset, facts.alpha));
    gap[at] = j > facts.below && own == position_of(row, j - 1) ? 0 : kApart;
  }
};

// The mean over the infinite elements at one end: `sums` has their sum at the last of them.
__device__ double mean_at_infinity(const double* sums, const RowFacts& facts, std::ptrdiff_t n,
                                   std::ptrdiff_t j) {
  return j < facts.below ? sums[facts.below - 1] / static_cast<double>(facts.below)
                         : sums[n - 1] / static_cast<double>(n - facts.end());
}

struct ReadPositions {
  Permutation p;
  const double* sums;  // of `inside` times v, along each position
  Scans<0> scans;      // of v
  std::ptrdiff_t repeat;
  double* out;
  __device__ void operator()(std::ptrdiff_t row, std::ptrdiff_t j) const {
    const std::ptrdiff_t own = shared_row(row, repeat);
    const RowFacts& facts = p.cuts.sorted.facts[own];
    const std::ptrdiff_t n = p.cuts.sorted.n;
    const std::ptrdiff_t first = row * n;
    const std::ptrdiff_t i = j - facts.below;
    if (j < facts.below || j >= facts.end()) {
      out[first + j] = facts.unit * mean_at_infinity(sums + first, facts, n, j);
      return;
    }
    const Index* const next = p.runs.next + own * p.runs.m;
    const std::ptrdiff_t begin = i > 0 ? static_cast<std::ptrdiff_t>(next[i - 1]) : facts.below;
    const std::ptrdiff_t end =
        i + 1 < facts.finite ? static_cast<std::ptrdiff_t>(next[i]) : facts.end();
    double sum = begin < end ? sums[first + end - 1] : 0;
    if (begin > facts.below) sum += p.left[own * n + j] * scans.right[0][first + begin - 1];
    if (end < facts.end()) sum += p.right[own * n + j] * scans.left[0][first + end];
    out[first + j] = facts.unit * sum;
  }
};

// What root t takes from the positions on its two sides to the elements beyond it.
struct GiveRoots {
  Permutation p;
  const double* u;
  std::ptrdiff_t repeat;
  double* to_left;
  double* to_right;
  __device__ void operator()(std::ptrdiff_t row, std::ptrdiff_t t) const {
    const std::ptrdiff_t own = shared_row(row, repeat);
    const RowFacts& facts = p.cuts.sorted.facts[own];
    const std::ptrdiff_t n = p.cuts.sorted.n;
    const std::ptrdiff_t at = facts.below + t;
    const bool there = t + 1 < facts.finite;
    to_left[row * p.runs.m + t] = there ? p.left[own * n + at + 1] * u[row * n + at + 1] : 0;
    to_right[row * p.runs.m + t] = there ? p.right[own * n + at] * u[row * n + at] : 0;
  }
};

struct ReadElements {
  Permutation p;
  const double* u;
  const double* sums;  // of u
  Scans<0> scans;      // of what the roots gave
  std::ptrdiff_t repeat;
  double* out;
  __device__ void operator()(std::ptrdiff_t row, std::ptrdiff_t j) const {
    const std::ptrdiff_t own = shared_row(row, repeat);
    const RowFacts& facts = p.cuts.sorted.facts[own];
    const std::ptrdiff_t n = p.cuts.sorted.n;
    const std::ptrdiff_t at = row * n + j;
    const bool finite = j >= facts.below && j < facts.end();
    const std::ptrdiff_t position = static_cast<std::ptrdiff_t>(p.position[own * n + j]);
    out[at] = facts.unit * (finite ? p.inside[own * n + j] * u[row * n + position] +
                                         scans.right[0][at] + scans.left[0][at]
                                   : mean_at_infinity(sums + row * n, facts, n, j));
  }
};

// h_t at the roots, times their scale, from u at the positions.
struct Differences {
  Cuts cuts;
  const double* u;
  const double* factor;  // per root, or null
  std::ptrdiff_t repeat;
  double* h;
  __device__ void operator()(std::ptrdiff_t row, std::ptrdiff_t t) const {
    const std::ptrdiff_t own = shared_row(row, repeat);
    const RowFacts& facts = cuts.sorted.facts[own];
    const std::ptrdiff_t m = cuts.roots.points.m;
    const double* const at = u + row * cuts.sorted.n + facts.below + t;
    const double scale =
        cuts.roots.points.at[own * m + t].scale * (factor ? factor[own * m + t] : 1);
    h[row * m + t] = t + 1 < facts.finite ? (at[0] - at[1]) * scale : 0;
  }
};

}  // namespace

Permutation make_permutation(Queue& queue, const Cuts& cuts) {
  const std::ptrdiff_t count = cuts.sorted.rows * cuts.sorted.n;
  const Runs runs = find_runs(queue, cuts.roots.points, true);
  Index* const position = queue.take<Index>(count);
  double* const inside = queue.take<double>(count);
  double* const gap = queue.take<double>(count);
  double* const left = queue.take<double>(count);
  double* const right = queue.take<double>(count);
  for_each(queue, cuts.sorted.rows, cuts.sorted.n,
           MakePositions{cuts, runs, position, inside, gap, left, right});
  return {cuts, runs, position, inside, gap, left, right};
}

double* apply(Queue& queue, const Permutation& p, const double* v, std::ptrdiff_t repeat) {
  const SortedRows& sorted = p.cuts.sorted;
  const std::ptrdiff_t rows = sorted.rows * repeat;
  double* const out = queue.take<double>(rows * sorted.n);
  const Queue::Scope scope(queue);
  double* const sums = queue.take<double>(rows * sorted.n);
  const double* const parts = multiply(queue, sorted, p.inside, v, repeat);
  decayed_scan<0>(queue, {rows, sorted.n, p.gap, repeat}, {Toward::right, parts, {sums}}, {});
  const Scans<0> scans = scan_both<0>(queue, sorted.gaps(repeat), v);
  for_each(queue, rows, sorted.n, ReadPositions{p, sums, scans, repeat, out});
  return out;
}

double* apply_transpose(Queue& queue, const Permutation& p, const double* u,
                        std::ptrdiff_t repeat) {
  const SortedRows& sorted = p.cuts.sorted;
  const std::ptrdiff_t rows = sorted.rows * repeat;
  double* const out = queue.take<double>(rows * sorted.n);
  const Queue::Scope scope(queue);
  double* const to_left = queue.take<double>(rows * p.runs.m);
  double* const to_right = queue.take<double>(rows * p.runs.m);
  double* const sums = queue.take<double>(rows * sorted.n);
  for_each(queue, rows, p.runs.m, GiveRoots{p, u, repeat, to_left, to_right});
  const Scans<0> scans = scan_sources(
      queue, sorted, collect(queue, sorted, p.runs, to_left, to_right, repeat), repeat);
  decayed_scan<0>(queue, {rows, sorted.n, p.gap, repeat}, {Toward::right, u, {sums}}, {});
  for_each(queue, rows, sorted.n, ReadElements{p, u, sums, scans, repeat, out});
  return out;
}

double* differences(Queue& queue, const Permutation& p, const double* u, const double* factor,
                    std::ptrdiff_t repeat) {
  double* const h = queue.take<double>(p.cuts.sorted.rows * repeat * p.runs.m);
  for_each(queue, p.cuts.sorted.rows * repeat, p.runs.m, Differences{p.cuts, u, factor, repeat, h});
  return h;
}

}  // namespace lapsum::gpu
