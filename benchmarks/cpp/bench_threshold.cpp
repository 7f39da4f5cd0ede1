// Thresholds without sorting, at few and at half of the elements, and five levels together.
#include "cpu/primitives/threshold.h"
#include "rows.h"

namespace lapsum::bench {
namespace {

void solve(benchmark::State& state, const std::vector<double>& levels) {
  const std::vector<double> row = normals(state.range(0));
  std::vector<Threshold> b(levels.size());
  cpu::Arena arena;
  for (auto _ : state) {
    const cpu::Arena::Scope scope(arena);
    cpu::solve_thresholds(row.data(), std::ssize(row), 1, levels, alpha_of(state.range(1)), b,
                          arena, 1);
    benchmark::DoNotOptimize(b.data());
  }
  count_elements(state);
}

void threshold_5(benchmark::State& state) { solve(state, {5}); }
void threshold_half(benchmark::State& state) { solve(state, {0.5 * double(state.range(0)) + 0.3}); }
void threshold_1_to_5(benchmark::State& state) { solve(state, {1, 2, 3, 4, 5}); }
BENCHMARK(threshold_5)->Apply(lengths_and_alphas);
BENCHMARK(threshold_half)->Apply(lengths_and_alphas);
BENCHMARK(threshold_1_to_5)->Apply(lengths_and_alphas);

}  // namespace
}  // namespace lapsum::bench
