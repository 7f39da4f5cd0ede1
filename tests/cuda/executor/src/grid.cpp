// Threads run as fibers until they wait or exit; a round gives every ready thread a turn. When none
// is ready and some have not exited, the block is stuck.
#include "grid.h"

#include <algorithm>

#include "executor/block.h"
#include "sanitizers.h"
#include "shared_memory.h"

uint3 threadIdx;
uint3 blockIdx;
dim3 blockDim;
dim3 gridDim;

namespace executor {
namespace {

// Two blocks in a row run on different fibers: to ThreadSanitizer these are different threads.
constexpr unsigned kFiberSets = kWatchesRaces ? 2 : 1;

}  // namespace

Grid grid;

void Grid::run(const cudaLaunchConfig_t& config, void (*call)(void*), void* arguments) {
  gridDim = config.gridDim;
  blockDim = config.blockDim;
  call_ = call;
  arguments_ = arguments;
  size_ = blockDim.x * blockDim.y * blockDim.z;
  threads_.resize(size_);
  for (unsigned i = 0; i < size_; ++i) {
    threads_[i].index = {i % blockDim.x, i / blockDim.x % blockDim.y, i / blockDim.x / blockDim.y};
  }
  warps_.resize((size_ + 31) / 32);
  while (fibers_.size() < kFiberSets * size_) fibers_.push_back(std::make_unique<Fiber>());

  const std::uint64_t blocks = std::uint64_t{gridDim.x} * gridDim.y * gridDim.z;
  turns_.begin(size_, blocks);
  happens_before(&start_token_);
  try {
    for (std::uint64_t i = 0; i < blocks; ++i) {
      if (shared_memory.begin_block(config.dynamicSmemBytes)) {
        happens_after(&end_token_);
        happens_before(&start_token_);
      }
      run_block(turns_.block(i));
    }
  } catch (...) {
    for (const Thread& thread : threads_) thread.fiber->forget();
    happens_after(&end_token_);
    throw;
  }
  happens_after(&end_token_);
}

void Grid::run_block(std::uint64_t block) {
  blockIdx = {static_cast<unsigned>(block % gridDim.x),
              static_cast<unsigned>(block / gridDim.x % gridDim.y),
              static_cast<unsigned>(block / gridDim.x / gridDim.y)};
  ++blocks_;
  live_ = size_;
  at_barrier_ = 0;
  barrier_token_ = new_token();
  for (unsigned i = 0; i < size_; ++i) {
    threads_[i].state = Thread::State::kReady;
    threads_[i].fiber = fibers_[blocks_ % kFiberSets * size_ + i].get();
    threads_[i].fiber->begin(&Grid::thread_main);
  }
  for (unsigned i = 0; i < warps_.size(); ++i) {
    const unsigned lanes = std::min(size_ - 32 * i, 32u);
    warps_[i].live = lanes == 32 ? ~0u : (1u << lanes) - 1;
    warps_[i].count = 0;
  }
  const auto ready = [](const Thread& thread) { return thread.state == Thread::State::kReady; };
  while (live_ > 0) {
    for (const unsigned rank : turns_.round()) {
      if (ready(threads_[rank])) run_thread(rank);
    }
    if (live_ > 0 && std::none_of(threads_.begin(), threads_.end(), ready)) {
      throw_fault("the block is stuck");
    }
  }
}

void Grid::run_thread(unsigned rank) {
  Thread& thread = threads_[rank];
  current_ = rank;
  threadIdx = thread.index;
  thread.fiber->resume();
  switch (thread.state) {
    case Thread::State::kReady:
      break;
    case Thread::State::kAtBarrier:
      ++at_barrier_;
      complete_barrier();
      break;
    case Thread::State::kInWarp:
      complete_gatherings();
      break;
    case Thread::State::kFailed:
      throw_fault(failure_);
    case Thread::State::kExited:
      --live_;
      warps_[rank / 32].live &= ~(1u << rank % 32);
      complete_gatherings();
      complete_barrier();
      break;
  }
}

void Grid::thread_main() {
  happens_after(&grid.start_token_);
  grid.call_(grid.arguments_);
  happens_before(&grid.end_token_);
  grid.threads_[grid.current_].state = Thread::State::kExited;
}

std::uint64_t Grid::barrier(bool predicate, const Site& site) {
  Thread& self = threads_[current_];
  self.state = Thread::State::kAtBarrier;
  self.site = site;
  self.value = predicate;
  void* const token = barrier_token_;
  happens_before(token);
  Fiber::suspend();
  happens_after(token);
  return self.result;
}

void Grid::complete_barrier() {
  if (at_barrier_ < live_ || live_ == 0) return;
  std::uint64_t predicates = 0;
  const Thread* first = nullptr;
  for (const Thread& thread : threads_) {
    if (thread.state == Thread::State::kExited) continue;
    if (!first) first = &thread;
    if (!same_place(thread.site, first->site))
      throw_fault("threads of a block wait at different barriers");
    predicates += thread.value;
  }
  for (Thread& thread : threads_) {
    if (thread.state == Thread::State::kExited) continue;
    thread.result = predicates << 32 | live_;
    thread.state = Thread::State::kReady;
  }
  at_barrier_ = 0;
  barrier_token_ = new_token();
}

void Grid::fail(const char* message, const Site& site) {
  Thread& self = threads_[current_];
  self.state = Thread::State::kFailed;
  self.site = site;
  failure_ = message;
  for (;;) Fiber::suspend();
}

bool same_place(const Site& a, const Site& b) {
  if (a.where.line() != b.where.line() || a.where.column() != b.where.column()) return false;
  const char* s = a.where.file_name();
  const char* t = b.where.file_name();
  // Not strcmp: ThreadSanitizer would watch it.
  while (s != t && *s == *t && *s != '\0') ++s, ++t;
  return s == t || *s == *t;
}

unsigned thread_rank() { return grid.current(); }

Count block_barrier(bool predicate, const Site& site) {
  const std::uint64_t result = grid.barrier(predicate, site);
  return {static_cast<int>(result >> 32), static_cast<int>(result & 0xffffffff)};
}

void fence() {
  static std::uint64_t token;
  happens_after(&token);
  happens_before(&token);
}

void fail(const char* message, const Site& site) { grid.fail(message, site); }

}  // namespace executor
