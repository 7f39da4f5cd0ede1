// A row seen from a threshold: distances, and the softmax that carries all derivatives, without and
// with weights of the elements.
#pragma once

#include <cmath>
#include <span>

#include "cpu/primitives/arena.h"
#include "cpu/primitives/parallel.h"
#include "lapsum/rows.h"

namespace lapsum::cpu {

/// z[i] = (b - r[i]) / alpha on [begin, end).
inline void distances(std::span<const double> r, const Threshold& b, double alpha,
                      std::ptrdiff_t begin, std::ptrdiff_t end, double* z) {
  for (std::ptrdiff_t i = begin; i < end; ++i) {
    z[i - begin] = ((b.anchor - r[i]) + b.offset) / alpha;
  }
}

/// The softmax q = e / total over a row at a finite threshold, e[i] = e^{nearest - |z[i]|}, where
/// `nearest` is the least |z|: exact on a plateau too, where every e^-|z| underflows.
/// z is cut to +-kCut, and infinite elements have weight 0 and z = 0: no product is NaN.
struct Softmax {
  static constexpr double kCut = 1e300;

  std::span<double> z, e;
  double nearest = 0, total = 0;

  /// e[i] times this is e^-|z[i]|.
  double scale() const { return std::exp(-nearest); }

  /// <q, f>, f(i) being called for every element.
  template <class F>
  double mean(int threads, F&& f) const {
    return sum_over(std::ssize(e), threads, [&](std::ptrdiff_t i) { return e[i] * f(i); }) / total;
  }
};

Softmax softmax_at(std::span<const double> r, const Threshold& b, double alpha, Arena& arena,
                   int threads);

/// q[i] = w[i] e[i] / total at a finite threshold, e[i] = e^{nearest - |z[i]|}, where `nearest` is
/// the least |z| of an element with weight: exact on a plateau too, where every e^-|z| underflows. An
/// element without weight may lie nearer, with e above 1. z is cut to +-kCut, for infinite
/// elements too, whose e is 0: no product is NaN.
struct WeightedSoftmax {
  static constexpr double kCut = 1e300;
  static constexpr double kMost = 1e300;

  std::span<const double> w;
  std::span<double> z, e;
  double nearest = 0, total = 0;
  double rate = 0;  ///< 1 / sum_i w[i] e^-|z[i]|, cut to kMost: it has no bound on a plateau

  double q(std::ptrdiff_t i) const { return w[i] * e[i] / total; }
  /// e^-|z[i]| times the rate: d F(z[i]) / dk.
  double lift(std::ptrdiff_t i) const { return std::fmin(e[i] / total, kMost); }

  /// <q, f>, f(i) being called for every element.
  template <class F>
  double mean(int threads, F&& f) const {
    return sum_over(std::ssize(e), threads, [&](std::ptrdiff_t i) { return w[i] * e[i] * f(i); }) /
           total;
  }
};

/// There must be a finite element with weight.
WeightedSoftmax weighted_softmax_at(std::span<const double> r, std::span<const double> w,
                                    const Threshold& b, double alpha, Arena& arena, int threads);

}  // namespace lapsum::cpu
