// Queries are visited in ascending order: each chunk finds its first interval by bisection and
// walks on from there, so that n sorted queries cost O(n).
#include "cpu/primitives/points.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "cpu/primitives/argsort.h"
#include "cpu/primitives/laplace.h"
#include "cpu/primitives/parallel.h"
#include "math/interval.h"

namespace lapsum::cpu {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kMaxZ = 1e300;               // so that differences and products of z stay numbers
constexpr Point kNowhere{-1, 0, 0, 0, 0, 0};  // sees nothing, is seen by nothing
constexpr Point kUnknown{-1, 0, 0, kNaN, kNaN, kNaN};  // makes NaN of all it meets

// body(t, j) for every query t, j in [-1, n - 1] being the last value that query t lies beyond.
// beyond(t, j) must be monotone: true up to some j, then false; and j ascends with the query.
template <class Beyond, class Body>
void walk(std::ptrdiff_t n, std::span<const double> queries, Arena& arena, int threads,
          Beyond&& beyond, Body&& body) {
  const auto m = static_cast<std::ptrdiff_t>(queries.size());
  const Arena::Scope scope(arena);
  std::span<Index> order;
  const auto out_of_order = [](double a, double b) { return !(a <= b); };  // NaN too
  if (std::adjacent_find(queries.begin(), queries.end(), out_of_order) != queries.end()) {
    order = arena.take<Index>(m);
    argsort(queries.data(), m, false, arena.take<double>(m).data(), order.data(), arena, threads);
  }
  for_each_chunk(m, threads, [&](std::ptrdiff_t begin, std::ptrdiff_t end) {
    std::ptrdiff_t j = -1;
    for (std::ptrdiff_t i = begin; i < end; ++i) {
      const std::ptrdiff_t t = order.empty() ? i : static_cast<std::ptrdiff_t>(order[i]);
      if (i == begin) {
        std::ptrdiff_t stop = n;
        while (stop - j > 1) {
          const std::ptrdiff_t middle = j + (stop - j) / 2;
          (beyond(t, middle) ? j : stop) = middle;
        }
      }
      while (j + 1 < n && beyond(t, j + 1)) ++j;
      body(t, j);
    }
  });
}

}  // namespace

std::span<Point> locate(const Decays& decays, std::span<const double> x, bool ties_left,
                        Arena& arena, int threads) {
  const std::ptrdiff_t n = decays.size();
  const auto m = static_cast<std::ptrdiff_t>(x.size());
  std::span<Point> points = arena.take<Point>(m);
  const auto beyond = [&](std::ptrdiff_t t, std::ptrdiff_t j) {
    return ties_left ? decays.r[j] <= x[t] : decays.r[j] < x[t];
  };
  walk(n, x, arena, threads, beyond, [&](std::ptrdiff_t t, std::ptrdiff_t j) {
    points[t] = std::isnan(x[t]) ? kUnknown : kNowhere;
    if (!std::isfinite(x[t])) return;
    const double left = j >= 0 ? (x[t] - decays.r[j]) / decays.alpha : kInf;
    const double right = j + 1 < n ? (decays.r[j + 1] - x[t]) / decays.alpha : kInf;
    points[t] = {j, std::min(left, math::kFar), std::min(right, math::kFar), left, right, 1};
  });
  for_each_chunk(m, threads, [&](std::ptrdiff_t begin, std::ptrdiff_t end) {
    constexpr std::ptrdiff_t kBlock = 128;
    double weight[2 * kBlock];
    for (std::ptrdiff_t b = begin; b < end; b += kBlock) {
      const std::ptrdiff_t count = std::min(kBlock, end - b);
      for (std::ptrdiff_t i = 0; i < count; ++i) {
        weight[2 * i] = points[b + i].left_z;
        weight[2 * i + 1] = points[b + i].right_z;
      }
      exp_abs(weight, 2 * count, weight);
      for (std::ptrdiff_t i = 0; i < count; ++i) {
        if (points[b + i].scale != 1) continue;
        points[b + i].left_weight = weight[2 * i];
        points[b + i].right_weight = weight[2 * i + 1];
      }
    }
  });
  return points;
}

