// Every variable is filled with 0xff when its block first names it: NaN as float and as double.
#include "shared_memory.h"

#include <sys/mman.h>

#include <new>

#include "executor/block.h"
#include "executor/shared.h"
#include "sanitizers.h"

namespace executor {
namespace {

constexpr std::size_t kZone = 128;  // also the alignment
constexpr std::size_t kRing = std::size_t{2} << 20;
constexpr std::size_t kMost = 2 * kOptInLimit;  // what one block can take, zones included

}  // namespace

SharedMemory shared_memory;

SharedMemory::SharedMemory() {
  void* at = mmap(nullptr, kRing, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (at == MAP_FAILED) throw std::bad_alloc();
  ring_ = static_cast<char*>(at);
  forbid(ring_, kRing);
}

bool SharedMemory::begin_block(std::size_t dynamic_bytes) {
  ++block_;
  forbid(ring_ + begin_, used_ - begin_);
  const bool anew = used_ + kMost > kRing;
  if (anew) used_ = 0;
  begin_ = used_;
  static_bytes_ = 0;
  dynamic_ = take(dynamic_bytes);
  return anew;
}

void* SharedMemory::take_static(std::size_t bytes) {
  static_bytes_ += bytes;
  if (static_bytes_ > kStaticLimit) fail("more than 48 KB of shared variables", {"__shared__", {}});
  return take(bytes);
}

void* SharedMemory::take(std::size_t bytes) {
  char* const at = ring_ + used_ + kZone;
  used_ += 2 * kZone + (bytes + kZone - 1) / kZone * kZone;
  permit(at, bytes);
  // Not memset: ThreadSanitizer would take it for a write of the thread that came first.
  std::size_t i = 0;
  for (; i + 8 <= bytes; i += 8) *reinterpret_cast<volatile std::uint64_t*>(at + i) = ~0ull;
  for (; i < bytes; ++i) *static_cast<volatile char*>(at + i) = '\xff';
  return at;
}

void* Slot::of_this_block(std::size_t bytes) {
  if (block_ != shared_memory.block()) {
    block_ = shared_memory.block();
    at_ = shared_memory.take_static(bytes);
  }
  return at_;
}

void* dynamic_shared_memory() { return shared_memory.dynamic(); }

}  // namespace executor
