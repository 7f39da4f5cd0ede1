// What kernels may do: threads, barriers, warps, shared memory and launches behave as CUDA says.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <vector>

#include "executor/schedule.h"
#include "launch.h"

namespace {

constexpr unsigned kAll = 0xffffffff;

// ---- grids

__global__ void visit(int* visits) {
  const unsigned block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
  const unsigned thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  visits[block * blockDim.x * blockDim.y * blockDim.z + thread] += 1;
}

TEST(Grid, EveryThreadOfEveryBlockRunsOnce) {
  for (const dim3 blocks : {dim3(7), dim3(2, 3), dim3(3, 2, 5), dim3(1)}) {
    for (const dim3 threads : {dim3(1), dim3(33), dim3(4, 8), dim3(3, 5, 7)}) {
      executor::under_every_schedule([&] {
        std::vector<int> visits(blocks.x * blocks.y * blocks.z * threads.x * threads.y * threads.z);
        ASSERT_EQ(cudaSuccess, launch(visit, blocks, threads, 0, visits.data()));
        EXPECT_EQ(visits.size(),
                  static_cast<std::size_t>(std::count(visits.begin(), visits.end(), 1)));
      });
    }
  }
}

__global__ void follow(unsigned* order, unsigned* count) {
  order[atomicAdd(count, 1u)] = blockIdx.x * blockDim.x + threadIdx.x;
}

TEST(Grid, SchedulesDiffer) {
  std::vector<std::vector<unsigned>> orders;
  executor::under_every_schedule([&] {
    unsigned count = 0;
    orders.emplace_back(6 * 40);
    launch(follow, 6, 40, 0, orders.back().data(), &count);
  });
  for (std::size_t i = 0; i < orders.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) EXPECT_NE(orders[i], orders[j]);
    std::sort(orders[i].begin(), orders[i].end());
    for (unsigned k = 0; k < orders[i].size(); ++k) EXPECT_EQ(k, orders[i][k]);
  }
}

__global__ void nothing() {}

TEST(Grid, Limits) {
  EXPECT_EQ(cudaSuccess, launch(nothing, 70000, 1, 0));
  EXPECT_EQ(cudaSuccess, launch(nothing, 1, dim3(32, 32), 0));
  EXPECT_EQ(cudaSuccess, launch(nothing, 1, 1, 48 << 10));
  EXPECT_EQ(cudaSuccess, cudaGetLastError());
  const cudaError_t refused = cudaErrorInvalidConfiguration;
  EXPECT_EQ(refused, launch(nothing, 0, 1, 0));
  EXPECT_EQ(refused, launch(nothing, 1, 0, 0));
  EXPECT_EQ(refused, launch(nothing, 1u << 31, 1, 0));
  EXPECT_EQ(refused, launch(nothing, dim3(1, 65536), 1, 0));
  EXPECT_EQ(refused, launch(nothing, dim3(1, 1, 65536), 1, 0));
  EXPECT_EQ(refused, launch(nothing, 1, 1025, 0));
  EXPECT_EQ(refused, launch(nothing, 1, dim3(1, 1, 65), 0));
  EXPECT_EQ(refused, launch(nothing, 1, dim3(32, 33), 0));
  EXPECT_EQ(refused, launch(nothing, 1, 1, (48 << 10) + 1));
  EXPECT_EQ(refused, cudaPeekAtLastError());
  EXPECT_EQ(refused, cudaGetLastError());
  EXPECT_EQ(cudaSuccess, cudaGetLastError());
  EXPECT_STREQ("invalid configuration argument", cudaGetErrorString(refused));

  EXPECT_NE(cudaSuccess,
            cudaFuncSetAttribute(nothing, cudaFuncAttributeMaxDynamicSharedMemorySize, 228 << 10));
  EXPECT_EQ(cudaSuccess,
            cudaFuncSetAttribute(nothing, cudaFuncAttributeMaxDynamicSharedMemorySize, 200 << 10));
  EXPECT_EQ(cudaSuccess, launch(nothing, 1, 1, 200 << 10));
  EXPECT_EQ(refused, launch(nothing, 1, 1, (200 << 10) + 1));
}

// ---- barriers

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
  constexpr int kThreads = 192, kBlocks = 50;
  std::vector<T> in(kThreads * kBlocks), out(in.size()), expected = in;
  std::iota(in.begin(), in.end(), T{});
  for (int i = 0; i < kThreads * kBlocks; ++i) {
    expected[i] = in[i / kThreads * kThreads + kThreads - 1 - i % kThreads];
  }
  executor::under_every_schedule([&] {
    std::fill(out.begin(), out.end(), T{});
    launch(reverse<T, kThreads>, kBlocks, kThreads, 0, in.data(), out.data());
    EXPECT_EQ(expected, out);
  });
}

TEST(Barrier, SharedMemoryOfEachInstantiation) {
  expect_reversed<float>();
  expect_reversed<double>();
  expect_reversed<int>();
}

