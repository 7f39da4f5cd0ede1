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
      lefts_(roots.weights.lefts),
      left_(arena.take<double>(decays.size())),
      right_(arena.take<double>(decays.size())),
      position_of_(arena.take<Index>(decays.size())),
      inside_(arena.take<double>(decays.size())) {
  const std::ptrdiff_t n = decays.size();
  if (n == 0) return;
  left_[0] = right_[n - 1] = 0;
  const RootWeights& weights = roots.weights;
  const std::span<const Threshold> b = roots.b;
  const InAlphas in_alphas(decays.alpha);
  const auto distance = [&](double anchors, double offset) {
    return std::max(in_alphas(anchors + offset), 0.0);
  };
  for_each_part(n, threads, [&](std::ptrdiff_t first, std::ptrdiff_t last) {
    constexpr std::ptrdiff_t kBlock = 512;  // stays in the nearest cache
    double width[kBlock], to_upper[kBlock], to_lower[kBlock];
    hold(first, last);
    for (std::ptrdiff_t at = first; at < last; at += kBlock) {
      const std::ptrdiff_t stop = std::min(at + kBlock, last);
      const std::ptrdiff_t size = stop - at;
      // The first and the last position are open, and their elements see no root there.
      const std::ptrdiff_t lower = std::max<std::ptrdiff_t>(at, 1);
      const std::ptrdiff_t upper = std::min(stop, n - 1);
      std::fill_n(width, size, INFINITY);
      for (std::ptrdiff_t i = lower; i < upper; ++i) {
        width[i - at] = distance(b[i].anchor - b[i - 1].anchor, b[i].offset - b[i - 1].offset);
      }
      decay_loss(width, size, width);
      for (std::ptrdiff_t i = lower; i < stop; ++i) {
        left_[i] = 0.5 * width[i - at] * (weights.left[i - 1] * weights.total[i - 1]);
      }
      for (std::ptrdiff_t i = at; i < upper; ++i) {
        right_[i] = 0.5 * width[i - at] * (weights.right[i] * weights.total[i]);
      }
      std::fill_n(to_lower, size, INFINITY);
      std::fill_n(to_upper, size, INFINITY);
      for (std::ptrdiff_t j = std::max(at, end(0)); j < stop; ++j) {
        const Threshold& root = b[position_of_[j] - 1];
        to_lower[j - at] = distance(decays.r[j] - root.anchor, -root.offset);
      }
      for (std::ptrdiff_t j = at; j < std::min(stop, begin(n - 1)); ++j) {
        const Threshold& root = b[position_of_[j]];
        to_upper[j - at] = distance(root.anchor - decays.r[j], root.offset);
      }
      decay_loss(to_lower, size, to_lower);
      decay_loss(to_upper, size, to_upper);
      for (std::ptrdiff_t l = 0; l < size; ++l) inside_[at + l] = 0.5 * (to_lower[l] + to_upper[l]);
    }
  });
}

// Positions hold as few or as many elements as they like: each marks its first element, and the last
// mark so far tells an element's position.
void Permutation::hold(std::ptrdiff_t begin, std::ptrdiff_t end) {
  std::fill(position_of_.begin() + begin, position_of_.begin() + end, Index{0});
  auto root = std::upper_bound(lefts_.begin(), lefts_.end(), static_cast<Index>(begin));
  Index most = static_cast<Index>(root - lefts_.begin());
  for (Index position = most; root != lefts_.end() && *root < end; ++root) {
    position_of_[*root] = ++position;
  }
  for (std::ptrdiff_t j = begin; j < end; ++j) {
    position_of_[j] = most = std::max(most, position_of_[j]);
  }
}

std::span<double> Permutation::apply(std::span<const double> v, Arena& arena, int threads) const {
  const std::ptrdiff_t n = decays_.size();
  const Scans<0> scans = scan_both<0>(decays_, {v}, arena, threads);
  const double* from_left = scans.right[0].data();
  const double* from_right = scans.left[0].data();
  std::span<double> out = arena.take<double>(n);
  for_each_part(n, threads, [&](std::ptrdiff_t first, std::ptrdiff_t last) {
    for (std::ptrdiff_t i = first; i < last; ++i) {
      const double left = begin(i) > 0 ? left_[i] * from_left[begin(i) - 1] : 0;
      const double right = end(i) < n ? right_[i] * from_right[end(i)] : 0;
      out[i] = left + right;
    }
    for (std::ptrdiff_t j = begin(first); j < end(last - 1); ++j) {
      out[position_of_[j]] += inside_[j] * v[j];
    }
  });
  return out;
}

std::span<double> Permutation::apply_transpose(std::span<const double> u, Arena& arena,
                                               int threads) const {
  const std::ptrdiff_t n = decays_.size();
  std::span<double> at_left = arena.take<double>(n);
  std::span<double> at_right = arena.take<double>(n);
  std::span<double> out = arena.take<double>(n);
  std::fill(at_left.begin(), at_left.end(), 0.0);
  std::fill(at_right.begin(), at_right.end(), 0.0);
  for (std::ptrdiff_t i = 0; i < n; ++i) {
    if (begin(i) > 0) at_left[begin(i) - 1] += left_[i] * u[i];
    if (end(i) < n) at_right[end(i)] += right_[i] * u[i];
  }
  const Moments<0> from_right = decayed_scan<0>(decays_, Toward::left, {at_left}, arena, threads);
  const Moments<0> from_left = decayed_scan<0>(decays_, Toward::right, {at_right}, arena, threads);
  for_each_part(n, threads, [&](std::ptrdiff_t first, std::ptrdiff_t last) {
    for (std::ptrdiff_t j = first; j < last; ++j) {
      out[j] = inside_[j] * u[position_of_[j]] + (from_right[0][j] + from_left[0][j]);
    }
  });
  return out;
}

}  // namespace lapsum::cpu
