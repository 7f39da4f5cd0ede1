#include "families.h"
#include "weighted.h"

namespace lapsum::python {
namespace {

template <class T>
void bind(nb::module_& m) {
  bind_inverse<T>(m, "lap_sum_inverse", lap_sum_inverse<T>, lap_sum_inverse_vjp<T>,
                  lap_sum_inverse_jvp<T>);
  bind_weighted_inverse<T>(m, "weighted_lap_sum_inverse", weighted_lap_sum_inverse<T>,
                           weighted_lap_sum_inverse_vjp<T>, weighted_lap_sum_inverse_jvp<T>);
}

}  // namespace

void bind_lap_sum_inverse(nb::module_& m) {
  bind<float>(m);
  bind<double>(m);
}

}  // namespace lapsum::python
