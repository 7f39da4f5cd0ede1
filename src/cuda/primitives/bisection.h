// Bisection in a sorted array, by one thread.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>

namespace lapsum::gpu {

/// How many i of [begin, end) have holds(i), which is true up to some i and false after it.
template <class Holds>
__device__ std::ptrdiff_t count_while(std::ptrdiff_t begin, std::ptrdiff_t end,
                                      const Holds& holds) {
  const std::ptrdiff_t first = begin;
  while (begin < end) {
    const std::ptrdiff_t middle = begin + (end - begin) / 2;
    if (holds(middle)) {
      begin = middle + 1;
    } else {
      end = middle;
    }
  }
  return begin - first;
}

/// Whether at[i] < x, or at[i] <= x if `or_equal`.
template <class T>
struct IsBelow {
  const T* at;
  T x;
  bool or_equal;
  __device__ bool operator()(std::ptrdiff_t i) const { return or_equal ? at[i] <= x : at[i] < x; }
};

}  // namespace lapsum::gpu
