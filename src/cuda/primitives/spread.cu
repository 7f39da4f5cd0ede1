// The sum of a run is that of a scan over the points, without decay inside a run; each element
// takes the runs next to it from there.
#include "cuda/primitives/spread.h"

#include "cuda/primitives/bisection.h"
#include "cuda/primitives/for_each.h"

namespace lapsum::gpu {
namespace {

struct NextOf {
  Points points;
  double* next;
  __device__ void operator()(std::ptrdiff_t row, std::ptrdiff_t t) const {
    const std::ptrdiff_t i = row * points.m + t;
    next[i] = static_cast<double>(points.at[i].next);
  }
};

struct CutRuns {
  Points points;
  const Index* from;
  Index* next;
  double* gap;
  __device__ Index next_of(std::ptrdiff_t row, std::ptrdiff_t t) const {
    const std::ptrdiff_t first = row * points.m;
    return points.at[first + (from ? static_cast<std::ptrdiff_t>(from[first + t]) : t)].next;
  }
  __device__ void operator()(std::ptrdiff_t row, std::ptrdiff_t t) const {
    const std::ptrdiff_t i = row * points.m + t;
    next[i] = next_of(row, t);
    gap[i] = t > 0 && next[i] == next_of(row, t - 1) ? 0 : kApart;
  }
};

struct TakeRuns {
  SortedRows sorted;
  Runs runs;
  const double* sum_left;
  const double* sum_right;
  std::ptrdiff_t repeat;
  double* left;
  double* right;
  __device__ double sum_of(const double* sums, std::ptrdiff_t row, std::ptrdiff_t next) const {
    const Index* const at = runs.next + shared_row(row, repeat) * runs.m;
    const auto key = static_cast<Index>(next);
    const std::ptrdiff_t end = count_while(0, runs.m, IsBelow<Index>{at, key, true});
    return end > 0 && at[end - 1] == key ? sums[row * runs.m + end - 1] : 0;
  }
  __device__ void operator()(std::ptrdiff_t row, std::ptrdiff_t j) const {
    left[row * sorted.n + j] = sum_of(sum_left, row, j + 1);
    right[row * sorted.n + j] = sum_of(sum_right, row, j);
  }
};

// u times the weights of its point and z^moment.
struct Give {
  Points points;
  Runs runs;
  const double* u;
  std::ptrdiff_t repeat;
  int moment;
  double* to_left;
  double* to_right;
  __device__ void operator()(std::ptrdiff_t row, std::ptrdiff_t t) const {
    const std::ptrdiff_t first = shared_row(row, repeat) * points.m;
    const std::ptrdiff_t from = runs.from ? static_cast<std::ptrdiff_t>(runs.from[first + t]) : t;
    const Point& at = points.at[first + from];
    const double given = u[row * points.m + from];
    to_left[row * points.m + t] = given * at.left_weight * (moment == 0 ? 1 : at.left_z);
    to_right[row * points.m + t] = given * at.right_weight * (moment == 0 ? 1 : at.right_z);
  }
};

}  // namespace

Runs find_runs(Queue& queue, const Points& points, bool ascending) {
  const std::ptrdiff_t count = points.rows * points.m;
  Index* const next = queue.take<Index>(count);
  double* const gap = queue.take<double>(count);
  Index* from = nullptr;
  if (!ascending && points.m > 1) {
    from = queue.take<Index>(count);
    const Queue::Scope scope(queue);
    double* const keys = queue.take<double>(count);
    double* const sorted_keys = queue.take<double>(count);
    for_each(queue, points.rows, points.m, NextOf{points, keys});
    sort_rows(queue, keys, points.rows, points.m, kIdleBits<Index>, sorted_keys, from);
  }
  for_each(queue, points.rows, points.m, CutRuns{points, from, next, gap});
  return {points.rows, points.m, from, next, gap};
}

Sources collect(Queue& queue, const SortedRows& sorted, const Runs& runs, const double* to_left,
                const double* to_right, std::ptrdiff_t repeat) {
  const std::ptrdiff_t rows = sorted.rows * repeat;
  double* const left = queue.take<double>(rows * sorted.n);
  double* const right = queue.take<double>(rows * sorted.n);
  const Queue::Scope scope(queue);
  double* const sum_left = queue.take<double>(rows * runs.m);
  double* const sum_right = queue.take<double>(rows * runs.m);
  decayed_scan<0>(queue, {rows, runs.m, runs.gap, repeat}, {Toward::right, to_left, {sum_left}},
                  {Toward::right, to_right, {sum_right}});
  for_each(queue, rows, sorted.n, TakeRuns{sorted, runs, sum_left, sum_right, repeat, left, right});
  return {left, right};
}

Scans<0> scan_sources(Queue& queue, const SortedRows& sorted, const Sources& sources,
                      std::ptrdiff_t repeat) {
  Scans<0> seen;
  seen.right[0] = queue.take<double>(sorted.rows * repeat * sorted.n);
  seen.left[0] = queue.take<double>(sorted.rows * repeat * sorted.n);
  decayed_scan<0>(queue, sorted.gaps(repeat), {Toward::right, sources.right, seen.right},
                  {Toward::left, sources.left, seen.left});
  return seen;
}

template <int Order>
Scans<Order> spread(Queue& queue, const SortedRows& sorted, const Points& points, const Runs& runs,
                    const double* u, std::ptrdiff_t repeat) {
  const std::ptrdiff_t rows = sorted.rows * repeat;
  Scans<Order> seen;
  for (double*& at : seen.right) at = queue.take<double>(rows * sorted.n);
  for (double*& at : seen.left) at = queue.take<double>(rows * sorted.n);
  const Queue::Scope scope(queue);
  double* const to_left = queue.take<double>(rows * points.m);
  double* const to_right = queue.take<double>(rows * points.m);
  Sources sources[Order + 1];
  for (int p = 0; p <= Order; ++p) {
    for_each(queue, rows, points.m, Give{points, runs, u, repeat, p, to_left, to_right});
    sources[p] = collect(queue, sorted, runs, to_left, to_right, repeat);
  }
  decayed_scan<Order>(queue, sorted.gaps(repeat),
                      {Toward::right, sources[0].right, seen.right, sources[Order].right},
                      {Toward::left, sources[0].left, seen.left, sources[Order].left});
  return seen;
}

template Scans<0> spread<0>(Queue&, const SortedRows&, const Points&, const Runs&, const double*,
                            std::ptrdiff_t);
template Scans<1> spread<1>(Queue&, const SortedRows&, const Points&, const Runs&, const double*,
                            std::ptrdiff_t);

}  // namespace lapsum::gpu
