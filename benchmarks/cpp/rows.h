// Rows to measure on, and the sizes and alphas that every benchmark goes through.
#pragma once

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

namespace lapsum::bench {

/// Standard normal values, the same on every run.
template <class T = double>
std::vector<T> normals(std::ptrdiff_t n) {
  std::mt19937_64 bits(static_cast<std::uint64_t>(n));
  std::normal_distribution<double> normal;
  std::vector<T> out(static_cast<std::size_t>(n));
  for (T& value : out) value = static_cast<T>(normal(bits));
  return out;
}

inline std::vector<double> sorted_normals(std::ptrdiff_t n) {
  std::vector<double> out = normals(n);
  std::sort(out.begin(), out.end());
  return out;
}

/// Google Benchmark takes whole numbers: alpha is given as its power of ten.
inline double alpha_of(std::int64_t exponent) { return std::pow(10.0, double(exponent)); }

/// One row, short to long, hard to soft.
inline void lengths_and_alphas(benchmark::internal::Benchmark* b) {
  b->ArgNames({"n", "log10_alpha"});
  b->ArgsProduct({{100, 1000, 10000, 1000000}, {-4, -1, 2}});
}

inline void lengths(benchmark::internal::Benchmark* b) {
  b->ArgName("n")->Arg(100)->Arg(1000)->Arg(10000)->Arg(1000000);
}

/// Elements per second.
inline void count_elements(benchmark::State& state) {
  state.SetItemsProcessed(state.iterations() * state.range(0));
}

}  // namespace lapsum::bench
