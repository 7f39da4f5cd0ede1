// Sorting a row, with and without the order of its elements.
#include "cpu/primitives/argsort.h"
#include "rows.h"

namespace lapsum::bench {
namespace {

enum Output { keys, order };

template <class T, Output output, cpu::Sorting sorting>
void argsort(benchmark::State& state) {
  const std::ptrdiff_t n = state.range(0);
  const std::vector<T> x = normals<T>(n);
  cpu::Arena arena;
  double* sorted = arena.take<double>(n).data();
  cpu::Index* elements = output == order ? arena.take<cpu::Index>(n).data() : nullptr;
  for (auto _ : state) {
    const cpu::Arena::Scope scope(arena);
    cpu::argsort(x.data(), n, false, sorted, elements, arena, static_cast<int>(state.range(1)),
                 sorting);
    benchmark::DoNotOptimize(sorted);
  }
  count_elements(state);
}

void by_one_and_two(benchmark::internal::Benchmark* b) {
  b->ArgNames({"n", "threads"})->UseRealTime();
  b->ArgsProduct({{100, 1000, 10000}, {1}});
  b->ArgsProduct({{100000, 1000000, 10000000}, {1, 2}});
}

// By digits where the values allow it, and by keys alone: they tell where each pays.
constexpr auto fastest = cpu::Sorting::fastest, compared = cpu::Sorting::compared;
BENCHMARK_TEMPLATE(argsort, float, order, fastest)->Apply(by_one_and_two);
BENCHMARK_TEMPLATE(argsort, float, order, compared)->Apply(by_one_and_two);
BENCHMARK_TEMPLATE(argsort, float, keys, fastest)->Apply(by_one_and_two);
BENCHMARK_TEMPLATE(argsort, double, order, fastest)->Apply(by_one_and_two);
BENCHMARK_TEMPLATE(argsort, double, order, compared)->Apply(by_one_and_two);
BENCHMARK_TEMPLATE(argsort, double, keys, fastest)->Apply(by_one_and_two);
BENCHMARK_TEMPLATE(argsort, double, keys, compared)->Apply(by_one_and_two);

}  // namespace
}  // namespace lapsum::bench
