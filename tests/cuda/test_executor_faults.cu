// Planted bugs that end the kernel: the report says what happened and names threads and lines.
#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <cub/block/block_reduce.cuh>
#include <initializer_list>
#include <string>

#include "executor/schedule.h"
#include "launch.h"

namespace {

constexpr int kThreads = 64;
constexpr unsigned kAll = 0xffffffff;

// The kernel ends with a fault whose report has all of these parts, under every schedule.
template <class... Parameters>
void expect_fault(std::initializer_list<std::string> parts, void (*kernel)(Parameters...),
                  std::type_identity_t<Parameters>... arguments) {
  executor::under_every_schedule([&] {
    std::string report;
    try {
      launch(kernel, 1, kThreads, 0, arguments...);
    } catch (const executor::Fault& fault) {
      report = fault.what();
    }
    for (const std::string& part : parts) {
      EXPECT_NE(report.find(part), std::string::npos) << "no '" << part << "' in: " << report;
    }
  });
}

// How a report names a line of this file.
std::string line(int number) { return "test_executor_faults.cu:" + std::to_string(number); }

constexpr int kTwoBarriers = __LINE__;
__global__ void two_barriers() {
  if (threadIdx.x < 16) {
    __syncthreads();
  } else {
    __syncthreads();
  }
}

TEST(DivergentBarrier, IsReported) {
  expect_fault({"different barriers", "threads 0 to 15 in __syncthreads", "threads 16 to 63"},
               two_barriers);
  expect_fault({line(kTwoBarriers + 3), line(kTwoBarriers + 5)}, two_barriers);
}

constexpr int kBarrierOrWarp = __LINE__;
__global__ void barrier_or_warp() {
  if (threadIdx.x == 0) {
    __syncthreads();
  } else if (threadIdx.x < 32) {
    __syncwarp();
  }
}

TEST(DivergentBarrier, AgainstAWarpIsStuck) {
  expect_fault({"is stuck", "thread 0 in __syncthreads", "threads 1 to 31 in __syncwarp",
                "threads 32 to 63 exited"},
               barrier_or_warp);
  expect_fault({line(kBarrierOrWarp + 3), line(kBarrierOrWarp + 5)}, barrier_or_warp);
}

constexpr int kShuffleInABranch = __LINE__;
__global__ void shuffle_in_a_branch() {
  if (threadIdx.x % 2 == 0) {
    __shfl_xor_sync(kAll, threadIdx.x, 2);
  }
  __syncthreads();
}

TEST(DivergentShuffle, IsReported) {
  expect_fault(
      {"is stuck", "thread 0 in __shfl_xor_sync of lanes 0xffffffff", "thread 1 in __sync"},
      shuffle_in_a_branch);
  expect_fault({line(kShuffleInABranch + 3), line(kShuffleInABranch + 5)}, shuffle_in_a_branch);
}

constexpr int kShuffleAfterAnExit = __LINE__;
__global__ void shuffle_after_an_exit() {
  if (threadIdx.x >= 8) return;
  __shfl_down_sync(kAll, 1.0f, 4);
}

TEST(DivergentShuffle, ValueOfAnExitedLane) {
  expect_fault({"lane 4 takes the value of lane 8, which does not take part"},
               shuffle_after_an_exit);
  expect_fault({line(kShuffleAfterAnExit + 3)}, shuffle_after_an_exit);
}

__global__ void shuffle_outside_its_mask() { __shfl_sync(0xffff, threadIdx.x, 0); }

TEST(DivergentShuffle, LaneOutsideItsMask) {
  expect_fault({"a lane is not in the mask it gives"}, shuffle_outside_its_mask);
}

__global__ void different_masks() { __ballot_sync(threadIdx.x % 2 == 0 ? kAll : kAll - 1, 1); }

TEST(DivergentShuffle, DifferentMasks) {
  expect_fault({"is stuck", "0xffffffff", "0xfffffffe"}, different_masks);
}

__global__ void too_much() {
  __shared__ double tile[kThreads * 97];
  tile[threadIdx.x] = 0;
}

TEST(SharedMemory, MoreThanThereIs) { expect_fault({"48 KB"}, too_much); }

__global__ void reduce_of_another_block() {
  using Reduce = cub::BlockReduce<float, kThreads / 2>;
  __shared__ typename Reduce::TempStorage storage;
  Reduce(storage).Sum(1.0f);
}

TEST(CubStorage, BlockOfAnotherSize) { expect_fault({"not of the size"}, reduce_of_another_block); }

__global__ void trap() {
  if (threadIdx.x == 3) __trap();
}

TEST(Trap, IsAFault) {
  expect_fault({"the kernel trapped", "thread 3 in __trap at", "test_executor_faults.cu"}, trap);
}

}  // namespace
