// Points and levels walk along the row in ascending order; levels with steps of one need no search.
#include "cpu/primitives/points.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "cpu/primitives/bracket.h"
#include "cpu/primitives/intervals.h"
#include "cpu/primitives/laplace.h"
#include "cpu/primitives/parallel.h"
#include "cpu/primitives/stepped_levels.h"
#include "cpu/primitives/walk.h"
#include "instantiate.h"
#include "math/interval.h"

namespace lapsum::cpu {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kMaxZ = 1e300;               // so that differences and products of z stay numbers
constexpr Point kNowhere{-1, 0, 0, 0, 0, 0};  // sees nothing, is seen by nothing
constexpr Point kUnknown{-1, 0, 0, kNaN, kNaN, kNaN};  // makes NaN of all it meets

// Levels of a row: how many values lie left of each root, and whether math::solve_interval or the
// limits must look after some of them.
struct Located {
  std::span<const Index> lefts;
  bool ascending;  // the levels have steps of one
  bool regular;    // all inside (0, n), and vectors solve all of them
};

bool inside(double k, std::ptrdiff_t n) { return k > 0 && k < static_cast<double>(n); }

// Whether some neighbours are so far apart that a root between them, of a level all but an integer,
// does not see both.
bool has_plateaus(const SummedRow& row) {
  return std::any_of(row.keep, row.keep + row.n - 1,
                     [](double keep) { return keep < kLeastExcess; });
}

Located locate_levels(const SummedRow& row, const RowLevels& k, std::span<Index> lefts,
                      Arena& arena, int threads) {
  const std::ptrdiff_t m = k.size();
  if (!k.are_steps()) {
    // LapSum(r_j) = j + 1/2 + (behind - before) / 2; the integer part is compared first, exactly.
    const auto beyond = [&](std::ptrdiff_t t, std::ptrdiff_t j) {
      return k[t] - (static_cast<double>(j) + 0.5) > 0.5 * (row.behind[j] - row.before[j]);
    };
    walk(row.n, k.values(), arena, threads, beyond,
         [&](std::ptrdiff_t t, std::ptrdiff_t j) { lefts[t] = static_cast<Index>(j + 1); });
    return {lefts, false, false};
  }
  for_each_part(m, threads, [&](std::ptrdiff_t begin, std::ptrdiff_t end) {
    count_lefts(row, k[begin], end - begin, lefts.data() + begin);
  });
  if (m == 0) return {lefts, true, true};
  const double front = k[0], back = k[m - 1];
  // Next to 0 and n a root has values on one side alone.
  const bool at_ends = front < 0.5 || back > static_cast<double>(row.n) - 0.5;
  return {lefts, true,
          inside(front, row.n) && inside(back, row.n) &&
              !(is_whole(front) && (at_ends || has_plateaus(row)))};
}

SummedRow summed(const Decays& decays, const Scans<0>& ones, Arena& arena, int threads) {
  const double* keep = decays_to_next(decays, arena, threads).data();
  return {decays.r.data(),     keep,          ones.right[0].data(),
          ones.left[0].data(), decays.size(), decays.alpha};
}

template <class T>
SummedRow summed(std::span<const double> sorted, double alpha, Arena& arena, int threads) {
  const std::ptrdiff_t n = std::ssize(sorted);
  const auto room = [&] { return arena.take<double>(n).data(); };
  const OnesTo to{room(), room(), room()};
  scan_ones<T>(sorted, alpha, to, arena, threads);
  return {sorted.data(), to.keep, to.right, to.left, n, alpha};
}

// body(levels, begin) for blocks of at most kLevelBlock levels.
template <class Body>
void for_each_level_block(const SummedRow& row, const RowLevels& k, const Located& at, int threads,
                          Body&& body) {
  if (row.n == 0) return;
  for_each_part(k.size(), threads, [&](std::ptrdiff_t begin, std::ptrdiff_t end) {
    double room[kLevelBlock];
    for (std::ptrdiff_t t = begin; t < end; t += kLevelBlock) {
      const std::ptrdiff_t count = std::min(kLevelBlock, end - t);
      const double* levels = k.from(t, {room, static_cast<std::size_t>(count)});
      body(LevelsAt{levels, at.lefts.data() + t, count}, t);
    }
  });
}

// body(t, root) for the levels inside that vectors do not solve, outside(t) for those beyond.
template <class Body, class Outside>
void mend(const SummedRow& row, const RowLevels& k, const Located& at, int threads, Body&& body,
          Outside&& outside) {
  if (at.regular) return;
  for_each_chunk(k.size(), threads, [&](std::ptrdiff_t begin, std::ptrdiff_t end) {
    for (std::ptrdiff_t t = begin; t < end; ++t) {
      const auto c = static_cast<std::ptrdiff_t>(at.lefts[t]);
      const double excess = k[t] - static_cast<double>(c);
      if (!inside(k[t], row.n)) {
        outside(t);
      } else if (std::abs(excess) < kLeastExcess) {
        const math::Interval between{c > 0 ? row.r[c - 1] : -kInf, c > 0 ? row.before[c - 1] : 0,
                                     c < row.n ? row.r[c] : kInf, c < row.n ? row.behind[c] : 0};
        body(t, math::solve_interval(between, excess, row.alpha));
      }
    }
  });
}

// The root of a level outside.
Threshold limit(double k) { return {std::isnan(k) ? kNaN : k > 0 ? kInf : -kInf, 0}; }

// write(t, anchors, offsets) for blocks of levels, and again for one of them where that is mended.
template <class T, class Write>
void solve_thresholds(const SummedRow& row, const RowLevels& k, const Located& at, int threads,
                      Write&& write) {
  for_each_level_block(row, k, at, threads, [&](const LevelsAt& levels, std::ptrdiff_t begin) {
    double anchor[kLevelBlock];
    double offset[kLevelBlock];
    const auto count = static_cast<std::size_t>(levels.count);
    solve_roots<T>(row, levels, {anchor, offset});
    write(begin, std::span<const double>(anchor, count), std::span<const double>(offset, count));
  });
  const auto write_one = [&](std::ptrdiff_t t, const Threshold& b) {
    write(t, std::span<const double>(&b.anchor, 1), std::span<const double>(&b.offset, 1));
  };
  mend(
      row, k, at, threads, [&](std::ptrdiff_t t, const math::Root& root) { write_one(t, root.b); },
      [&](std::ptrdiff_t t) { write_one(t, limit(k[t])); });
}

// Room for the weights of m levels.
struct WeightsRoom {
  WeightsRoom(std::ptrdiff_t m, Arena& arena)
      : lefts(arena.take<Index>(m)),
        left(arena.take<double>(m)),
        right(arena.take<double>(m)),
        total(arena.take<double>(m)) {}

