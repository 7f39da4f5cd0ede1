// Masks of short rows: several rows side by side, each alone across the lanes, and row by row as long
// rows are. kLaneLength is where these lines cross.
#include <span>

#include "cpu/primitives/density.h"
#include "cpu/primitives/lanes.h"
#include "cpu/primitives/threshold.h"
#include "rows.h"

namespace lapsum::bench {
namespace {

double level(std::ptrdiff_t n) { return 0.5 * double(n) + 0.3; }

template <class T>
void solve(benchmark::State& state, cpu::Layout layout) {
  const std::ptrdiff_t n = state.range(0), rows = cpu::lane_rows();
  const double alpha = alpha_of(state.range(1));
  const std::vector<T> x = normals<T>(rows * n);
  std::vector<T> p(x.size());
  cpu::Arena arena;
  for (auto _ : state) {
    const cpu::Arena::Scope scope(arena);
    std::vector<cpu::Lane<T>> lanes;
    for (std::ptrdiff_t i = 0; i < rows; ++i) {
      lanes.push_back({x.data() + i * n, 1, level(n), alpha, p.data() + i * n});
    }
    cpu::solve_lanes(std::span(lanes), n, arena, layout);
    benchmark::DoNotOptimize(p.data());
  }
  state.SetItemsProcessed(state.iterations() * rows * n);
}

template <class T>
void lanes_tile(benchmark::State& state) {
  solve<T>(state, cpu::Layout::tile);
}
template <class T>
void lanes_alone(benchmark::State& state) {
  solve<T>(state, cpu::Layout::alone);
}

template <class T>
void lanes_not_used(benchmark::State& state) {
  const std::ptrdiff_t n = state.range(0), rows = 16;
  const double alpha = alpha_of(state.range(1)), k = level(n);
  const std::vector<T> x = normals<T>(rows * n);
  std::vector<T> p(x.size());
  cpu::Arena arena;
  for (auto _ : state) {
    for (std::ptrdiff_t i = 0; i < rows; ++i) {
      const cpu::Arena::Scope scope(arena);
      Threshold b;
      cpu::solve_thresholds(x.data() + i * n, n, 1, {&k, 1}, alpha, {&b, 1}, arena, 1);
      cpu::cdf_at(x.data() + i * n, n, 1, b, alpha, p.data() + i * n);
    }
    benchmark::DoNotOptimize(p.data());
  }
  state.SetItemsProcessed(state.iterations() * rows * n);
}

void short_lengths(benchmark::internal::Benchmark* b) {
  b->ArgNames({"n", "log10_alpha"});
  b->ArgsProduct({{16, 64, 256, 512, 1000}, {-3, -1, 0}});
}
BENCHMARK(lanes_tile<float>)->Apply(short_lengths);
BENCHMARK(lanes_alone<float>)->Apply(short_lengths);
BENCHMARK(lanes_not_used<float>)->Apply(short_lengths);
BENCHMARK(lanes_tile<double>)->Apply(short_lengths);
BENCHMARK(lanes_alone<double>)->Apply(short_lengths);
BENCHMARK(lanes_not_used<double>)->Apply(short_lengths);

}  // namespace
}  // namespace lapsum::bench
