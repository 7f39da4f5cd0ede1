// What the lanes of a warp do together: shuffles, votes, __syncwarp. All lanes that the mask names
// and that have not exited must come to the same call with the same mask; a lane that takes the
// value of one that did not come is a fault. As on a GPU, only __syncwarp orders memory.
#pragma once

#include <bit>
#include <concepts>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "executor/language.h"
#include "executor/site.h"

namespace executor {

enum class Exchange { kSync, kShuffle, kBallot, kMatch };

/// The one collective of a warp. kShuffle: the value of lane `source`. kBallot: the lanes whose
/// value is 1. kMatch: the lanes whose value is the same.
std::uint64_t warp_exchange(Exchange exchange, unsigned mask, std::uint64_t value, int source,
                            const Site& site);
unsigned live_lanes();

/// The number of this thread in its block, and in its warp.
unsigned thread_rank();
inline int lane() { return static_cast<int>(thread_rank() % 32); }

template <class T>
concept Shuffled = std::is_trivially_copyable_v<T> &&
                   ((std::is_arithmetic_v<T> && sizeof(T) >= 4 && sizeof(T) <= 8) ||
                    requires { typename T::ShortFloat; });

template <class T>
std::uint64_t to_bits(T value) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof(T));
  return bits;
}

template <Shuffled T>
T shuffle(unsigned mask, T value, int source, const Site& site) {
  const std::uint64_t bits = warp_exchange(Exchange::kShuffle, mask, to_bits(value), source, site);
  T result;
  std::memcpy(static_cast<void*>(&result), &bits, sizeof(T));
  return result;
}

}  // namespace executor

template <executor::Shuffled T>
T __shfl_sync(unsigned mask, T value, int source, int width = 32,
              executor::Where where = executor::Where::current()) {
  const int base = executor::lane() & ~(width - 1);
  return executor::shuffle(mask, value, base + (source & (width - 1)), {"__shfl_sync", where});
}

template <executor::Shuffled T>
T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = 32,
                 executor::Where where = executor::Where::current()) {
  const int lane = executor::lane();
  const int inside = lane & (width - 1);
  const int source = inside >= static_cast<int>(delta) ? lane - static_cast<int>(delta) : lane;
  return executor::shuffle(mask, value, source, {"__shfl_up_sync", where});
}

template <executor::Shuffled T>
T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = 32,
                   executor::Where where = executor::Where::current()) {
  const int lane = executor::lane();
  const int inside = lane & (width - 1);
  const int source =
      inside + static_cast<int>(delta) < width ? lane + static_cast<int>(delta) : lane;
  return executor::shuffle(mask, value, source, {"__shfl_down_sync", where});
}

template <executor::Shuffled T>
T __shfl_xor_sync(unsigned mask, T value, int flip, int width = 32,
                  executor::Where where = executor::Where::current()) {
  const int lane = executor::lane();
  const int source = lane ^ flip;
  // A later group of `width` lanes cannot be read, an earlier one can.
  const bool inside = source < (lane & ~(width - 1)) + width;
  return executor::shuffle(mask, value, inside ? source : lane, {"__shfl_xor_sync", where});
}

inline unsigned __ballot_sync(unsigned mask, int predicate,
                              executor::Where where = executor::Where::current()) {
  return static_cast<unsigned>(executor::warp_exchange(
      executor::Exchange::kBallot, mask, predicate != 0, 0, {"__ballot_sync", where}));
}
inline int __any_sync(unsigned mask, int predicate,
                      executor::Where where = executor::Where::current()) {
  return executor::warp_exchange(executor::Exchange::kBallot, mask, predicate != 0, 0,
                                 {"__any_sync", where}) != 0;
}
inline int __all_sync(unsigned mask, int predicate,
                      executor::Where where = executor::Where::current()) {
  return executor::warp_exchange(executor::Exchange::kBallot, mask, predicate == 0, 0,
                                 {"__all_sync", where}) == 0;
}

template <class T>
  requires(std::is_arithmetic_v<T> && sizeof(T) >= 4 && sizeof(T) <= 8)
unsigned __match_any_sync(unsigned mask, T value,
                          executor::Where where = executor::Where::current()) {
  return static_cast<unsigned>(executor::warp_exchange(
      executor::Exchange::kMatch, mask, executor::to_bits(value), 0, {"__match_any_sync", where}));
}

inline void __syncwarp(unsigned mask = 0xffffffffu,
                       executor::Where where = executor::Where::current()) {
  executor::warp_exchange(executor::Exchange::kSync, mask, 0, 0, {"__syncwarp", where});
}

/// The lanes that have not exited: a kernel must not depend on fewer.
inline unsigned __activemask() { return executor::live_lanes(); }