  WeightsTo from(std::ptrdiff_t t) const { return {&left[t], &right[t], &total[t]}; }
  void set(std::ptrdiff_t t, const math::Root& root) const {
    left[t] = root.left_weight;
    right[t] = root.right_weight;
    total[t] = root.total;
  }
  // A level outside.
  void clear(std::ptrdiff_t t, double k) const {
    left[t] = right[t] = total[t] = std::isnan(k) ? kNaN : 0;
  }
  RootWeights weights(const Located& at) const {
    return {at.lefts, at.ascending, left, right, total};
  }

  std::span<Index> lefts;
  std::span<double> left, right, total;
};

// What roots bring to the values next to them, as spread_steps does. Levels of one place belong to the
// chunk of the first of them, and so do the places up to those of the next.
void spread(const RootWeights& roots, std::span<const double> u, std::span<double> at_left,
            std::span<double> at_right, int threads) {
  const std::ptrdiff_t m = std::ssize(u), places = std::ssize(at_left);
  const auto first_from = [&](std::ptrdiff_t t) {
    if (t == 0) return t;
    const auto next =
        std::upper_bound(roots.lefts.begin() + t, roots.lefts.end(), roots.lefts[t - 1]);
    return next - roots.lefts.begin();
  };
  const auto spread_some = [&](std::ptrdiff_t begin, std::ptrdiff_t end) {
    const std::ptrdiff_t first = begin == 0 ? 0 : begin == m ? places : roots.lefts[begin];
    const std::ptrdiff_t last = end == m ? places : roots.lefts[end];
    std::fill(at_left.begin() + first, at_left.begin() + last, 0.0);
    std::fill(at_right.begin() + first, at_right.begin() + last, 0.0);
    for (std::ptrdiff_t t = begin; t < end; ++t) {
      at_left[roots.lefts[t]] += u[t] * roots.left[t];
      at_right[roots.lefts[t]] += u[t] * roots.right[t];
    }
  };
  if (roots.ascending && m > 0) {
    for_each_chunk(m, threads, [&](std::ptrdiff_t begin, std::ptrdiff_t end) {
      spread_some(first_from(begin), first_from(end));
    });
  } else {
    spread_some(0, m);
  }
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

Roots solve_levels(const Decays& decays, const Scans<0>& ones, const RowLevels& k, Arena& arena,
                   int threads) {
  std::span<Threshold> roots = arena.take<Threshold>(k.size());
  const WeightsRoom to(k.size(), arena);
  const Arena::Scope scope(arena);
  const SummedRow row = summed(decays, ones, arena, threads);
  const Located at = locate_levels(row, k, to.lefts, arena, threads);
  for_each_level_block(row, k, at, threads, [&](const LevelsAt& levels, std::ptrdiff_t begin) {
    double anchor[kLevelBlock];
    double offset[kLevelBlock];
    solve_both(row, levels, {anchor, offset}, to.from(begin));
    for (std::ptrdiff_t i = 0; i < levels.count; ++i) roots[begin + i] = {anchor[i], offset[i]};
  });
  mend(
      row, k, at, threads,
      [&](std::ptrdiff_t t, const math::Root& root) {
        roots[t] = root.b;
        to.set(t, root);
      },
      [&](std::ptrdiff_t t) {
        roots[t] = limit(k[t]);
        to.clear(t, k[t]);
      });
  return {roots, to.weights(at)};
}

std::span<const Point> root_points(const Decays& decays, const Roots& roots, Arena& arena,
                                   int threads) {
  const std::ptrdiff_t n = decays.size();
  const RootWeights& weights = roots.weights;
  std::span<Point> points = arena.take<Point>(std::ssize(roots.b));
  const InAlphas in_alphas(decays.alpha);
  const auto z = [&](double weight, double distance) {
    return weight > 0 ? std::min(in_alphas(distance), kMaxZ) : 0;
  };
  for_each_chunk(std::ssize(roots.b), threads, [&](std::ptrdiff_t begin, std::ptrdiff_t end) {
    for (std::ptrdiff_t t = begin; t < end; ++t) {
      const Threshold& b = roots.b[t];
      if (!std::isfinite(b.anchor)) {
        points[t] = std::isnan(b.anchor) ? kUnknown : kNowhere;
        continue;
      }
      const auto c = static_cast<std::ptrdiff_t>(weights.lefts[t]);
      points[t] = {c - 1,
                   c > 0 ? z(weights.left[t], (b.anchor - decays.r[c - 1]) + b.offset) : 0,
                   c < n ? z(weights.right[t], (decays.r[c] - b.anchor) - b.offset) : 0,
                   weights.left[t],
                   weights.right[t],
                   weights.total[t]};
    }
  });
  return points;
}

template <class T>
void level_values(std::span<const double> sorted, double alpha, const RowLevels& k, Arena& arena,
                  int threads, const std::function<void(std::ptrdiff_t, std::span<double>)>& body) {
  const Arena::Scope scope(arena);
  if (std::is_same_v<T, float> && are_plain_steps(k, std::ssize(sorted))) {
    return step_values(sorted, alpha, k, arena, threads, body);
  }
  const SummedRow row = summed<T>(sorted, alpha, arena, threads);
  const Located at = locate_levels(row, k, arena.take<Index>(k.size()), arena, threads);
  solve_thresholds<T>(
      row, k, at, threads,
      [&](std::ptrdiff_t t, std::span<const double> anchor, std::span<const double> offset) {
        double values[kLevelBlock];
        for (std::size_t i = 0; i < anchor.size(); ++i) values[i] = anchor[i] + offset[i];
        body(t, {values, anchor.size()});
      });
}

template <class T>
RootWeights level_weights(std::span<const double> sorted, double alpha, const RowLevels& k,
                          Arena& arena, int threads) {
  const WeightsRoom to(k.size(), arena);
  const Arena::Scope scope(arena);
  const SummedRow row = summed<T>(sorted, alpha, arena, threads);
  const Located at = locate_levels(row, k, to.lefts, arena, threads);
  for_each_level_block(row, k, at, threads, [&](const LevelsAt& levels, std::ptrdiff_t begin) {
    solve_weights<T>(row, levels, to.from(begin));
  });
  mend(
      row, k, at, threads, [&](std::ptrdiff_t t, const math::Root& root) { to.set(t, root); },
      [&](std::ptrdiff_t t) { to.clear(t, k[t]); });
  return to.weights(at);
}

template <class T>
void scatter(std::span<const double> sorted, double alpha, const RowLevels& k,
             const RootWeights* known, std::span<const double> u, Arena& arena, int threads,
             const std::function<void(const ChunkOfScans&)>& body) {
  const std::ptrdiff_t n = std::ssize(sorted);
  const Arena::Scope scope(arena);
  // One place more on the outer side takes what goes to no value, which is nothing.
  std::span<double> at_left = arena.take<double>(n + 1);
  std::span<double> at_right = arena.take<double>(n + 1);
  if (known) {
    spread(*known, u, at_left, at_right, threads);
  } else if (std::is_same_v<T, float> && are_plain_steps(k, n)) {
    const Arena::Scope inner(arena);
    spread_steps(sorted, alpha, k, u, at_left, at_right, arena, threads);
  } else {
    const Arena::Scope inner(arena);
    const RootWeights roots = level_weights<T>(sorted, alpha, k, arena, threads);
    spread(roots, u, at_left, at_right, threads);
  }
  const auto size = static_cast<std::size_t>(n);
  const SideWeights weights[] = {{at_right.first(size), at_left.last(size)}};
  scan_in_chunks<T>(sorted, alpha, weights, arena, threads, body);
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

LAPSUM_INSTANTIATE(level_values)
LAPSUM_INSTANTIATE(level_weights)
#define LAPSUM_SCATTER(T)                                                                         \
  template void scatter<T>(std::span<const double>, double, const RowLevels&, const RootWeights*, \
                           std::span<const double>, Arena&, int,                                  \
                           const std::function<void(const ChunkOfScans&)>&);
LAPSUM_SCATTER(float)
LAPSUM_SCATTER(double)
#undef LAPSUM_SCATTER
template Scans<0> scatter<0>(const Decays&, std::span<const Point>, std::span<const double>, Arena&,
                             int);
template Scans<1> scatter<1>(const Decays&, std::span<const Point>, std::span<const double>, Arena&,
                             int);

}  // namespace lapsum::cpu
