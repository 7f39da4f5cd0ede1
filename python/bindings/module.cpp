// The Python module: raw arrays in and out, for every front end.
#include "arrays.h"

NB_MODULE(_core, m) {
  using namespace lapsum::python;
  m.doc() = "LapSum on raw 2-D arrays; outputs are given by the caller. Use the package `lapsum`.";
  bind_lap_kernel(m);
  bind_lap_sum(m);
  bind_lap_sum_inverse(m);
  bind_log_soft_topk(m);
  bind_soft_kth_value(m);
  bind_soft_permutation(m);
  bind_soft_permute(m);
  bind_soft_quantile(m);
  bind_soft_rank(m);
  bind_soft_sort(m);
  bind_soft_topk(m);
  m.def("simd_target", lapsum::simd_target);
  m.attr("argsort_from_float32") = lapsum::kArgsortFrom<float>;
  m.attr("argsort_from_float64") = lapsum::kArgsortFrom<double>;
}
