// A row seen from a threshold: distances, and the softmax that carries all derivatives.
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

}  // namespace lapsum::cpu
