// What kernels may do: threads, barriers, warps, shared memory and launches behave as CUDA says.
#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <set>
#include <vector>

#include "executor/schedule.h"
#include "launch.h"

namespace {

template <class T, int kThreads>
__global__ void reverse(const T* in, T* out) {
  __shared__ T tile[kThreads];
  const int i = threadIdx.x;
  tile[i] = in[blockIdx.x * kThreads + i];
  __syncthreads();
  out[blockIdx.x * kThreads + i] = tile[kThreads - 1 - i];
}

template <class T>
void expect_reversed() {
  constexpr int kThreads = 192, kBlocks = 500;
  std::vector<T> in(kThreads * kBlocks), out(in.size());
  std::iota(in.begin(), in.end(), T{});
  executor::under_every_schedule([&] {
    std::fill(out.begin(), out.end(), T{});
    ASSERT_EQ(cudaSuccess,
              launch(reverse<T, kThreads>, kBlocks, kThreads, 0, in.data(), out.data()));
    for (int b = 0; b < kBlocks; ++b) {
      for (int i = 0; i < kThreads; ++i) {
        ASSERT_EQ(in[b * kThreads + i], out[b * kThreads + kThreads - 1 - i]);
      }
    }
  });
}

TEST(Executor, StaticSharedMemory) {
  expect_reversed<float>();
  expect_reversed<double>();
  expect_reversed<int>();
}

__global__ void sum_by_shuffles(const double* in, double* out) {
  extern __shared__ double parts[];
  double sum = in[blockIdx.x * blockDim.x + threadIdx.x];
  for (int delta = 16; delta > 0; delta /= 2) sum += __shfl_down_sync(~0u, sum, delta);
  if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x == 0) {
    double total = 0;
    for (unsigned i = 0; i < blockDim.x / 32; ++i) total += parts[i];
    out[blockIdx.x] = total;
  }
}

TEST(Executor, Shuffles) {
  constexpr int kThreads = 256, kBlocks = 1000;
  std::vector<double> in(kThreads * kBlocks), out(kBlocks);
  std::iota(in.begin(), in.end(), 0.0);
  executor::under_every_schedule([&] {
    ASSERT_EQ(cudaSuccess, launch(sum_by_shuffles, kBlocks, kThreads,
                                  kThreads / 32 * sizeof(double), in.data(), out.data()));
    for (int b = 0; b < kBlocks; ++b) {
      ASSERT_EQ(kThreads * (b * kThreads + (kThreads - 1) / 2.0), out[b]);
    }
  });
}

}  // namespace
