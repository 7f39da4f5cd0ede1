// A search lives in shared memory. Its team sweeps over the row, and one thread takes what was
// found.
#include "cuda/primitives/threshold.h"

#include <cstring>

#include "cuda/instantiate.h"
#include "cuda/primitives/element.h"
#include "cuda/primitives/numbers.h"
#include "cuda/primitives/search.h"
#include "cuda/primitives/team.h"
#include "math/orientation.h"

namespace lapsum::gpu {
namespace {

// Word by word: a copy at once holds all of them in registers.
__device__ void copy(const Search& from, Search& to) {
  static_assert(sizeof(Search) % 8 == 0);
#pragma unroll 1
  for (std::size_t at = 0; at < sizeof(Search); at += 8) {
    std::memcpy(reinterpret_cast<char*>(&to) + at, reinterpret_cast<const char*>(&from) + at, 8);
  }
}

template <class T>
struct Problem {
  Rows<const T> x;
  Numbers k;
  std::ptrdiff_t levels;
  Numbers alpha;
  Order order;
  Tiling tiling;

  __device__ std::ptrdiff_t items() const { return x.count * levels; }
  __device__ Orientation orientation(std::ptrdiff_t item) const {
    return {alpha.at(item / levels), order};
  }
  // The search of an item as it was, or from its start. A conditional expression would hold both in
  // registers.
  __device__ void resume(Search& search, const Search* searches, std::ptrdiff_t item) const {
    if (searches) {
      copy(searches[item], search);
      return;
    }
    const Orientation o = orientation(item);
    const double origin = x.length > 0 ? o.sign * to_double(x[item / levels][0]) : 0;
    const double level = o.valid ? k.at(item / levels, item % levels) : NAN;
    search = Search::start(level, o.valid ? o.alpha : 1, static_cast<double>(x.length), origin);
  }
  // What the team finds in a tile; all of its threads have read the search when one returns.
  template <class Team>
  __device__ Swept sweep(const Search& search, std::ptrdiff_t item, std::ptrdiff_t tile) const {
    const T* const row = x[item / levels];
    const double sign = orientation(item).sign;
    Swept part = Swept::nothing();
    for_each_in_tile<Team>(tiling, tile,
                           [&](std::ptrdiff_t i) { search.see(sign * to_double(row[i]), part); });
    return Team::reduce(part);
  }
};

// What the tiles of a row found in the last pass.
template <class Team>
__device__ Swept gather(const Swept* parts, std::ptrdiff_t item, std::ptrdiff_t tiles) {
  Swept part = Swept::nothing();
  for (std::ptrdiff_t t = rank_in_team<Team>(); t < tiles; t += Team::kSize) {
    part += parts[item * tiles + t];
  }
  return Team::reduce(part);
}

// Whole rows by one team each, from the start, or from where the passes of their tiles ended. As
// many threads share a processor as registers allow without spills.
template <class T, class Team>
__global__ void __launch_bounds__(kTeamThreads<Team>, 768 / kTeamThreads<Team>)
    search_kernel(Problem<T> problem, const Search* searches, const Swept* parts, Threshold* b) {
  __shared__ Search shared[Team::kPerBlock];
  Search& search = shared[team_in_block<Team>()];
  const bool leads = rank_in_team<Team>() == 0;
  for_each_piece<Team>(problem.items(), [&](std::ptrdiff_t item) {
    if (leads) problem.resume(search, searches, item);
    Team::sync();
    bool gathered = searches == nullptr;
    while (!search.done()) {
      Swept all;
      if (gathered) {
        all = Swept::nothing();
        for (std::ptrdiff_t t = 0; t < problem.tiling.tiles; ++t) {
          all += problem.template sweep<Team>(search, item, t);
        }
      } else {
        all = gather<Team>(parts, item, problem.tiling.tiles);
        gathered = true;
      }
      Team::sync();
      if (leads) search.take(all);
      Team::sync();
    }
    if (leads) b[item] = search.result();
    Team::sync();
  });
}

// One tile in one pass. Every block of a row makes the same of the parts that the pass before left,
// and one of them keeps it.
template <class T>
__global__ void __launch_bounds__(kTeamThreads<Block>)
    pass_kernel(Problem<T> problem, const Search* before, const Swept* found, Search* after,
                Swept* parts) {
  __shared__ Search search;
  const std::ptrdiff_t tiles = problem.tiling.tiles;
  for_each_piece<Block>(problem.items() * tiles, [&](std::ptrdiff_t piece) {
    const std::ptrdiff_t item = piece / tiles;
    if (threadIdx.x == 0) problem.resume(search, before, item);
    __syncthreads();
    if (before && !search.done()) {
      const Swept all = gather<Block>(found, item, tiles);
      if (threadIdx.x == 0) search.take(all);
      __syncthreads();
    }
    if (threadIdx.x == 0 && piece % tiles == 0) copy(search, after[item]);
    if (!search.done()) {
      const Swept part = problem.template sweep<Block>(search, item, piece % tiles);
      if (threadIdx.x == 0) parts[piece] = part;
    }
    __syncthreads();
  });
}

}  // namespace

template <class T>
void solve_thresholds(Queue& queue, Rows<const T> x, const Levels& k, const PerRow& alpha,
                      Order order, const Tiling& tiling, Threshold* b) {
  const Queue::Scope scope(queue);
  const std::ptrdiff_t items = x.count * k.count();
  const std::ptrdiff_t pieces = items * tiling.tiles;
  const Problem<T> problem{x, k, k.count(), alpha, order, tiling};
  // A pass reads what the one before has written, and writes elsewhere.
  const Search* searches = nullptr;
  const Swept* parts = nullptr;
  if (tiling.tiles > 1) {
    Search* const kept[] = {queue.take<Search>(items), queue.take<Search>(items)};
    Swept* const found[] = {queue.take<Swept>(pieces), queue.take<Swept>(pieces)};
    for (int pass = 0; pass < tiling.passes; ++pass) {
      run_teams<Block>(queue, pass_kernel<T>, pieces, problem, searches, parts, kept[pass % 2],
                       found[pass % 2]);
      searches = kept[pass % 2];
      parts = found[pass % 2];
    }
  }
  run_teams(queue, search_kernel<T, Warp>, search_kernel<T, Block>, tiling, items, problem,
            searches, parts, b);
}

LAPSUM_INSTANTIATE_CUDA(solve_thresholds)

}  // namespace lapsum::gpu
