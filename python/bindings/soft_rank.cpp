#include "addresses.h"
#include "families.h"
#include "weighted.h"

namespace lapsum::python {
namespace {

template <class T>
void bind(nb::module_& m) {
  bind_ordered<T>(m, "soft_rank", soft_rank<T>, soft_rank_vjp<T>, soft_rank_jvp<T>);
  bind_ordered_at<T>(m, "soft_rank", soft_rank<T>, soft_rank_vjp<T>);
  bind_weighted_ordered<T>(m, "weighted_soft_rank", weighted_soft_rank<T>,
                           weighted_soft_rank_vjp<T>, weighted_soft_rank_jvp<T>);
}

}  // namespace

void bind_soft_rank(nb::module_& m) {
  bind<float>(m);
  bind<double>(m);
}

}  // namespace lapsum::python
