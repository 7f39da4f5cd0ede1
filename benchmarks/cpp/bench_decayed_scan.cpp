// Decays of a sorted row, and scans of every order over them.
#include "cpu/primitives/decayed_scan.h"
#include "rows.h"

namespace lapsum::bench {
namespace {

void make_decays(benchmark::State& state) {
  const std::vector<double> row = sorted_normals(state.range(0));
  cpu::Arena arena;
  for (auto _ : state) {
    const cpu::Arena::Scope scope(arena);
    benchmark::DoNotOptimize(cpu::make_decays(row, alpha_of(state.range(1)), arena, 1));
  }
  count_elements(state);
}
BENCHMARK(make_decays)->Apply(lengths_and_alphas);

enum Sources { ones, weights };

template <int Order, Sources sources>
void decayed_scan(benchmark::State& state) {
  const std::vector<double> row = sorted_normals(state.range(0));
  const std::vector<double> values = normals(state.range(0));
  cpu::Arena arena;
  const cpu::Decays decays = cpu::make_decays(row, alpha_of(state.range(1)), arena, 1);
  cpu::Weights<Order> w{};
  if (sources == weights) w[0] = values;
  for (auto _ : state) {
    const cpu::Arena::Scope scope(arena);
    benchmark::DoNotOptimize(
        cpu::decayed_scan<Order>(decays, cpu::Toward::right, w, arena, 1)[0].data());
  }
  count_elements(state);
}
BENCHMARK_TEMPLATE(decayed_scan, 0, ones)->Apply(lengths_and_alphas);
BENCHMARK_TEMPLATE(decayed_scan, 0, weights)->Apply(lengths_and_alphas);
BENCHMARK_TEMPLATE(decayed_scan, 1, weights)->Apply(lengths_and_alphas);

}  // namespace
}  // namespace lapsum::bench
