#include "addresses.h"
#include "families.h"

namespace lapsum::python {
namespace {

template <class T>
void bind(nb::module_& m) {
  bind_ordered<T>(m, "soft_sort", soft_sort<T>, soft_sort_vjp<T>, soft_sort_jvp<T>);
  bind_ordered_at<T>(m, "soft_sort", soft_sort<T>, soft_sort_vjp<T>);
}

}  // namespace

void bind_soft_sort(nb::module_& m) {
  bind<float>(m);
  bind<double>(m);
}

}  // namespace lapsum::python
