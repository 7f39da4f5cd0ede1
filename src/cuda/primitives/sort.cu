// Rows of at most a tile go through a bitonic network in shared memory, several rows per block.
// Longer ones go through CUB's radix sort, all rows of the batch together: first by value, then,
// stably, by row.
#include "cuda/primitives/sort.h"

#include <bit>
#include <cub/device/device_radix_sort.cuh>

#include "cuda/primitives/for_each.h"
#include "cuda/primitives/items.h"
#include "cuda/primitives/tiles.h"
#include "math/ordered.h"

namespace lapsum::gpu {
namespace {

using Key = std::uint64_t;

constexpr int kThreads = 256;

__global__ void __launch_bounds__(kThreads)
    network_kernel(Tiles tiles, const double* x, double* sorted, Index* order) {
  __shared__ Key keys[kTile];
  __shared__ Index from[kTile];
  const auto is_before = [&](int a, int b) {
    return keys[a] != keys[b] ? keys[a] < keys[b] : from[a] < from[b];
  };
  const auto exchange = [&](int a, int b) {
    const Key key = keys[a];
    const Index place = from[a];
    keys[a] = keys[b];
    from[a] = from[b];
    keys[b] = key;
    from[b] = place;
  };
  for_each_item(tiles.count(), [&](std::ptrdiff_t item) {
    const Tiles::Tile tile(tiles, item);
    for (int place = threadIdx.x; place < kTile; place += kThreads) {
      const Tiles::Entry e = tile.entry(place);
      keys[place] = e.inside ? math::ordered_key(x[e.row * tiles.n + e.j]) : ~Key{0};
      from[place] = e.inside ? static_cast<Index>(e.j) : ~Index{0};
    }
    __syncthreads();
    const int slot = 1 << tiles.slot_bits;
    for (int size = 2; size <= slot; size *= 2) {
      for (int by = size / 2; by > 0; by /= 2) {
        for (int pair = threadIdx.x; pair < kTile / 2; pair += kThreads) {
          const int a = 2 * pair - (pair & (by - 1));
          const bool ascending = (a & (slot - 1) & size) == 0;
          if (is_before(a, a + by) != ascending) exchange(a, a + by);
        }
        __syncthreads();
      }
    }
    for (int place = threadIdx.x; place < kTile; place += kThreads) {
      const Tiles::Entry e = tile.entry(place);
      if (!e.inside) continue;
      sorted[e.row * tiles.n + e.j] = math::ordered_value(keys[place]);
      order[e.row * tiles.n + e.j] = from[place];
    }
    __syncthreads();
  });
}

struct MakeKeys {
  const double* x;
  std::ptrdiff_t n;
  Key* keys;
  Index* from;
  __device__ void operator()(std::ptrdiff_t row, std::ptrdiff_t j) const {
    const std::ptrdiff_t i = row * n + j;
    keys[i] = math::ordered_key(x[i]);
    from[i] = static_cast<Index>(i);
  }
};

struct RowsOf {
  const Index* from;
  std::ptrdiff_t n;
  Index* row_of;
  __device__ void operator()(std::ptrdiff_t row, std::ptrdiff_t j) const {
    const std::ptrdiff_t i = row * n + j;
    row_of[i] = from[i] / static_cast<Index>(n);
  }
};

struct TakeSorted {
  const double* x;
  const Index* from;
  std::ptrdiff_t n;
  double* sorted;
  Index* order;
  __device__ void operator()(std::ptrdiff_t row, std::ptrdiff_t j) const {
    const std::ptrdiff_t i = row * n + j;
    sorted[i] = x[from[i]];
    order[i] = from[i] - static_cast<Index>(row * n);
  }
};

// CUB's radix sort of pairs, with its scratch memory.
template <class K>
void radix_sort(Queue& queue, const K* keys, K* sorted_keys, const Index* from, Index* to,
                std::ptrdiff_t count, int first_bit, int last_bit) {
  const Queue::Scope scope(queue);
  int device = 0;
  check(cudaGetDevice(&device));  // without one, CUB would speak of an invalid ordinal
  std::size_t bytes = 0;
  const auto sort = [&](void* scratch) {
    check(cub::DeviceRadixSort::SortPairs(scratch, bytes, keys, sorted_keys, from, to, count,
                                          first_bit, last_bit, queue.where().stream));
  };
  sort(nullptr);
  char* const scratch = queue.take<char>(static_cast<std::ptrdiff_t>(bytes));
  if (queue.runs()) sort(scratch);
}

}  // namespace

void sort_rows(Queue& queue, const double* x, std::ptrdiff_t rows, std::ptrdiff_t n, int idle_bits,
               double* sorted, Index* order) {
  const Tiles tiles(rows, n);
  if (n <= kTile) {
    queue.run(network_kernel, tiles.count(), kThreads, tiles, x, sorted, order);
    return;
  }
  const Queue::Scope scope(queue);
  const std::ptrdiff_t count = rows * n;
  Key* const keys = queue.take<Key>(count);
  Key* const sorted_keys = queue.take<Key>(count);
  Index* const from = queue.take<Index>(count);
  Index* const by_value = queue.take<Index>(count);
  for_each(queue, rows, n, MakeKeys{x, n, keys, from});
  radix_sort(queue, keys, sorted_keys, from, by_value, count, idle_bits, 64);
  if (rows > 1) {
    Index* const row_of = reinterpret_cast<Index*>(keys);
    Index* const sorted_rows = reinterpret_cast<Index*>(sorted_keys);
    for_each(queue, rows, n, RowsOf{by_value, n, row_of});
    radix_sort(queue, row_of, sorted_rows, by_value, from, count, 0,
               std::bit_width(static_cast<std::size_t>(rows - 1)));
  }
  for_each(queue, rows, n, TakeSorted{x, rows > 1 ? from : by_value, n, sorted, order});
}

}  // namespace lapsum::gpu
