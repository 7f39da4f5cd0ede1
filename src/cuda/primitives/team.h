// Threads that work on one piece of a row together: a warp or a block. Sums are taken in an order
// that depends on the length of the row alone.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstring>
#include <type_traits>

#include "cuda/primitives/queue.h"
#include "cuda/primitives/tiling.h"

namespace lapsum::gpu {

/// A value of another lane; it is made of words of 8 bytes.
template <class Value>
__device__ Value shuffle_xor(const Value& value, int flip) {
  static_assert(std::is_trivially_copyable_v<Value> && sizeof(Value) % 8 == 0);
  unsigned long long words[sizeof(Value) / 8];
  std::memcpy(words, &value, sizeof(Value));
  for (unsigned long long& word : words) word = __shfl_xor_sync(~0u, word, flip);
  Value out;
  std::memcpy(&out, words, sizeof(Value));
  return out;
}

struct Warp {
  static constexpr int kSize = kWarp;
  static constexpr int kPerBlock = 4;

  __device__ static void sync() { __syncwarp(); }
  /// The sum of all threads' values, by +=, for every thread.
  template <class Value>
  __device__ static Value reduce(Value value) {
    for (int flip = kWarp / 2; flip > 0; flip /= 2) {
      const Value other = shuffle_xor(value, flip);
      value += other;
    }
    return value;
  }
};

struct Block {
  static constexpr int kSize = 256;
  static constexpr int kPerBlock = 1;

  __device__ static void sync() { __syncthreads(); }
  template <class Value>
  __device__ static Value reduce(Value value) {
    __shared__ Value parts[kSize / kWarp];
    value = Warp::reduce(value);
    if (threadIdx.x % kWarp == 0) parts[threadIdx.x / kWarp] = value;
    __syncthreads();
    Value all = parts[0];
    for (int w = 1; w < kSize / kWarp; ++w) all += parts[w];
    __syncthreads();
    return all;
  }
};

template <class Team>
inline constexpr int kTeamThreads = Team::kSize * Team::kPerBlock;

/// This thread's number in its team, and its team's in the block.
template <class Team>
__device__ int rank_in_team() {
  return static_cast<int>(threadIdx.x) % Team::kSize;
}
template <class Team>
__device__ int team_in_block() {
  return static_cast<int>(threadIdx.x) / Team::kSize;
}

/// body(piece) for the pieces of this team.
template <class Team, class Body>
__device__ void for_each_piece(std::ptrdiff_t pieces, Body&& body) {
  const std::ptrdiff_t teams = static_cast<std::ptrdiff_t>(gridDim.x) * Team::kPerBlock;
  std::ptrdiff_t piece =
      static_cast<std::ptrdiff_t>(blockIdx.x) * Team::kPerBlock + team_in_block<Team>();
  for (; piece < pieces; piece += teams) body(piece);
}

/// body(i) for the elements of tile t that are this thread's.
template <class Team, class Body>
__device__ void for_each_in_tile(const Tiling& tiling, std::ptrdiff_t t, Body&& body) {
  const std::ptrdiff_t begin = t * tiling.tile;
  const std::ptrdiff_t end = begin + tiling.tile < tiling.n ? begin + tiling.tile : tiling.n;
  for (std::ptrdiff_t i = begin + rank_in_team<Team>(); i < end; i += Team::kSize) body(i);
}

/// Queues a kernel of teams for so many pieces of rows.
template <class Team, class... Parameters, class... Arguments>
void run_teams(Queue& queue, void (*kernel)(Parameters...), std::ptrdiff_t pieces,
               const Arguments&... arguments) {
  queue.run(kernel, (pieces + Team::kPerBlock - 1) / Team::kPerBlock, kTeamThreads<Team>,
            arguments...);
}
/// The kernel of warps or that of blocks, as the tiling says.
template <class... Parameters, class... Arguments>
void run_teams(Queue& queue, void (*by_warp)(Parameters...), void (*by_block)(Parameters...),
               const Tiling& tiling, std::ptrdiff_t pieces, const Arguments&... arguments) {
  if (tiling.by_warp) {
    run_teams<Warp>(queue, by_warp, pieces, arguments...);
  } else {
    run_teams<Block>(queue, by_block, pieces, arguments...);
  }
}

}  // namespace lapsum::gpu
