// A number with its derivative along one direction: definitions written for any scalar
// differentiate themselves.
#pragma once

#include <cmath>

namespace lapsum::reference {

using Real = long double;

struct Dual {
  Real value = 0, slope = 0;

  Dual() = default;
  Dual(Real value, Real slope = 0) : value(value), slope(slope) {}

  friend Dual operator-(Dual a) { return {-a.value, -a.slope}; }
  friend Dual operator+(Dual a, Dual b) { return {a.value + b.value, a.slope + b.slope}; }
  friend Dual operator-(Dual a, Dual b) { return {a.value - b.value, a.slope - b.slope}; }
  friend Dual operator*(Dual a, Dual b) {
    return {a.value * b.value, a.slope * b.value + a.value * b.slope};
  }
  friend Dual operator/(Dual a, Dual b) {
    const Real ratio = a.value / b.value;
    return {ratio, (a.slope - ratio * b.slope) / b.value};
  }
  friend Dual exp(Dual a) { return {std::exp(a.value), std::exp(a.value) * a.slope}; }
  friend Dual log1p(Dual a) { return {std::log1p(a.value), a.slope / (1 + a.value)}; }
};

inline Real value_of(Real a) { return a; }
inline Real value_of(Dual a) { return a.value; }

inline bool is_zero(Real a) { return a == 0; }
inline bool is_zero(Dual a) { return a.value == 0 && a.slope == 0; }

}  // namespace lapsum::reference
