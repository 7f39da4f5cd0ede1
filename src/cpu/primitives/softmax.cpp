// The least distance is found first, so that the largest weight is 1.
#include "cpu/primitives/softmax.h"

#include <algorithm>

#include "cpu/primitives/laplace.h"

namespace lapsum::cpu {
namespace {

struct Least {
  double value = INFINITY;
  Least& operator+=(const Least& other) {
    value = std::min(value, other.value);
    return *this;
  }
};

}  // namespace

Softmax softmax_at(std::span<const double> r, const Threshold& b, double alpha, Arena& arena,
                   int threads) {
  const std::ptrdiff_t n = std::ssize(r);
  Softmax out{arena.take<double>(n), arena.take<double>(n)};
  out.nearest = sum_chunks<Least>(n, threads, [&](std::ptrdiff_t begin, std::ptrdiff_t end) {
                  distances(r, b, alpha, begin, end, out.z.data() + begin);
                  Least least;
                  for (std::ptrdiff_t i = begin; i < end; ++i) {
                    const bool far = std::isinf(r[i]);
                    out.z[i] = far ? 0 : std::clamp(out.z[i], -Softmax::kCut, Softmax::kCut);
                    out.e[i] = far ? INFINITY : std::abs(out.z[i]);
                    least.value = std::min(least.value, out.e[i]);
                  }
                  return least;
                }).value;
  out.total = sum_chunks<double>(n, threads, [&](std::ptrdiff_t begin, std::ptrdiff_t end) {
    for (std::ptrdiff_t i = begin; i < end; ++i) out.e[i] -= out.nearest;
    exp_abs(out.e.data() + begin, end - begin, out.e.data() + begin);
    double sum = 0;
    for (std::ptrdiff_t i = begin; i < end; ++i) sum += out.e[i];
    return sum;
  });
  return out;
}

WeightedSoftmax weighted_softmax_at(std::span<const double> r, std::span<const double> w,
                                    const Threshold& b, double alpha, Arena& arena, int threads) {
  const std::ptrdiff_t n = std::ssize(r);
  WeightedSoftmax out{w, arena.take<double>(n), arena.take<double>(n)};
  constexpr double kCut = WeightedSoftmax::kCut;
  out.nearest = sum_chunks<Least>(n, threads, [&](std::ptrdiff_t begin, std::ptrdiff_t end) {
                  distances(r, b, alpha, begin, end, out.z.data() + begin);
                  Least least;
                  for (std::ptrdiff_t i = begin; i < end; ++i) {
                    out.z[i] = std::clamp(out.z[i], -kCut, kCut);
                    out.e[i] = std::isinf(r[i]) ? INFINITY : std::abs(out.z[i]);
                    if (w[i] > 0) least.value = std::min(least.value, out.e[i]);
                  }
                  return least;
                }).value;
  out.total = sum_chunks<double>(n, threads, [&](std::ptrdiff_t begin, std::ptrdiff_t end) {
    for (std::ptrdiff_t i = begin; i < end; ++i) out.e[i] -= out.nearest;
    exp_abs(out.e.data() + begin, end - begin, out.e.data() + begin);
    double sum = 0;
    for (std::ptrdiff_t i = begin; i < end; ++i) {
      const double nearer = out.nearest - std::abs(out.z[i]);
      constexpr double kLargest = 690;  // e to this is below kMost
      if (nearer > 0) out.e[i] = std::exp(std::min(nearer, kLargest));
      sum += w[i] * out.e[i];
    }
    return sum;
  });
  out.rate = std::min(std::exp(out.nearest) / out.total, WeightedSoftmax::kMost);
  return out;
}

}  // namespace lapsum::cpu