// Threads that have exited are not waited for.
__global__ void counts(int* out) {
  const int i = threadIdx.x;
  if (i >= 50) return;
  out[i] = __syncthreads_count(i % 3 == 0);
  if (i >= 40) return;
  out[i] += 100 * __syncthreads_and(i < 40);
  out[i] += 200 * __syncthreads_and(i < 39);
  out[i] += 400 * __syncthreads_or(i == 7);
  out[i] += 800 * __syncthreads_or(i == 40);
}

TEST(Barrier, CountsAndExits) {
  executor::under_every_schedule([] {
    std::vector<int> out(64);
    launch(counts, 1, 64, 0, out.data());
    for (int i = 0; i < 64; ++i) EXPECT_EQ(i < 40 ? 517 : i < 50 ? 17 : 0, out[i]) << i;
  });
}

// ---- shared memory

struct Pair {
  double value;
  int index;
};

// Declarations of all the ways they may be written.
template <class T>
__global__ void declarations(double* out) {
  __shared__ T plain;
  __shared__ T two[3][5];
  __shared__ Pair pair;
  __shared__ alignas(16) unsigned char raw[sizeof(T) * 2];
  __align__(16) __shared__ T aligned[2];
  __shared__ typename std::vector<T>::value_type long_name[4];
  extern __shared__ double dynamic[];
  // __shared__ in a comment; is left alone
  if (threadIdx.x == 0) {
    plain = 1;
    two[2][4] = 2;
    pair = {3, 0};
    reinterpret_cast<T*>(raw)[1] = 4;
    aligned[1] = 5;
    long_name[3] = 6;
    dynamic[9] = 7;
  }
  __syncthreads();
  if (threadIdx.x == 1) {
    out[0] = plain;
    out[1] = two[2][4];
    out[2] = pair.value;
    out[3] = reinterpret_cast<T*>(raw)[1];
    out[4] = aligned[1];
    out[5] = long_name[3];
    out[6] = dynamic[9];
  }
}

TEST(SharedMemory, Declarations) {
  std::vector<double> out(7);
  launch(declarations<float>, 1, 2, 10 * sizeof(double), out.data());
  EXPECT_EQ((std::vector<double>{1, 2, 3, 4, 5, 6, 7}), out);
}

// ---- warps

template <class T>
__global__ void shuffles(T* out) {
  const unsigned lane = threadIdx.x % 32;
  const T mine = static_cast<T>(threadIdx.x);
  T* const at = out + 8 * threadIdx.x;
  at[0] = __shfl_sync(kAll, mine, 5);
  at[1] = __shfl_sync(kAll, mine, lane + 1, 8);
  at[2] = __shfl_up_sync(kAll, mine, 3);
  at[3] = __shfl_up_sync(kAll, mine, 3, 16);
  at[4] = __shfl_down_sync(kAll, mine, 3);
  at[5] = __shfl_down_sync(kAll, mine, 3, 16);
  at[6] = __shfl_xor_sync(kAll, mine, 6);
  at[7] = __shfl_xor_sync(kAll, mine, 9, 8);
}

template <class T>
void expect_shuffles() {
  executor::under_every_schedule([] {
    std::vector<T> out(64 * 8);
    launch(shuffles<T>, 1, 64, 0, out.data());
    for (int i = 0; i < 64; ++i) {
      const int lane = i % 32, warp = i - lane;
      const int source[8] = {warp + 5,
                             i / 8 * 8 + (i + 1) % 8,
                             lane >= 3 ? i - 3 : i,
                             i % 16 >= 3 ? i - 3 : i,
                             lane + 3 < 32 ? i + 3 : i,
                             i % 16 + 3 < 16 ? i + 3 : i,
                             i ^ 6,
                             (i ^ 9) < i / 8 * 8 + 8 ? i ^ 9 : i};
      for (int s = 0; s < 8; ++s)
        EXPECT_EQ(static_cast<T>(source[s]), out[8 * i + s]) << i << " " << s;
    }
  });
}

TEST(Warp, Shuffles) {
  expect_shuffles<float>();
  expect_shuffles<double>();
  expect_shuffles<int>();
  expect_shuffles<unsigned long long>();
}

__global__ void votes(unsigned* out) {
  const unsigned lane = threadIdx.x % 32;
  unsigned* const at = out + 6 * threadIdx.x;
  at[4] = __activemask();
  at[0] = __ballot_sync(kAll, lane % 3 == 0);
  at[1] = __any_sync(kAll, lane == 31);
  at[2] = __all_sync(kAll, lane < 31);
  at[3] = __match_any_sync(kAll, static_cast<int>(lane / 4));
  // Both halves on their own, in two branches.
  if (lane < 16) {
    at[5] = __shfl_sync(0x0000ffff, lane, 3, 16);
  } else {
    at[5] = __shfl_sync(0xffff0000, lane, 3, 16);
  }
}

