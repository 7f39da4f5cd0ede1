// The grid that is running: its threads, what each of them waits for, and their turns. One grid runs
// at a time, one block of it at a time, all on the thread that launched it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "executor/host.h"
#include "executor/schedule.h"
#include "executor/site.h"
#include "executor/warp.h"
#include "fiber.h"
#include "turns.h"

namespace executor {

struct Thread {
  enum class State { kReady, kAtBarrier, kInWarp, kExited };
  State state;
  uint3 index;
  Fiber* fiber;
  // What it brought to the operation it waits in, and what it gets.
  Site site;
  unsigned mask;
  std::uint64_t value;
  int source;
  std::uint64_t result;
};

/// Lanes on their way to one call of a warp operation.
struct Gathering {
  Exchange exchange;
  Site site;
  unsigned mask;
  unsigned arrived;
  void* token;
};

struct Warp {
  unsigned live;
  std::vector<Gathering> gatherings;
  unsigned syncs = 0;
  std::uint64_t tokens[64];  // one per __syncwarp under way: see sanitizers.h
};

class Grid {
 public:
  void run(const cudaLaunchConfig_t& config, void (*call)(void*), void* arguments);

  Thread& current() { return threads_[current_]; }
  unsigned current_rank() const { return current_; }
  Warp& current_warp() { return warps_[current_ / 32]; }
  Thread& lane(unsigned lane) { return threads_[current_ / 32 * 32 + lane]; }

  /// Until another thread, or the end of an operation, makes the current thread ready.
  void wait();
  void arrive_at_barrier(bool predicate, const Site& site);
  void complete(Gathering& gathering);

  /// Ends the kernel with a Fault: the message, then where every thread of the block is.
  [[noreturn]] void fail(const std::string& message);

 private:
  static void thread_main();
  void run_block(uint3 index);
  void run_thread(unsigned rank);
  void complete_barrier();
  void exit_thread();
  std::string whereabouts() const;

  std::vector<Thread> threads_;
  std::vector<Warp> warps_;
  std::vector<std::unique_ptr<Fiber>> fibers_;
  Turns turns_;
  unsigned current_ = 0, size_ = 0, live_ = 0, at_barrier_ = 0;
  std::uint64_t blocks_ = 0, barriers_ = 0;
  std::uint64_t start_token_ = 0, end_token_ = 0, barrier_tokens_[2] = {};
  void (*call_)(void*) = nullptr;
  void* arguments_ = nullptr;
  std::string fault_;
};

extern Grid grid;

}  // namespace executor
