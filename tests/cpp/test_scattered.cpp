// Results come to their elements by every way, in rows and on threads of every kind.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

#include "cpu/primitives/scattered.h"

namespace lapsum::cpu {
namespace {

template <class T>
class ScatteredTest : public testing::Test {};
using Types = testing::Types<float, double, Half>;
TYPED_TEST_SUITE(ScatteredTest, Types);

// Up to 2^11, so that halves tell neighbours apart.
double result(std::ptrdiff_t j) { return static_cast<double>(j % 2039); }

TYPED_TEST(ScatteredTest, brings_every_result_to_its_element) {
  using T = TypeParam;
  std::mt19937 random(7);
  Arena arena;
  for (const std::ptrdiff_t n : {1, 2, 1000, 16384, 16385, 40001, 262144, 262145, 2200003}) {
    std::vector<Index> elements(static_cast<std::size_t>(n));
    std::iota(elements.begin(), elements.end(), Index{0});
    std::shuffle(elements.begin(), elements.end(), random);
    elements.resize(static_cast<std::size_t>(n - n / 100));  // some get no result
    const std::ptrdiff_t count = std::ssize(elements);
    for (const int threads : {1, 2, 5}) {
      const Arena::Scope scope(arena);
      const T untouched = Element<T>::round(-1);
      std::vector<T> out(static_cast<std::size_t>(n), untouched);
      Scattered<T> results(elements, n, out.data(), arena, threads);
      for_each_chunk(count, threads, [&](std::ptrdiff_t begin, std::ptrdiff_t end) {
        results.put(begin, end, [](std::ptrdiff_t j, int size, double* to) {
          for (int l = 0; l < size; ++l) to[l] = result(j + l);
        });
      });
      results.finish();
      std::ptrdiff_t wrong = 0;
      for (std::ptrdiff_t j = 0; j < count; ++j) {
        T& at = out[elements[static_cast<std::size_t>(j)]];
        wrong += to_double(at) != result(j);
        at = untouched;
      }
      for (const T& at : out) wrong += to_double(at) != -1;
      EXPECT_EQ(wrong, 0) << n << " elements, " << threads << " threads";
    }
  }
}

}  // namespace
}  // namespace lapsum::cpu
