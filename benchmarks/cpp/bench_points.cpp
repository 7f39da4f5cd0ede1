// Points in a sorted row: finding them by value and by level.
#include "cpu/primitives/points.h"
#include "cpu/primitives/stepped_levels.h"
#include "rows.h"

namespace lapsum::bench {
namespace {

void solve_levels(benchmark::State& state) {
  const std::vector<double> row = sorted_normals(state.range(0));
  const auto levels = cpu::RowLevels::in_steps(0.5, state.range(0));
  cpu::Arena arena;
  const cpu::Decays decays = cpu::make_decays(row, alpha_of(state.range(1)), arena, 1);
  const cpu::Scans<0> ones = cpu::scan_both<0>(decays, {}, arena, 1);
  for (auto _ : state) {
    const cpu::Arena::Scope scope(arena);
    benchmark::DoNotOptimize(cpu::solve_levels(decays, ones, levels, arena, 1).b.data());
  }
  count_elements(state);
}
BENCHMARK(solve_levels)->Apply(lengths_and_alphas);

// With the scans of a row of float.
void step_values(benchmark::State& state) {
  const std::vector<double> row = sorted_normals(state.range(0));
  const auto levels = cpu::RowLevels::in_steps(0.5, state.range(0));
  cpu::Arena arena;
  for (auto _ : state) {
    const cpu::Arena::Scope scope(arena);
    cpu::step_values(
        row, alpha_of(state.range(1)), levels, arena, 1,
        [](std::ptrdiff_t, std::span<double> values) { benchmark::DoNotOptimize(values.data()); });
  }
  count_elements(state);
}
BENCHMARK(step_values)->Apply(lengths_and_alphas);

void locate(benchmark::State& state) {
  const std::vector<double> row = sorted_normals(state.range(0));
  const std::vector<double> x = normals(state.range(0));
  cpu::Arena arena;
  const cpu::Decays decays = cpu::make_decays(row, alpha_of(state.range(1)), arena, 1);
  for (auto _ : state) {
    const cpu::Arena::Scope scope(arena);
    benchmark::DoNotOptimize(cpu::locate(decays, x, true, arena, 1).data());
  }
  count_elements(state);
}
BENCHMARK(locate)->Apply(lengths_and_alphas);

}  // namespace
}  // namespace lapsum::bench
