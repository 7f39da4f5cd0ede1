// Sorting a row, with and without the order of its elements.
#include "cpu/primitives/argsort.h"
#include "rows.h"

namespace lapsum::bench {
namespace {

enum Output { keys, order };

template <class T, Output output>
void argsort(benchmark::State& state) {
  const std::ptrdiff_t n = state.range(0);
  const std::vector<T> x = normals<T>(n);
  std::vector<double> sorted(x.size());
  std::vector<cpu::Index> elements(x.size());
  cpu::Arena arena;
  for (auto _ : state) {
    const cpu::Arena::Scope scope(arena);
    cpu::argsort(x.data(), n, false, sorted.data(), output == order ? elements.data() : nullptr,
                 arena, 1);
    benchmark::DoNotOptimize(sorted.data());
  }
  count_elements(state);
}

BENCHMARK_TEMPLATE(argsort, float, order)->Apply(lengths);
BENCHMARK_TEMPLATE(argsort, float, keys)->Apply(lengths);
BENCHMARK_TEMPLATE(argsort, double, order)->Apply(lengths);
BENCHMARK_TEMPLATE(argsort, double, keys)->Apply(lengths);

}  // namespace
}  // namespace lapsum::bench
