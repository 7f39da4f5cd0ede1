// The parallel scan of pairs (distance, moments): joining two stretches decays the moments of the
// first over the distance of the second. Distances are added, not decays multiplied: a product of
// numbers next to 1 would lose the gaps. A row longer than a tile is scanned three times: the end
// of every tile, the carries between tiles, then the tiles with their carries.
#include "cuda/primitives/decayed_scan.h"

#include "cuda/primitives/items.h"
#include "cuda/primitives/tiles.h"

namespace lapsum::gpu {
namespace {

constexpr int kThreads = 128;
constexpr int kItems = kTile / kThreads;
constexpr int kWarps = kThreads / kWarp;

// Moments at the last of some entries, and the distance to it from the entry before them.
template <int Order>
struct Stretch {
  double distance;
  double m[Order + 1];
};

// m, seen from a distance `gap` further away, of which `keep` is the decay. What decays to nothing
// is dropped, be it NaN.
template <int Order>
__device__ void decay(double (&m)[Order + 1], double gap, double keep) {
  if (!(keep > 0)) {
    for (int p = 0; p <= Order; ++p) m[p] = 0;
    return;
  }
  if constexpr (Order >= 3) m[3] = keep * (m[3] + gap * (3 * m[2] + gap * (3 * m[1] + gap * m[0])));
  if constexpr (Order >= 2) m[2] = keep * (m[2] + gap * (2 * m[1] + gap * m[0]));
  if constexpr (Order >= 1) m[1] = keep * (m[1] + gap * m[0]);
  m[0] = keep * m[0];
}

template <int Order>
__device__ Stretch<Order> join(Stretch<Order> first, const Stretch<Order>& then) {
  decay<Order>(first.m, then.distance, std::exp(-then.distance));
  first.distance += then.distance;
  for (int p = 0; p <= Order; ++p) first.m[p] += then.m[p];
  return first;
}

template <int Order>
__device__ Stretch<Order> from_lane_before(const Stretch<Order>& mine, int by) {
  Stretch<Order> out;
  out.distance = __shfl_up_sync(0xffffffffu, mine.distance, by);
  for (int p = 0; p <= Order; ++p) out.m[p] = __shfl_up_sync(0xffffffffu, mine.m[p], by);
  return out;
}

// All that lies before this thread: `carry`, and the stretches of the threads before.
template <int Order>
__device__ Stretch<Order> before_thread(const Stretch<Order>& mine, const Stretch<Order>& carry) {
  __shared__ Stretch<Order> warps[kWarps];
  const int lane = threadIdx.x % kWarp;
  const int warp = threadIdx.x / kWarp;
  Stretch<Order> sum = mine;
  for (int by = 1; by < kWarp; by *= 2) {
    const Stretch<Order> other = from_lane_before(sum, by);
    if (lane >= by) sum = join(other, sum);
  }
  __syncthreads();  // the stretches of a scan before this one may still be read
  if (lane == kWarp - 1) warps[warp] = sum;
  __syncthreads();
  Stretch<Order> before = carry;
  for (int w = 0; w < warp; ++w) before = join(before, warps[w]);
  const Stretch<Order> inside = from_lane_before(sum, 1);
  return lane == 0 ? before : join(before, inside);
}

template <int Order>
struct Both {
  Scan<Order> first, second;
};

enum class Pass { ends, tiles };

// `ends` has one stretch for each tile of each scan, or is null: no row is longer than a tile. As
// many blocks share a processor as registers allow without spills.
template <int Order>
__global__ void __launch_bounds__(kThreads, Order < 2 ? 8 : 4)
    tile_kernel(Tiles tiles, Gaps gaps, Both<Order> both, Pass pass, Stretch<Order>* ends) {
  // Entries go through here between memory and threads, with places between them that avoid
  // conflicts: weights, gaps and w1, then the moments.
  constexpr int kArrays = Order < 1 ? 2 : Order == 1 ? 3 : Order + 1;
  __shared__ double staged[kArrays][kTile + kThreads];
  const auto at = [](int place) { return place + place / kItems; };
  const std::ptrdiff_t count = tiles.count();
  for_each_item(2 * count, [&](std::ptrdiff_t item) {
    const bool second = item >= count;
    const Scan<Order> scan = second ? both.second : both.first;  // an index would copy both
    if (scan.at[0] == nullptr) return;
    const Tiles::Tile tile(tiles, second ? item - count : item);
    const bool right = scan.toward == Toward::right;
    // Entries in the order of the scan.
    const auto index = [&](const Tiles::Entry& e) {
      return e.row * tiles.n + (right ? e.j : tiles.n - 1 - e.j);
    };
    const auto gap_before = [&](const Tiles::Entry& e) {
      if (!e.inside || e.j == 0) return kApart;
      if (gaps.gap == nullptr) return 0.0;
      return gaps.gap[shared_row(e.row, gaps.repeat) * tiles.n + (right ? e.j : tiles.n - e.j)];
    };
    for (int place = threadIdx.x; place < kTile; place += kThreads) {
      const Tiles::Entry e = tile.entry(place);
      staged[0][at(place)] = !e.inside ? 0 : scan.w ? scan.w[index(e)] : 1;
      staged[1][at(place)] = gap_before(e);
      if constexpr (Order == 1) {
        staged[2][at(place)] = e.inside && scan.w1 ? scan.w1[index(e)] : 0;
      }
    }
    __syncthreads();
    const int own = threadIdx.x * kItems;
    const auto step = [&](double (&m)[Order + 1], double gap, double keep, int i) {
      decay<Order>(m, gap, keep);
      m[0] += staged[0][at(own + i)];
      if constexpr (Order == 1) m[1] += staged[2][at(own + i)];
    };
    Stretch<Order> mine{};
    for (int i = 0; i < kItems; ++i) {
      const double gap = staged[1][at(own + i)];
      const double keep = std::exp(-gap);
      mine.distance += gap;
      step(mine.m, gap, keep, i);
      if constexpr (Order == 0) staged[1][at(own + i)] = keep;
    }
    const bool carried = pass == Pass::tiles && ends != nullptr;
    const Stretch<Order> before = before_thread(mine, carried ? ends[item] : Stretch<Order>{});
    if (pass == Pass::ends) {
      if (threadIdx.x == kThreads - 1) ends[item] = join(before, mine);
      return;
    }
    Stretch<Order> sum = before;
    for (int i = 0; i < kItems; ++i) {
      const double kept = staged[1][at(own + i)];
      step(sum.m, kept, Order == 0 ? kept : std::exp(-kept), i);
      for (int p = 0; p <= Order; ++p) staged[p][at(own + i)] = sum.m[p];
    }
    __syncthreads();
    for (int place = threadIdx.x; place < kTile; place += kThreads) {
      const Tiles::Entry e = tile.entry(place);
      for (int p = 0; p <= Order && e.inside; ++p) scan.at[p][index(e)] = staged[p][at(place)];
    }
    __syncthreads();  // before the next tile is staged
  });
}

// Every stretch becomes what lies before its tile in the row. One block for a row of a scan.
template <int Order>
__global__ void __launch_bounds__(kThreads, 4)
    carry_kernel(std::ptrdiff_t rows, std::ptrdiff_t per_row, Stretch<Order>* ends) {
  __shared__ Stretch<Order> last[1];
  for_each_item(rows, [&](std::ptrdiff_t row) {
    Stretch<Order>* tiles = ends + row * per_row;
    Stretch<Order> carry{};
    for (std::ptrdiff_t first = 0; first < per_row; first += kThreads) {
      const std::ptrdiff_t t = first + threadIdx.x;
      const Stretch<Order> mine = t < per_row ? tiles[t] : Stretch<Order>{};
      const Stretch<Order> before = before_thread(mine, carry);
      if (t < per_row) tiles[t] = before;
      if (threadIdx.x == kThreads - 1) last[0] = join(before, mine);
      __syncthreads();
      carry = last[0];
    }
  });
}

}  // namespace

template <int Order>
void decayed_scan(Queue& queue, const Gaps& gaps, const Scan<Order>& first,
                  const Scan<Order>& second) {
  const Queue::Scope scope(queue);
  const Tiles tiles(gaps.rows, gaps.n);
  const Both<Order> both{first, second};
  const std::ptrdiff_t items = 2 * tiles.count();
  Stretch<Order>* ends = nullptr;
  if (tiles.per_row > 1) {
    ends = queue.take<Stretch<Order>>(items);
    queue.run(tile_kernel<Order>, items, kThreads, tiles, gaps, both, Pass::ends, ends);
    queue.run(carry_kernel<Order>, 2 * gaps.rows, kThreads, 2 * gaps.rows, tiles.per_row, ends);
  }
  queue.run(tile_kernel<Order>, items, kThreads, tiles, gaps, both, Pass::tiles, ends);
}

template void decayed_scan<0>(Queue&, const Gaps&, const Scan<0>&, const Scan<0>&);
template void decayed_scan<1>(Queue&, const Gaps&, const Scan<1>&, const Scan<1>&);
template void decayed_scan<2>(Queue&, const Gaps&, const Scan<2>&, const Scan<2>&);
template void decayed_scan<3>(Queue&, const Gaps&, const Scan<3>&, const Scan<3>&);

}  // namespace lapsum::gpu
