// Position i is F((b' - r) / alpha) - F((b - r) / alpha) between roots b < b'. With width = (b' -
// b) / alpha, an element outside has (1 - e^-width) / 2 times its decay to the nearer root.
#include "cpu/primitives/permutation.h"

#include <algorithm>
#include <cmath>

#include "cpu/primitives/bracket.h"
#include "cpu/primitives/laplace.h"

namespace lapsum::cpu {

Permutation::Permutation(const Decays& decays, const Roots& roots, Arena& arena, int threads)
    : decays_(decays),
      positions_(arena.take<Position>(decays.size())),
      position_of_(arena.take<Index>(decays.size())),
      inside_(arena.take<double>(decays.size())) {
  const std::ptrdiff_t n = decays.size();
  const Arena::Scope scope(arena);
  std::span<double> to_next = arena.take<double>(n);
  std::span<double> width = arena.take<double>(n);
  const RootWeights& weights = roots.weights;
  const InAlphas in_alphas(decays.alpha);
  const auto distance = [&](double anchors, double offset) {
    return std::max(in_alphas(anchors + offset), 0.0);
  };
  const auto lower_root = [&](std::ptrdiff_t i) {
    return i > 0 ? roots.b[i - 1] : Threshold{-INFINITY, 0};
  };
  const auto upper_root = [&](std::ptrdiff_t i) {
    return i + 1 < n ? roots.b[i] : Threshold{INFINITY, 0};
  };
  for_each_chunk(n, threads, [&](std::ptrdiff_t begin, std::ptrdiff_t end) {
    for (std::ptrdiff_t i = begin; i < end; ++i) {
      const bool has_lower = i > 0;
      const bool has_upper = i + 1 < n;
      const Threshold lower = lower_root(i), upper = upper_root(i);
      Position& at = positions_[i];
      at.first = has_lower ? static_cast<std::ptrdiff_t>(weights.lefts[i - 1]) - 1 : -1;
      at.last = has_upper ? static_cast<std::ptrdiff_t>(weights.lefts[i]) - 1 : n - 1;
      at.left = has_lower ? weights.left[i - 1] * weights.total[i - 1] : 0;
      at.right = has_upper ? weights.right[i] * weights.total[i] : 0;
      width[i] = distance(upper.anchor - lower.anchor, upper.offset - lower.offset);
    }
  });
  // Positions hold as few or as many elements as they like: each marks the first one behind its lower
  // root, and the last mark so far tells an element's position.
  std::fill(position_of_.begin(), position_of_.end(), Index{0});
  for (std::ptrdiff_t i = 1; i < n; ++i) {
    const std::ptrdiff_t j = positions_[i].first + 1;
    if (j < n) position_of_[j] = static_cast<Index>(i);
  }
  Index most = 0;
  for (Index& at : position_of_) at = most = std::max(most, at);
  for_each_chunk(n, threads, [&](std::ptrdiff_t begin, std::ptrdiff_t end) {
    for (std::ptrdiff_t j = begin; j < end; ++j) {
      const std::ptrdiff_t i = position_of_[j];
      const Threshold lower = lower_root(i), upper = upper_root(i);
      to_next[j] = distance(upper.anchor - decays.r[j], upper.offset);
      inside_[j] = distance(decays.r[j] - lower.anchor, -lower.offset);
    }
    decay_loss(width.data() + begin, end - begin, width.data() + begin);
    decay_loss(to_next.data() + begin, end - begin, to_next.data() + begin);
    decay_loss(inside_.data() + begin, end - begin, inside_.data() + begin);
    for (std::ptrdiff_t i = begin; i < end; ++i) {
      positions_[i].left *= 0.5 * width[i];
      positions_[i].right *= 0.5 * width[i];
      inside_[i] = 0.5 * (inside_[i] + to_next[i]);
    }
  });
}

std::span<double> Permutation::apply(std::span<const double> v, Arena& arena, int threads) const {
  const std::ptrdiff_t n = decays_.size();
  const Scans<0> scans = scan_both<0>(decays_, {v}, arena, threads);
  std::span<double> out = arena.take<double>(n);
  for_each_chunk(n, threads, [&](std::ptrdiff_t begin, std::ptrdiff_t end) {
    std::fill(out.begin() + begin, out.begin() + end, 0.0);
    const std::ptrdiff_t last = positions_[end - 1].last;
    for (std::ptrdiff_t j = positions_[begin].first + 1; j <= last; ++j) {
      out[position_of_[j]] += inside_[j] * v[j];
    }
    for (std::ptrdiff_t i = begin; i < end; ++i) {
      const Position& at = positions_[i];
      out[i] += at.first >= 0 ? at.left * scans.right[0][at.first] : 0;
      out[i] += at.last + 1 < n ? at.right * scans.left[0][at.last + 1] : 0;
    }
  });
  return out;
}

std::span<double> Permutation::apply_transpose(std::span<const double> u, Arena& arena,
                                               int threads) const {
  const std::ptrdiff_t n = decays_.size();
  std::span<double> at_first = arena.take<double>(n);
  std::span<double> at_last = arena.take<double>(n);
  std::span<double> out = arena.take<double>(n);
  std::fill(at_first.begin(), at_first.end(), 0.0);
  std::fill(at_last.begin(), at_last.end(), 0.0);
  for (std::ptrdiff_t i = 0; i < n; ++i) {
    const Position& at = positions_[i];
    if (at.first >= 0) at_first[at.first] += at.left * u[i];
    if (at.last + 1 < n) at_last[at.last + 1] += at.right * u[i];
  }
  const Moments<0> from_right = decayed_scan<0>(decays_, Toward::left, {at_first}, arena, threads);
  const Moments<0> from_left = decayed_scan<0>(decays_, Toward::right, {at_last}, arena, threads);
  for_each_chunk(n, threads, [&](std::ptrdiff_t begin, std::ptrdiff_t end) {
    for (std::ptrdiff_t j = begin; j < end; ++j) {
      out[j] = inside_[j] * u[position_of_[j]] + (from_right[0][j] + from_left[0][j]);
    }
  });
  return out;
}

}  // namespace lapsum::cpu
