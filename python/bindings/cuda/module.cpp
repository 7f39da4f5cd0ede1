// The Python module of the CUDA operations: addresses in and out, for front ends with devices.
#include "arguments.h"

namespace lapsum::python {
namespace {

template <class T>
void bind_type(nb::module_& m, const std::string& type) {
#define LAPSUM_BIND(operation)                                  \
  bind(m, #operation "_" + type, cuda::operation<T>);           \
  bind(m, #operation "_vjp_" + type, cuda::operation##_vjp<T>); \
  bind(m, #operation "_jvp_" + type, cuda::operation##_jvp<T>);
  LAPSUM_BIND(lap_sum)
  LAPSUM_BIND(lap_sum_inverse)
  LAPSUM_BIND(log_soft_topk)
  LAPSUM_BIND(soft_kth_value)
  LAPSUM_BIND(soft_permutation)
  LAPSUM_BIND(soft_permute)
  LAPSUM_BIND(soft_quantile)
  LAPSUM_BIND(soft_rank)
  LAPSUM_BIND(soft_sort)
  LAPSUM_BIND(soft_topk)
#undef LAPSUM_BIND
  bind(m, "lap_kernel_" + type, cuda::lap_kernel<T>);
}

}  // namespace
}  // namespace lapsum::python

NB_MODULE(_cuda, m) {
  using namespace lapsum;
  using namespace lapsum::python;
  m.doc() = "LapSum on device memory; outputs and workspace are given by the caller.";
  bind_type<float>(m, "float32");
  bind_type<double>(m, "float64");
  bind_type<cuda::Half>(m, "float16");
  bind_type<cuda::Bfloat16>(m, "bfloat16");
  bind(m, "lap_kernel_workspace", cuda::lap_kernel_workspace);
  bind(m, "lap_sum_workspace", cuda::lap_sum_workspace);
  bind(m, "lap_sum_inverse_workspace", cuda::lap_sum_inverse_workspace);
  bind(m, "log_soft_topk_workspace", cuda::log_soft_topk_workspace);
  bind(m, "soft_kth_value_workspace", cuda::soft_kth_value_workspace);
  bind(m, "soft_permutation_workspace", cuda::soft_permutation_workspace);
  bind(m, "soft_permute_workspace", cuda::soft_permute_workspace);
  bind(m, "soft_quantile_workspace", cuda::soft_quantile_workspace);
  bind(m, "soft_rank_workspace", cuda::soft_rank_workspace);
  bind(m, "soft_sort_workspace", cuda::soft_sort_workspace);
  bind(m, "soft_topk_workspace", cuda::soft_topk_workspace);
}
