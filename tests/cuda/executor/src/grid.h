// The grid that is running: its threads, what each of them waits for, and their turns. One grid
// runs at a time, one of its blocks at a time, all on the thread that launched it.
#pragma once

#include <cstdint>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "executor/host.h"
#include "executor/site.h"
#include "executor/warp.h"
#include "fiber.h"
#include "turns.h"

namespace executor {

struct Thread {
  enum class State { kReady, kAtBarrier, kInWarp, kFailed, kExited };
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
  unsigned count;  // of gatherings
  Gathering gatherings[32];
};

/// Not operator== in a header: it must not be the instrumented one that the linker takes.
bool same_place(const Site& a, const Site& b);

/// A thread says what it waits for and suspends itself; whatever follows from that is done by the
/// scheduler, so that ThreadSanitizer does not take it for the doing of that thread.
class Grid {
 public:
  void run(const cudaLaunchConfig_t& config, void (*call)(void*), void* arguments);

  // For the thread whose turn it is.
  std::uint64_t barrier(bool predicate, const Site& site);
  std::uint64_t exchange(Exchange exchange, unsigned mask, std::uint64_t value, int source,
                         const Site& site);
  [[noreturn]] void fail(const char* message, const Site& site);
  unsigned current() const { return current_; }
  unsigned live_lanes() const { return warps_[current_ / 32].live; }

 private:
  static void thread_main();

  void run_block(std::uint64_t block);
  void run_thread(unsigned rank);
  void complete_barrier();
  void complete_gatherings();
  void complete(const Gathering& gathering);
  Gathering& join(Exchange exchange, unsigned mask, const Site& site);

  /// What happens before a barrier happens before its end: each has a token of its own, as who comes
  /// early to the next one must not be heard of, nor another block. After many they come again.
  void* new_token() { return &tokens_[next_token_++ % std::size(tokens_)]; }
  Thread& lane(unsigned i) { return threads_[current_ / 32 * 32 + i]; }

  /// Ends the kernel: the message, then where every thread of the block is.
  [[noreturn]] void throw_fault(const std::string& message) const;

  std::vector<Thread> threads_;
  std::vector<Warp> warps_;
  std::vector<std::unique_ptr<Fiber>> fibers_;
  Turns turns_;
  unsigned current_ = 0, size_ = 0, live_ = 0, at_barrier_ = 0;
  std::uint64_t blocks_ = 0;
  std::uint64_t start_token_ = 0, end_token_ = 0, tokens_[1024] = {}, next_token_ = 0;
  void* barrier_token_ = nullptr;
  void (*call_)(void*) = nullptr;
  void* arguments_ = nullptr;
  const char* failure_ = nullptr;
};

extern Grid grid;

}  // namespace executor
