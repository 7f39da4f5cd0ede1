// A row seen from a threshold: masks, their logarithms, and the gradient of one level.
#include "cpu/primitives/density.h"
#include "rows.h"

namespace lapsum::bench {
namespace {

constexpr Threshold kThreshold{0.3, 0};
constexpr double kAlpha = 0.5;

template <class T>
using Map = void (*)(const T*, std::ptrdiff_t, double, const Threshold&, double, T*);

template <class T>
void map(benchmark::State& state, Map<T> function) {
  const std::vector<T> x = normals<T>(state.range(0));
  std::vector<T> out(x.size());
  for (auto _ : state) {
    function(x.data(), state.range(0), 1, kThreshold, kAlpha, out.data());
    benchmark::DoNotOptimize(out.data());
  }
  count_elements(state);
}
BENCHMARK_CAPTURE(map, cdf_float, Map<float>(cpu::cdf_at<float>))->Apply(lengths);
BENCHMARK_CAPTURE(map, cdf_double, Map<double>(cpu::cdf_at<double>))->Apply(lengths);
BENCHMARK_CAPTURE(map, log_cdf_float, Map<float>(cpu::log_cdf_at<float>))->Apply(lengths);
BENCHMARK_CAPTURE(map, log_cdf_double, Map<double>(cpu::log_cdf_at<double>))->Apply(lengths);

template <class T>
void weigh_and_pull(benchmark::State& state) {
  const std::ptrdiff_t n = state.range(0);
  const std::vector<T> x = normals<T>(n), g = normals<T>(n + 1);
  std::vector<T> out(x.size());
  for (auto _ : state) {
    const cpu::DensitySums sums =
        cpu::weigh(x.data(), g.data(), n, 1, kThreshold, kAlpha, out.data());
    cpu::pull_weighed(out.data(), g.data(), n, sums.g / sums.total, 1, out.data());
    benchmark::DoNotOptimize(out.data());
  }
  count_elements(state);
}
BENCHMARK(weigh_and_pull<float>)->Apply(lengths);
BENCHMARK(weigh_and_pull<double>)->Apply(lengths);

}  // namespace
}  // namespace lapsum::bench
