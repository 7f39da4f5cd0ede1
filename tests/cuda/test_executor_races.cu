// Planted bugs that ThreadSanitizer must see, each next to the kernel without the bug, in which it
// must see nothing.
#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>
#include <cub/warp/warp_reduce.cuh>
#include <vector>

#include "executor/schedule.h"
#include "launch.h"
#include "own_process.h"

namespace {

constexpr int kThreads = 64;
constexpr unsigned kAll = 0xffffffff;

#define EXPECT_RACE(work) EXPECT_ENDS(work, 66, "data race")
#define EXPECT_NO_RACE(work) EXPECT_ENDS(work, 0, "")

void run(void (*kernel)(float*)) {
  executor::under_every_schedule([&] {
    std::vector<float> out(kThreads);
    launch(kernel, 1, kThreads, 0, out.data());
  });
}

template <bool kWithBarrier>
__global__ void neighbours(float* out) {
  __shared__ float tile[kThreads];
  tile[threadIdx.x] = static_cast<float>(threadIdx.x);
  if (kWithBarrier) __syncthreads();
  out[threadIdx.x] = tile[(threadIdx.x + 1) % kThreads];
}

TEST(MissingBarrier, IsARace) { EXPECT_RACE(run(neighbours<false>)); }
TEST(MissingBarrier, IsNoRaceWithIt) { EXPECT_NO_RACE(run(neighbours<true>)); }

// The write of the next round may come before the read of this one.
template <bool kWithBarrier>
__global__ void rounds(float* out) {
  __shared__ float value;
  for (int round = 0; round < 3; ++round) {
    if (threadIdx.x == 0) value = static_cast<float>(round);
    __syncthreads();
    out[threadIdx.x] += value;
    if (kWithBarrier) __syncthreads();
  }
}

TEST(MissingBarrier, BetweenRoundsIsARace) { EXPECT_RACE(run(rounds<false>)); }
TEST(MissingBarrier, BetweenRoundsIsNoRaceWithIt) { EXPECT_NO_RACE(run(rounds<true>)); }

enum class Between { kNothing, kShuffle, kSyncWarp };

template <Between kBetween>
__global__ void neighbours_of_a_warp(float* out) {
  __shared__ float tile[kThreads];
  tile[threadIdx.x] = static_cast<float>(threadIdx.x);
  if (kBetween == Between::kShuffle) __shfl_sync(kAll, 1, 0);
  if (kBetween == Between::kSyncWarp) __syncwarp();
  out[threadIdx.x] = tile[threadIdx.x ^ 1];
}

TEST(MissingSyncwarp, IsARace) { EXPECT_RACE(run(neighbours_of_a_warp<Between::kNothing>)); }
TEST(MissingSyncwarp, AShuffleDoesNotOrderMemory) {
  EXPECT_RACE(run(neighbours_of_a_warp<Between::kShuffle>));
}
TEST(MissingSyncwarp, IsNoRaceWithIt) {
  EXPECT_NO_RACE(run(neighbours_of_a_warp<Between::kSyncWarp>));
}

template <class Primitive, class Use>
__device__ void twice(typename Primitive::TempStorage& storage, bool barrier, Use use) {
  use(Primitive(storage));
  if (barrier) __syncthreads();
  use(Primitive(storage));
}

template <bool kWithBarrier>
__global__ void reduce_twice(float* out) {
  using Reduce = cub::BlockReduce<float, kThreads>;
  __shared__ typename Reduce::TempStorage storage;
  twice<Reduce>(storage, kWithBarrier, [&](Reduce reduce) { out[threadIdx.x] = reduce.Sum(1.0f); });
}

template <bool kWithBarrier>
__global__ void scan_twice(float* out) {
  using Scan = cub::BlockScan<float, kThreads>;
  __shared__ typename Scan::TempStorage storage;
  twice<Scan>(storage, kWithBarrier, [&](Scan scan) { scan.InclusiveSum(1.0f, out[threadIdx.x]); });
}

template <bool kWithBarrier>
__global__ void reduce_warp_twice(float* out) {
  using Reduce = cub::WarpReduce<float>;
  __shared__ typename Reduce::TempStorage storage[kThreads / 32];
  twice<Reduce>(storage[threadIdx.x / 32], kWithBarrier,
                [&](Reduce reduce) { out[threadIdx.x] = reduce.Sum(1.0f); });
}

TEST(CubStorage, ReuseWithoutBarrierIsARace) {
  EXPECT_RACE(run(reduce_twice<false>));
  EXPECT_RACE(run(scan_twice<false>));
  EXPECT_RACE(run(reduce_warp_twice<false>));
}
TEST(CubStorage, ReuseIsNoRaceWithIt) {
  EXPECT_NO_RACE(run(reduce_twice<true>));
  EXPECT_NO_RACE(run(scan_twice<true>));
  EXPECT_NO_RACE(run(reduce_warp_twice<true>));
}

enum class Before { kNothing, kBarrier, kSyncWarp };

template <Before kBefore>
__global__ void write_one_place(float* out) {
  if (kBefore == Before::kBarrier) __syncthreads();
  if (kBefore == Before::kSyncWarp) __syncwarp();
  if (threadIdx.x == 0) out[0] = static_cast<float>(blockIdx.x);
}

// The last block to come sums what the others left.
template <bool kWithFence>
__global__ void last_block(float* parts, unsigned* arrived, float* sum) {
  if (threadIdx.x != 0) return;
  parts[blockIdx.x] = 1;
  if (kWithFence) __threadfence();
  if (atomicAdd(arrived, 1u) + 1 < gridDim.x) return;
  if (kWithFence) __threadfence();
  for (unsigned i = 0; i < gridDim.x; ++i) *sum += parts[i];
}

template <bool kWithFence>
void run_last_block() {
  std::vector<float> parts(4);
  unsigned arrived = 0;
  float sum = 0;
  launch(last_block<kWithFence>, 4, kThreads, 0, parts.data(), &arrived, &sum);
  if (sum != 4) std::abort();
}

TEST(Blocks, WritesToOnePlaceAreARace) {
  float out;
  EXPECT_RACE(launch(write_one_place<Before::kNothing>, 2, kThreads, 0, &out));
  EXPECT_RACE(launch(write_one_place<Before::kBarrier>, 2, kThreads, 0, &out));
  EXPECT_RACE(launch(write_one_place<Before::kSyncWarp>, 2, kThreads, 0, &out));
}
TEST(Blocks, MissingFenceIsARace) { EXPECT_RACE(run_last_block<false>()); }
TEST(Blocks, NoRaceWithFences) { EXPECT_NO_RACE(run_last_block<true>()); }

}  // namespace
