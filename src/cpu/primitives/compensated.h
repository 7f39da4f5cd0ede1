// Sums that lose nothing to rounding: a double with the rest that it could not hold.
#pragma once

namespace lapsum::cpu {

/// A sum with the rounding errors of its additions carried along (Knuth).
struct Compensated {
  double sum = 0, rest = 0;

  double value() const { return sum + rest; }
  void add(double x) {
    const double total = sum + x;
    const double part = total - sum;
    rest += (sum - (total - part)) + (x - part);
    sum = total;
  }
  /// This less `other`, rounded once the digits that both have are gone.
  double minus(const Compensated& other) const { return (sum - other.sum) + (rest - other.rest); }
};

}  // namespace lapsum::cpu
