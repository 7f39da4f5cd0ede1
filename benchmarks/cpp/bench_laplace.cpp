// The vectorised functions of an array.
#include "cpu/primitives/laplace.h"
#include "rows.h"

namespace lapsum::bench {
namespace {

using Function = void (*)(const double*, std::ptrdiff_t, double*);

void laplace(benchmark::State& state, Function function, bool positive) {
  std::vector<double> z = normals(state.range(0));
  if (positive) {
    for (double& value : z) value = std::abs(value);
  }
  std::vector<double> out(z.size());
  for (auto _ : state) {
    function(z.data(), state.range(0), out.data());
    benchmark::DoNotOptimize(out.data());
  }
  count_elements(state);
}
BENCHMARK_CAPTURE(laplace, exp_abs, cpu::exp_abs, false)->Apply(lengths);
BENCHMARK_CAPTURE(laplace, decay_loss, cpu::decay_loss, true)->Apply(lengths);
BENCHMARK_CAPTURE(laplace, cdf, cpu::cdf, false)->Apply(lengths);

}  // namespace
}  // namespace lapsum::bench
