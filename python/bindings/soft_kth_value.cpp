#include "families.h"
#include "weighted.h"

namespace lapsum::python {
namespace {

template <class T>
void bind(nb::module_& m) {
  bind_inverse<T, Order>(m, "soft_kth_value", soft_kth_value<T>, soft_kth_value_vjp<T>,
                         soft_kth_value_jvp<T>);
  bind_weighted_inverse<T, Order>(m, "weighted_soft_kth_value", weighted_soft_kth_value<T>,
                                  weighted_soft_kth_value_vjp<T>, weighted_soft_kth_value_jvp<T>);
}

}  // namespace

void bind_soft_kth_value(nb::module_& m) {
  bind<float>(m);
  bind<double>(m);
}

}  // namespace lapsum::python
