// Both CDFs on one side of zero: e^-nearest (1 - e^-width) / 2. Zero between them: (1 - e^-a) / 2 +
// (1 - e^-b) / 2.
#include "cpu/primitives/interval_mass.h"

#include <cmath>

#include "cpu/primitives/laplace.h"
#include "cpu/primitives/softmax.h"

namespace lapsum::cpu {

void interval_mass(std::span<const double> r, const Threshold* lower, const Threshold* upper,
                   double alpha, std::ptrdiff_t begin, std::ptrdiff_t end, double* mass) {
  const std::ptrdiff_t count = end - begin;
  double to_lower[kMassBlock];
  double to_upper[kMassBlock];
  double nearest[kMassBlock];
  double second[kMassBlock];
  std::fill_n(to_lower, count, -INFINITY);
  std::fill_n(to_upper, count, INFINITY);
  if (lower) distances(r, *lower, alpha, begin, end, to_lower);
  if (upper) distances(r, *upper, alpha, begin, end, to_upper);
  const double width =
      lower && upper ? ((upper->anchor - lower->anchor) + (upper->offset - lower->offset)) / alpha
                     : INFINITY;
  for (std::ptrdiff_t j = 0; j < count; ++j) {
    const bool inside = to_lower[j] < 0 && to_upper[j] > 0;
    mass[j] = inside ? to_upper[j] : std::max(width, 0.0);
    second[j] = inside ? -to_lower[j] : 0;
    nearest[j] = inside ? 0 : std::min(std::abs(to_lower[j]), std::abs(to_upper[j]));
  }
  decay_loss(mass, count, mass);
  decay_loss(second, count, second);
  exp_abs(nearest, count, nearest);
  for (std::ptrdiff_t j = 0; j < count; ++j) {
    mass[j] = 0.5 * (nearest[j] * mass[j] + second[j]);
  }
}

}  // namespace lapsum::cpu
