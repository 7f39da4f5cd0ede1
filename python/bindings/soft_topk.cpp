#include "addresses.h"
#include "families.h"

namespace lapsum::python {
namespace {

template <class T>
void bind(nb::module_& m) {
  bind_mask<T>(m, "soft_topk", soft_topk<T>, soft_topk_vjp<T>, soft_topk_jvp<T>);
  bind_mask_at<T>(m, "soft_topk", soft_topk<T>, soft_topk_vjp<T>);
}

}  // namespace

void bind_soft_topk(nb::module_& m) {
  bind<float>(m);
  bind<double>(m);
}

}  // namespace lapsum::python
