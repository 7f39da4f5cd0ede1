// The stand-ins for CUB against the standard library.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_segmented_radix_sort.cuh>
#include <cub/device/device_segmented_sort.cuh>
#include <cub/warp/warp_reduce.cuh>
#include <cub/warp/warp_scan.cuh>
#include <cuda/functional>
#include <numeric>
#include <random>
#include <vector>

#include "executor/schedule.h"
#include "launch.h"

namespace {

constexpr int kThreads = 96;
constexpr int kItems = 3;

std::vector<std::int64_t> numbers(int count) {
  std::mt19937 random(7);
  std::vector<std::int64_t> result(count);
  for (std::int64_t& x : result) x = static_cast<std::int64_t>(random() % 1000) - 500;
  return result;
}

template <class T>
__global__ void reductions(const T* in, T* out) {
  using Reduce = cub::BlockReduce<T, kThreads>;
  __shared__ typename Reduce::TempStorage storage;
  const T x = in[threadIdx.x];
  T pair[2] = {x, x};
  const T sum = Reduce(storage).Sum(x);
  __syncthreads();
  const T largest = Reduce(storage).Reduce(x, ::cuda::maximum<>{});
  __syncthreads();
  const T first = Reduce(storage).Sum(x, 10);
  __syncthreads();
  const T twice = Reduce(storage).Sum(pair);
  if (threadIdx.x == 0) {
    out[0] = sum;
    out[1] = largest;
    out[2] = first;
    out[3] = twice;
  }
}

TEST(Cub, BlockReduce) {
  const auto in = numbers(kThreads);
  executor::under_every_schedule([&] {
    std::vector<std::int64_t> out(4);
    launch(reductions<std::int64_t>, 1, kThreads, 0, in.data(), out.data());
    const auto sum = std::accumulate(in.begin(), in.end(), std::int64_t{});
    EXPECT_EQ(sum, out[0]);
    EXPECT_EQ(*std::max_element(in.begin(), in.end()), out[1]);
    EXPECT_EQ(std::accumulate(in.begin(), in.begin() + 10, std::int64_t{}), out[2]);
    EXPECT_EQ(2 * sum, out[3]);
  });
}

// Goes on from the total so far.
struct Carry {
  std::int64_t total;
  __device__ std::int64_t operator()(std::int64_t aggregate) {
    const std::int64_t before = total;
    total += aggregate;
    return before;
  }
};

template <class T>
__global__ void scans(const T* in, T* inclusive, T* exclusive, T* carried, T* single, T* total) {
  using Scan = cub::BlockScan<T, kThreads>;
  __shared__ typename Scan::TempStorage storage;
  T items[kItems], result[kItems], aggregate;
  for (int i = 0; i < kItems; ++i) items[i] = in[threadIdx.x * kItems + i];
  Scan(storage).InclusiveSum(items, result, aggregate);
  for (int i = 0; i < kItems; ++i) inclusive[threadIdx.x * kItems + i] = result[i];
  if (threadIdx.x == 0) *total = aggregate;
  __syncthreads();
  Scan(storage).ExclusiveSum(items, result);
  for (int i = 0; i < kItems; ++i) exclusive[threadIdx.x * kItems + i] = result[i];
  Carry carry{1000};
  for (int round = 0; round < 2; ++round) {
    __syncthreads();
    Scan(storage).ExclusiveSum(items, result, carry);
  }
  for (int i = 0; i < kItems; ++i) carried[threadIdx.x * kItems + i] = result[i];
  __syncthreads();
  Scan(storage).ExclusiveScan(items[0], single[threadIdx.x], T{-1000}, ::cuda::maximum<>{});
}

TEST(Cub, BlockScan) {
  const auto in = numbers(kThreads * kItems);
  std::vector<std::int64_t> sums(in.size());
  std::partial_sum(in.begin(), in.end(), sums.begin());
  executor::under_every_schedule([&] {
    std::vector<std::int64_t> inclusive(in.size()), exclusive(in.size()), carried(in.size());
    std::vector<std::int64_t> single(kThreads);
    std::vector<std::int64_t> total(1);
    launch(scans<std::int64_t>, 1, kThreads, 0, in.data(), inclusive.data(), exclusive.data(),
           carried.data(), single.data(), total.data());
    EXPECT_EQ(sums, inclusive);
    EXPECT_EQ(sums.back(), total[0]);
    std::int64_t largest = -1000;
    for (std::size_t i = 0; i < in.size(); ++i) {
      EXPECT_EQ(sums[i] - in[i], exclusive[i]);
      EXPECT_EQ(1000 + sums.back() + sums[i] - in[i], carried[i]);
      if (i % kItems == 0) {
        EXPECT_EQ(largest, single[i / kItems]);
        largest = std::max(largest, in[i]);
      }
    }
  });
}

template <class T>
__global__ void of_warps(const T* in, T* sums, T* scan) {
  using Reduce = cub::WarpReduce<T>;
  using Scan = cub::WarpScan<T, 8>;
  __shared__ typename Reduce::TempStorage reduce[kThreads / 32];
  __shared__ typename Scan::TempStorage scans[kThreads / 8];
  const T sum = Reduce(reduce[threadIdx.x / 32]).Sum(in[threadIdx.x]);
  if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = sum;
  Scan(scans[threadIdx.x / 8]).InclusiveSum(in[threadIdx.x], scan[threadIdx.x]);
}

TEST(Cub, Warps) {
  const auto in = numbers(kThreads);
  executor::under_every_schedule([&] {
    std::vector<std::int64_t> sums(kThreads / 32), scan(kThreads);
    launch(of_warps<std::int64_t>, 1, kThreads, 0, in.data(), sums.data(), scan.data());
    for (int w = 0; w < kThreads / 32; ++w) {
      EXPECT_EQ(std::accumulate(&in[32 * w], &in[32 * w] + 32, std::int64_t{}), sums[w]);
    }
    for (int i = 0; i < kThreads; ++i) {
      EXPECT_EQ(std::accumulate(&in[i / 8 * 8], &in[i] + 1, std::int64_t{}), scan[i]);
    }
  });
}

template <class Sort>
void expect_sorted(const std::vector<double>& keys, bool descending, Sort sort) {
  std::vector<int> values(keys.size()), order(keys.size());
  std::iota(values.begin(), values.end(), 0);
  std::vector<double> sorted(keys.size());
  std::size_t bytes = 0;
  ASSERT_EQ(cudaSuccess,
            sort(nullptr, bytes, keys.data(), sorted.data(), values.data(), order.data()));
  std::vector<char> storage(bytes);
  ASSERT_EQ(cudaSuccess,
            sort(storage.data(), bytes, keys.data(), sorted.data(), values.data(), order.data()));
  std::stable_sort(values.begin(), values.end(), [&](int a, int b) {
    return descending ? keys[a] > keys[b] : keys[a] < keys[b];
  });
  EXPECT_EQ(values, order);
  bytes -= 1;
  EXPECT_NE(cudaSuccess,
            sort(storage.data(), bytes, keys.data(), sorted.data(), values.data(), order.data()));
}

TEST(Cub, Sorts) {
  const std::vector<double> keys{3, -1, 0.0, -0.0, -INFINITY, 3, INFINITY, -1, 0.0, 2e-300, -5};
  const int n = static_cast<int>(keys.size());
  const std::vector<int> offsets{0, n};
  expect_sorted(keys, false, [&](void* storage, std::size_t& bytes, auto... a) {
    return cub::DeviceRadixSort::SortPairs(storage, bytes, a..., n);
  });
  expect_sorted(keys, true, [&](void* storage, std::size_t& bytes, auto... a) {
    return cub::DeviceSegmentedRadixSort::SortPairsDescending(storage, bytes, a..., n, 1,
                                                              offsets.data(), offsets.data() + 1);
  });
}

TEST(Cub, SegmentsAreSortedAlone) {
  const std::vector<int> keys{5, 4, 3, 2, 1, 0, -1};
  const std::vector<int> begins{0, 3}, ends{3, 6};
  std::vector<int> sorted(keys.size(), 99);
  std::size_t bytes = 0;
  cub::DeviceSegmentedSort::SortKeys(nullptr, bytes, keys.data(), sorted.data(), 7, 2,
                                     begins.data(), ends.data());
  std::vector<char> storage(bytes);
  cub::DeviceSegmentedSort::SortKeys(storage.data(), bytes, keys.data(), sorted.data(), 7, 2,
                                     begins.data(), ends.data());
  EXPECT_EQ((std::vector<int>{3, 4, 5, 0, 1, 2, 99}), sorted);
}

}  // namespace
