// Results to their elements, by one thread and by two.
#include <numeric>

#include "cpu/primitives/scattered.h"
#include "rows.h"

namespace lapsum::bench {
namespace {

void scattered(benchmark::State& state) {
  const std::ptrdiff_t n = state.range(0);
  const auto threads = static_cast<int>(state.range(1));
  std::vector<cpu::Index> elements(static_cast<std::size_t>(n));
  std::iota(elements.begin(), elements.end(), cpu::Index{0});
  std::shuffle(elements.begin(), elements.end(), std::mt19937_64(1));
  std::vector<float> out(elements.size());
  cpu::Arena arena;
  for (auto _ : state) {
    const cpu::Arena::Scope scope(arena);
    cpu::Scattered<float> results(elements, n, out.data(), arena, threads);
    cpu::for_each_chunk(n, threads, [&](std::ptrdiff_t begin, std::ptrdiff_t end) {
      results.put(begin, end, [](std::ptrdiff_t j, int count, double* to) {
        for (int l = 0; l < count; ++l) to[l] = static_cast<double>(j + l);
      });
    });
    results.finish();
    benchmark::DoNotOptimize(out.data());
  }
  count_elements(state);
}
BENCHMARK(scattered)
    ->ArgNames({"n", "threads"})
    ->ArgsProduct({{10000, 100000, 1000000}, {1, 2}})
    ->UseRealTime();

}  // namespace
}  // namespace lapsum::bench
