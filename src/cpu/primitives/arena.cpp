#include "cpu/primitives/arena.h"

#include <algorithm>
#include <atomic>
#include <new>
#include <utility>

#ifdef __linux__
#include <sys/mman.h>
#endif

namespace lapsum::cpu {
namespace {

std::atomic<std::size_t> kept_by_all = 0;

struct Kept {
  std::vector<Arena> arenas;
  std::size_t bytes = 0;

  ~Kept() { kept_by_all -= bytes; }
};
thread_local Kept kept;

}  // namespace

Scratch::Scratch(int threads) : arenas_(std::exchange(kept.arenas, {})) {
  kept_by_all -= std::exchange(kept.bytes, 0);
  const auto count = static_cast<std::size_t>(threads);
  if (arenas_.size() < count) arenas_.resize(count);
}

Scratch::~Scratch() {
  kept_by_all -= std::exchange(kept.bytes, 0);  // a call inside of this one may have kept its own
  kept.arenas.clear();
  std::size_t bytes = 0;
  for (const Arena& arena : arenas_) bytes += arena.bytes();
  if (kept_by_all.fetch_add(bytes) + bytes > kMostKept) {
    kept_by_all -= bytes;
    return;
  }
  kept.arenas = std::move(arenas_);
  kept.bytes = bytes;
}

std::byte* Arena::allocate(std::size_t bytes) {
  void* data = nullptr;
#ifdef __linux__
  constexpr std::size_t kHugePage = std::size_t{1} << 21;
  if (bytes >= kHugePage) {
    const std::size_t whole = (bytes + kHugePage - 1) / kHugePage * kHugePage;
    data = std::aligned_alloc(kHugePage, whole);
    if (data) madvise(data, whole, MADV_HUGEPAGE);  // a hint: the memory is as good without it
  }
#endif
  if (!data) data = std::malloc(std::max<std::size_t>(bytes, 1));
  if (!data) throw std::bad_alloc();
  return static_cast<std::byte*>(data);
}

}  // namespace lapsum::cpu
