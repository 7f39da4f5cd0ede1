#include "families.h"
#include "weighted.h"

namespace lapsum::python {
namespace {

template <class T>
void bind(nb::module_& m) {
  bind_inverse<T>(m, "soft_quantile", soft_quantile<T>, soft_quantile_vjp<T>, soft_quantile_jvp<T>);
  bind_weighted_inverse<T>(m, "weighted_soft_quantile", weighted_soft_quantile<T>,
                           weighted_soft_quantile_vjp<T>, weighted_soft_quantile_jvp<T>);
}

}  // namespace

void bind_soft_quantile(nb::module_& m) {
  bind<float>(m);
  bind<double>(m);
}

}  // namespace lapsum::python
