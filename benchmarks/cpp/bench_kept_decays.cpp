// The two passes of a mask whose decays are kept, the one that does without them, and the whole, from a
// sample or from a guess; at k = n / 2, beside the way that other rows go.
#include "cpu/primitives/density.h"
#include "cpu/primitives/guessed_mask.h"
#include "cpu/primitives/kept_decays.h"
#include "cpu/primitives/kept_mask.h"
#include "cpu/primitives/threshold.h"
#include "rows.h"

namespace lapsum::bench {
namespace {

constexpr cpu::Outlook kFrom{-0.0625, 0.0625, 0.01, 0.1};

template <class T, class Body>
void pass(benchmark::State& state, Body body) {
  const std::ptrdiff_t n = state.range(0);
  const std::vector<T> x = normals<T>(n);
  std::vector<T> out(x.size());
  std::vector<cpu::Place<T>> inside(x.size() + cpu::kMostKeptLanes);
  for (auto _ : state) {
    body(x.data(), n, out.data(), inside.data());
    benchmark::DoNotOptimize(out.data());
  }
  count_elements(state);
}

template <class T>
void keep_decays(benchmark::State& state) {
  pass<T>(state, [](const T* x, std::ptrdiff_t n, T* out, cpu::Place<T>* inside) {
    cpu::keep_decays(x, n, 1, kFrom, out, inside, n);
  });
}
template <class T>
void mask_from_decays(benchmark::State& state) {
  pass<T>(state, [](const T* x, std::ptrdiff_t n, T* out, cpu::Place<T>*) {
    cpu::mask_from_decays(x, n, kFrom, 0.1, out);
  });
}
template <class T>
void mask_sides(benchmark::State& state) {
  pass<T>(state, [](const T* x, std::ptrdiff_t n, T* out, cpu::Place<T>* inside) {
    cpu::mask_sides(x, n, 1, kFrom, out, inside, n);
  });
}

void chunk(benchmark::internal::Benchmark* b) { b->ArgName("n")->Arg(1000)->Arg(16384); }
BENCHMARK(keep_decays<float>)->Apply(chunk);
BENCHMARK(keep_decays<double>)->Apply(chunk);
BENCHMARK(mask_from_decays<float>)->Apply(chunk);
BENCHMARK(mask_from_decays<double>)->Apply(chunk);
BENCHMARK(mask_sides<float>)->Apply(chunk);
BENCHMARK(mask_sides<double>)->Apply(chunk);

template <class T, class Body>
void mask(benchmark::State& state, Body body) {
  const std::ptrdiff_t n = state.range(0);
  const double alpha = alpha_of(state.range(1)), k = 0.5 * double(n) + 0.3;
  const std::vector<T> x = normals<T>(n);
  std::vector<T> p(x.size());
  cpu::Arena arena;
  for (auto _ : state) {
    const cpu::Arena::Scope scope(arena);
    if (!body(x.data(), n, k, alpha, p.data(), arena)) {
      state.SkipWithError("such rows go the other way");
      break;
    }
    benchmark::DoNotOptimize(p.data());
  }
  count_elements(state);
}

template <class T>
void mask_keeping_decays(benchmark::State& state) {
  mask<T>(state, [](const T* x, std::ptrdiff_t n, double k, double alpha, T* p, cpu::Arena& arena) {
    return cpu::mask_keeping_decays(x, n, 1, k, alpha, p, arena, 1).has_value();
  });
}
template <class T>
void mask_from_guess(benchmark::State& state) {
  mask<T>(state, [](const T* x, std::ptrdiff_t n, double k, double alpha, T* p, cpu::Arena& arena) {
    return cpu::mask_from_guess(x, n, 1, k, alpha, p, arena).has_value();
  });
}
template <class T>
void mask_in_turn(benchmark::State& state) {
  mask<T>(state, [](const T* x, std::ptrdiff_t n, double k, double alpha, T* p, cpu::Arena& arena) {
    Threshold b;
    cpu::solve_thresholds(x, n, 1, {&k, 1}, alpha, {&b, 1}, arena, 1);
    cpu::cdf_at(x, n, 1, b, alpha, p);
    return true;
  });
}

void long_rows(benchmark::internal::Benchmark* b) {
  b->ArgNames({"n", "log10_alpha"});
  b->ArgsProduct({{2000, 10000, 1000000}, {-4, -2, -1, 2}});
}
void rows_in_caches(benchmark::internal::Benchmark* b) {
  b->ArgNames({"n", "log10_alpha"});
  b->ArgsProduct({{cpu::kLeastGuessed, 1000, 2000, 10000}, {-4, -2, -1, 2}});
}
BENCHMARK(mask_from_guess<float>)->Apply(rows_in_caches);
BENCHMARK(mask_keeping_decays<float>)->Apply(long_rows);
BENCHMARK(mask_in_turn<float>)->Apply(long_rows);
BENCHMARK(mask_keeping_decays<double>)->Apply(long_rows);
BENCHMARK(mask_in_turn<double>)->Apply(long_rows);

}  // namespace
}  // namespace lapsum::bench
