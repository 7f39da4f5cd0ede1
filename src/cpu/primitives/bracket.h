// One pass over a row around a bracket: what lies outside becomes two decayed sums, what lies
// inside is kept.
#pragma once

#include <cstddef>

namespace lapsum::cpu {

/// Values r <= lo are left, r >= hi (and not left) right, what remains, and NaN, is inside.
/// Sums are those of e^{-(lo - r) / alpha} and e^{-(r - hi) / alpha}.
struct Bracketed {
  std::ptrdiff_t left = 0, inside = 0;
  double left_sum = 0, right_sum = 0;
};

/// Softness that the vector kernels can take: its reciprocal and multiples stay normal numbers.
inline bool is_plain(double alpha) { return alpha > 1e-290 && alpha < 1e290; }

/// Distances in units of alpha.
class InAlphas {
 public:
  explicit InAlphas(double alpha) : alpha_(alpha), rate_(1 / alpha), plain_(is_plain(alpha)) {}
  double operator()(double distance) const { return plain_ ? distance * rate_ : distance / alpha_; }

 private:
  double alpha_, rate_;
  bool plain_;
};

/// r = sign * x; lo <= hi are numbers of T, and may be infinite, with a sum of 0 beyond. The values
/// inside go to `inside`, in order, which must hold n.
/// Sums of floats and half types are within 1e-8 of themselves plus 1, for the element at the end
/// counts 1; those of doubles within a few ulp. alpha must be plain.
template <class T>
Bracketed bracket(const T* x, std::ptrdiff_t n, double sign, double lo, double hi, double alpha,
                  T* inside);

}  // namespace lapsum::cpu
