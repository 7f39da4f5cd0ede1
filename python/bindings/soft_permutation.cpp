#include "families.h"

namespace lapsum::python {
namespace {

template <class T>
void bind(nb::module_& m) {
  bind_ordered<T>(m, "soft_permutation", soft_permutation<T>, soft_permutation_vjp<T>,
                  soft_permutation_jvp<T>);
}

}  // namespace

void bind_soft_permutation(nb::module_& m) {
  bind<float>(m);
  bind<double>(m);
}

}  // namespace lapsum::python
