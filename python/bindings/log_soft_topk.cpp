#include "addresses.h"
#include "families.h"
#include "weighted.h"

namespace lapsum::python {
namespace {

template <class T>
void bind(nb::module_& m) {
  bind_mask<T>(m, "log_soft_topk", log_soft_topk<T>, log_soft_topk_vjp<T>, log_soft_topk_jvp<T>);
  bind_mask_at<T>(m, "log_soft_topk", log_soft_topk<T>, log_soft_topk_vjp<T>);
}

template <class T>
void bind_weighted(nb::module_& m) {
  bind_weighted_mask<T>(m, "weighted_log_soft_topk", weighted_log_soft_topk<T>,
                        weighted_log_soft_topk_vjp<T>, weighted_log_soft_topk_jvp<T>);
}

}  // namespace

void bind_log_soft_topk(nb::module_& m) {
  bind<float>(m);
  bind<double>(m);
  bind<Half>(m);
  bind<Bfloat16>(m);
  bind_weighted<float>(m);
  bind_weighted<double>(m);
}

}  // namespace lapsum::python
