// Planted bugs that show in the bits of the results.
#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <vector>

#include "executor/schedule.h"
#include "launch.h"

namespace {

constexpr int kThreads = 64;

template <bool kWithBarrier>
__global__ void neighbours(float* out) {
  __shared__ float tile[kThreads];
  tile[threadIdx.x] = static_cast<float>(threadIdx.x);
  if (kWithBarrier) __syncthreads();
  out[threadIdx.x] = tile[(threadIdx.x + 1) % kThreads];
}

std::vector<std::vector<float>> under_schedules(void (*kernel)(float*)) {
  std::vector<std::vector<float>> results;
  executor::under_every_schedule([&] {
    results.emplace_back(kThreads);
    launch(kernel, 1, kThreads, 0, results.back().data());
  });
  return results;
}

bool same_bits(const std::vector<std::vector<float>>& results) {
  for (const std::vector<float>& result : results) {
    if (std::memcmp(result.data(), results[0].data(), kThreads * sizeof(float)) != 0) return false;
  }
  return true;
}

TEST(MissingBarrier, BitsDependOnTheSchedule) {
  EXPECT_TRUE(same_bits(under_schedules(neighbours<true>)));
  EXPECT_FALSE(same_bits(under_schedules(neighbours<false>)));
}
template <class T>
__global__ void read_before_write(T* out) {
  __shared__ T tile[kThreads];
  extern __shared__ T dynamic[];
  out += 2 * kThreads * blockIdx.x;
  out[threadIdx.x] = tile[threadIdx.x];
  out[kThreads + threadIdx.x] = dynamic[threadIdx.x];
  tile[threadIdx.x] = dynamic[threadIdx.x] = 0;
}

template <class T>
void expect_nan() {
  for (int again = 0; again < 2; ++again) {
    std::vector<T> out(3 * 2 * kThreads);
    launch(read_before_write<T>, 3, kThreads, kThreads * sizeof(T), out.data());
    for (const T x : out) EXPECT_TRUE(std::isnan(x));
  }
}

TEST(SharedMemory, ReadBeforeWriteIsNaN) {
  expect_nan<float>();
  expect_nan<double>();
}

}  // namespace
