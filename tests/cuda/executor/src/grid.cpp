// Threads run as fibers until they wait or exit; a round gives every ready thread a turn. When none
// is ready and some have not exited, the block is stuck.
#include "grid.h"

#include <sstream>

#include "executor/block.h"
#include "sanitizers.h"
#include "shared_memory.h"

uint3 threadIdx;
uint3 blockIdx;
dim3 blockDim;
dim3 gridDim;

namespace executor {

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
  while (fibers_.size() < std::max(size_, 32u)) fibers_.push_back(std::make_unique<Fiber>());

  const std::uint64_t blocks = std::uint64_t{gridDim.x} * gridDim.y * gridDim.z;
  turns_.begin(size_, blocks);
  happens_before(&start_token_);
  for (std::uint64_t i = 0; i < blocks; ++i) {
    const std::uint64_t block = turns_.block(i);
    if (shared_memory.begin_block(config.dynamicSmemBytes)) {
      happens_after(&end_token_);
      happens_before(&start_token_);
    }
    run_block({static_cast<unsigned>(block % gridDim.x),
               static_cast<unsigned>(block / gridDim.x % gridDim.y),
               static_cast<unsigned>(block / gridDim.x / gridDim.y)});
    shared_memory.end_block();
    if (!fault_.empty()) throw Fault(std::exchange(fault_, {}));
  }
  happens_after(&end_token_);
}

void Grid::run_block(uint3 index) {
  blockIdx = index;
  ++blocks_;
  live_ = size_;
  at_barrier_ = 0;
  for (unsigned i = 0; i < size_; ++i) {
    threads_[i].state = Thread::State::kReady;
    // Another fiber than in the block before: to ThreadSanitizer they are different threads.
    threads_[i].fiber = fibers_[(i + blocks_) % fibers_.size()].get();
    threads_[i].fiber->begin(&Grid::thread_main);
  }
  for (unsigned i = 0; i < warps_.size(); ++i) {
    const unsigned lanes = std::min(size_ - 32 * i, 32u);
    warps_[i].live = lanes == 32 ? ~0u : (1u << lanes) - 1;
    warps_[i].gatherings.clear();
  }
  while (live_ > 0 && fault_.empty()) {
    bool stuck = true;
    for (const unsigned rank : turns_.round()) {
      if (threads_[rank].state != Thread::State::kReady) continue;
      run_thread(rank);
      if (!fault_.empty()) return;
      stuck = false;
    }
    for (unsigned i = 0; stuck && i < size_; ++i) {
      stuck = threads_[i].state != Thread::State::kReady;
    }
    if (stuck && live_ > 0) fault_ = "the block is stuck" + whereabouts();
  }
}

void Grid::run_thread(unsigned rank) {
  current_ = rank;
  threadIdx = threads_[rank].index;
  threads_[rank].fiber->resume();
}

void Grid::thread_main() {
  happens_after(&grid.start_token_);
  grid.call_(grid.arguments_);
  happens_before(&grid.end_token_);
  grid.exit_thread();
}

void Grid::wait() {
  Thread& self = current();
  while (self.state != Thread::State::kReady) Fiber::suspend();
}

void Grid::arrive_at_barrier(bool predicate, const Site& site) {
  Thread& self = current();
  self.state = Thread::State::kAtBarrier;
  self.site = site;
  self.value = predicate;
  ++at_barrier_;
  // The next barrier needs another token: who comes there early must not be heard of here.
  void* const token = &barrier_tokens_[barriers_ % 2];
  happens_before(token);
  complete_barrier();
  wait();
  happens_after(token);
}

void Grid::complete_barrier() {
  if (at_barrier_ < live_ || live_ == 0) return;
  std::uint64_t predicates = 0;
  const Thread* first = nullptr;
  for (const Thread& thread : threads_) {
    if (thread.state == Thread::State::kExited) continue;
    if (!first) first = &thread;
    if (!(thread.site == first->site)) fail("threads of a block wait at different barriers");
    predicates += thread.value;
  }
  ++barriers_;
  for (Thread& thread : threads_) {
    if (thread.state == Thread::State::kExited) continue;
    thread.result = predicates << 32 | live_;
    thread.state = Thread::State::kReady;
  }
  at_barrier_ = 0;
}

void Grid::exit_thread() {
  current().state = Thread::State::kExited;
  --live_;
  Warp& warp = current_warp();
  warp.live &= ~(1u << current_ % 32);
  for (std::size_t i = warp.gatherings.size(); i-- > 0;) complete(warp.gatherings[i]);
  complete_barrier();
}

void Grid::fail(const std::string& message) {
  fault_ = message + whereabouts();
  for (;;) Fiber::suspend();
}

std::string Grid::whereabouts() const {
  const auto alike = [&](unsigned a, unsigned b) {
    const Thread &s = threads_[a], &t = threads_[b];
    if (s.state != t.state) return false;
    if (s.state == Thread::State::kInWarp && s.mask != t.mask) return false;
    return s.state == Thread::State::kReady || s.state == Thread::State::kExited ||
           s.site == t.site;
  };
  std::ostringstream out;
  out << " in block (" << blockIdx.x << ", " << blockIdx.y << ", " << blockIdx.z << ")";
  for (unsigned i = 0, next; i < size_; i = next) {
    for (next = i + 1; next < size_ && alike(i, next);) ++next;
    const Thread& thread = threads_[i];
    out << "\n  thread" << (next - i > 1 ? "s " : " ") << i;
    if (next - i > 1) out << " to " << next - 1;
    if (thread.state == Thread::State::kExited) {
      out << " exited";
    } else if (thread.state == Thread::State::kReady) {
      out << " running";
    } else {
      out << " in " << thread.site.operation;
      if (thread.state == Thread::State::kInWarp) out << " of lanes 0x" << std::hex << thread.mask;
      out << std::dec << " at " << thread.site.where.file_name() << ":" << thread.site.where.line();
    }
  }
  return out.str();
}

Count block_barrier(bool predicate, const Site& site) {
  grid.arrive_at_barrier(predicate, site);
  const std::uint64_t result = grid.current().result;
  return {static_cast<int>(result >> 32), static_cast<int>(result & 0xffffffff)};
}

void fence() {
  static std::uint64_t token;
  happens_after(&token);
  happens_before(&token);
}

void fail(const char* message, const Site& site) {
  std::string text = message;
  if (site.where.line() != 0) {
    text += std::string(" at ") + site.where.file_name() + ":" + std::to_string(site.where.line());
  }
  grid.fail(text);
}

}  // namespace executor
