// Stacks have a page below them that traps, so that an overflow is a crash and not a riddle.
#include "fiber.h"

#include <sys/mman.h>
#include <unistd.h>

#include <new>

#include "sanitizers.h"
#include "switch_stack.h"

namespace executor {
namespace {

constexpr std::size_t kStack = std::size_t{1} << 17;

struct Host {
  void* context = nullptr;
  void* race_fiber = nullptr;
  const void* bottom = nullptr;
  std::size_t bytes = 0;
};

Host host;
Fiber* running = nullptr;

const std::size_t kGuard = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));

}  // namespace

Fiber::Fiber() {
  void* at = mmap(nullptr, kGuard + kStack, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (at == MAP_FAILED) throw std::bad_alloc();
  mprotect(at, kGuard, PROT_NONE);
  memory_ = static_cast<char*>(at);
  prepare();
}

Fiber::~Fiber() {
  if (race_fiber_) delete_race_fiber(race_fiber_);
  delete_stack(context_);
  permit(memory_ + kGuard, kStack);
  munmap(memory_, kGuard + kStack);
}

void Fiber::prepare() {
  permit(memory_ + kGuard, kStack);
  context_ = new_stack(memory_ + kGuard, kStack, &Fiber::loop, context_);
  if (race_fiber_) delete_race_fiber(race_fiber_);
  race_fiber_ = new_race_fiber();
}

void Fiber::forget() {
  if (!task_) return;
  task_ = nullptr;
  void* const here = this_race_fiber();
  switch_race_fiber(race_fiber_);
  happens_before(this);
  switch_race_fiber(here);
  happens_after(this);
  prepare();
}

void Fiber::loop() {
  enter_stack(nullptr, &host.bottom, &host.bytes);
  for (;;) {
    running->task_();
    running->task_ = nullptr;
    suspend();
  }
}

void Fiber::resume() {
  host.race_fiber = this_race_fiber();
  running = this;
  void* fake = nullptr;
  leave_stack(&fake, memory_ + kGuard, kStack);
  switch_race_fiber(race_fiber_);
  switch_stack(&host.context, context_);
  enter_stack(fake, nullptr, nullptr);
}

void Fiber::suspend() {
  Fiber& self = *running;
  void* fake = nullptr;
  leave_stack(&fake, host.bottom, host.bytes);
  switch_race_fiber(host.race_fiber);
  switch_stack(&self.context_, host.context);
  enter_stack(fake, &host.bottom, &host.bytes);
}

}  // namespace executor
