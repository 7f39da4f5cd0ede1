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

// Both directions and the decays to the next value: in segments for rows of float, in blocks for rows of
// double.
template <class T>
void scan_ones(benchmark::State& state) {
  const std::vector<double> row = sorted_normals(state.range(0));
  const std::ptrdiff_t n = std::ssize(row);
  cpu::Arena arena;
  const auto room = [&] { return arena.take<double>(n).data(); };
  const cpu::OnesTo to{room(), room(), room()};
  for (auto _ : state) {
    const cpu::Arena::Scope scope(arena);
    cpu::scan_ones<T>(row, alpha_of(state.range(1)), to, arena, 1);
    benchmark::DoNotOptimize(to.right);
  }
  count_elements(state);
}
BENCHMARK_TEMPLATE(scan_ones, float)->Apply(lengths_and_alphas);
BENCHMARK_TEMPLATE(scan_ones, double)->Apply(lengths_and_alphas);

}  // namespace
}  // namespace lapsum::bench