Roots solve_levels(const Decays& decays, const Scans<0>& ones, std::span<const double> k,
                   Arena& arena, int threads) {
  const std::ptrdiff_t n = decays.size();
  const auto m = static_cast<std::ptrdiff_t>(k.size());
  const std::span<double> before = ones.right[0];
  const std::span<double> behind = ones.left[0];
  Roots roots{arena.take<Point>(m), arena.take<Threshold>(m)};
  // LapSum(r_j) = j + 1/2 + (behind - before) / 2; the integer part is compared first, exactly.
  const auto beyond = [&](std::ptrdiff_t t, std::ptrdiff_t j) {
    return k[t] - (static_cast<double>(j) + 0.5) > 0.5 * (behind[j] - before[j]);
  };
  walk(n, k, arena, threads, beyond, [&](std::ptrdiff_t t, std::ptrdiff_t j) {
    roots.points[t] = std::isnan(k[t]) ? kUnknown : kNowhere;
    if (!(k[t] > 0 && k[t] < static_cast<double>(n))) {
      roots.b[t] = {std::isnan(k[t]) ? kNaN : k[t] > 0 ? kInf : -kInf, 0};
      return;
    }
    const math::Interval at{j >= 0 ? decays.r[j] : -kInf, j >= 0 ? before[j] : 0,
                            j + 1 < n ? decays.r[j + 1] : kInf, j + 1 < n ? behind[j + 1] : 0};
    const math::Root root =
        math::solve_interval(at, k[t] - static_cast<double>(j + 1), decays.alpha);
    roots.b[t] = root.b;
    roots.points[t] = {j,
                       root.left_weight > 0 ? std::min(root.left_z, kMaxZ) : 0,
                       root.right_weight > 0 ? std::min(root.right_z, kMaxZ) : 0,
                       root.left_weight,
                       root.right_weight,
                       root.total};
  });
  return roots;
}

template <int Order>
Scans<Order> scatter(const Decays& decays, std::span<const Point> points, std::span<const double> u,
                     Arena& arena, int threads) {
  const std::ptrdiff_t n = decays.size();
  std::array<std::span<double>, Order + 1> at_left;
  std::array<std::span<double>, Order + 1> at_right;
  for (int p = 0; p <= Order; ++p) {
    at_left[p] = arena.take<double>(n);
    at_right[p] = arena.take<double>(n);
    std::fill(at_left[p].begin(), at_left[p].end(), 0.0);
    std::fill(at_right[p].begin(), at_right[p].end(), 0.0);
  }
  for (std::size_t t = 0; t < points.size(); ++t) {
    const Point& point = points[t];
    double to_left = u[t] * point.left_weight;
    double to_right = u[t] * point.right_weight;
    for (int p = 0; p <= Order; ++p) {
      if (point.j >= 0) at_left[p][point.j] += to_left;
      if (point.j + 1 < n) at_right[p][point.j + 1] += to_right;
      to_left *= point.left_z;
      to_right *= point.right_z;
    }
  }
  Weights<Order> left;
  Weights<Order> right;
  std::copy(at_left.begin(), at_left.end(), left.begin());
  std::copy(at_right.begin(), at_right.end(), right.begin());
  return {decayed_scan<Order>(decays, Toward::right, right, arena, threads),
          decayed_scan<Order>(decays, Toward::left, left, arena, threads)};
}

template Scans<0> scatter<0>(const Decays&, std::span<const Point>, std::span<const double>, Arena&,
                             int);
template Scans<1> scatter<1>(const Decays&, std::span<const Point>, std::span<const double>, Arena&,
                             int);

}  // namespace lapsum::cpu