TEST(Warp, VotesAndHalves) {
  executor::under_every_schedule([] {
    std::vector<unsigned> out(64 * 6);
    launch(votes, 1, 64, 0, out.data());
    for (int i = 0; i < 64; ++i) {
      const int lane = i % 32;
      EXPECT_EQ(0x49249249u, out[6 * i]);
      EXPECT_EQ(1u, out[6 * i + 1]);
      EXPECT_EQ(0u, out[6 * i + 2]);
      EXPECT_EQ(15u << lane / 4 * 4, out[6 * i + 3]);
      EXPECT_EQ(kAll, out[6 * i + 4]);
      EXPECT_EQ(lane < 16 ? 3u : 19u, out[6 * i + 5]);
    }
  });
}

// Lanes that have exited or never were are not waited for.
__global__ void partial(unsigned* out) {
  if (threadIdx.x == 2) return;
  out[threadIdx.x] = __ballot_sync(kAll, 1);
  __syncwarp();
}

TEST(Warp, ExitedLanesAreNotWaitedFor) {
  executor::under_every_schedule([] {
    std::vector<unsigned> out(40);
    launch(partial, 1, 40, 0, out.data());
    for (int i = 0; i < 40; ++i) EXPECT_EQ(i == 2 ? 0 : i < 32 ? 0xfffffffbu : 0xffu, out[i]);
  });
}

// ---- numbers

__global__ void count(unsigned* sum, int* least, int* most, unsigned long long* wide) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  atomicAdd(sum, 1u);
  atomicMin(least, i - 10);
  atomicMax(most, i);
  atomicCAS(wide, static_cast<unsigned long long>(i), i + 1ull);
}

TEST(Atomics, Integers) {
  unsigned sum = 0;
  int least = 0, most = 0;
  unsigned long long wide = 0;
  launch(count, 5, 100, 0, &sum, &least, &most, &wide);
  EXPECT_EQ(500u, sum);
  EXPECT_EQ(-10, least);
  EXPECT_EQ(499, most);
  EXPECT_EQ(500u, wide);
}

template <class T>
concept Summable = requires(T* at, T value) { atomicAdd(at, value); };
static_assert(Summable<int> && Summable<unsigned> && Summable<unsigned long long>);
static_assert(!Summable<float> && !Summable<double>);

// Every number of the format comes back, and what lies between two goes to the nearer one, from the
// middle to the even one.
template <class T>
void expect_rounding(unsigned infinity) {
  for (unsigned bits = 0; bits < infinity; ++bits) {
    const T x = std::bit_cast<T>(static_cast<std::uint16_t>(bits));
    const T next = std::bit_cast<T>(static_cast<std::uint16_t>(bits + 1));
    EXPECT_EQ(bits, T(static_cast<float>(x)).bits);
    EXPECT_EQ(bits | 0x8000, T(-static_cast<float>(x)).bits);
    if (bits + 1 == infinity) break;
    const double middle = (static_cast<double>(x) + static_cast<double>(next)) / 2;
    EXPECT_EQ(bits + bits % 2, T(middle).bits);
    EXPECT_EQ(bits, T(std::nextafter(middle, 0.0)).bits);
    EXPECT_EQ(bits + 1, T(std::nextafter(middle, 1e300)).bits);
  }
  EXPECT_EQ(infinity, T(1e300).bits);
  EXPECT_EQ(infinity | 0x8000, T(-INFINITY).bits);
  EXPECT_TRUE(std::isnan(static_cast<float>(T(NAN))));
}

TEST(ShortFloats, RoundToNearestEven) {
  expect_rounding<__half>(0x7c00);
  expect_rounding<__nv_bfloat16>(0x7f80);
  EXPECT_EQ(1.5f, __half2float(__ushort_as_half(0x3e00)));
  EXPECT_EQ(0x7bff, __half_as_ushort(__double2half(65519.0)));
  EXPECT_EQ(0x7c00, __half_as_ushort(__double2half(65520.0)));
  EXPECT_EQ(-2.5f, __bfloat162float(__ushort_as_bfloat16(0xc020)));
}

TEST(Host, Memory) {
  double* at = nullptr;
  ASSERT_EQ(cudaSuccess, cudaMalloc(&at, 4 * sizeof(double)));
  EXPECT_TRUE(std::isnan(at[3]));
  const double numbers[4] = {1, 2, 3, 4};
  ASSERT_EQ(cudaSuccess, cudaMemcpyAsync(at, numbers, sizeof(numbers), cudaMemcpyHostToDevice));
  EXPECT_EQ(4, at[3]);
  ASSERT_EQ(cudaSuccess, cudaMemsetAsync(at, 0, sizeof(numbers)));
  EXPECT_EQ(0, at[3]);
  EXPECT_EQ(cudaSuccess, cudaFree(at));
}

}  // namespace
