// Scratch memory: buffers handed out in order, reused by the next row.
// Each buffer is an allocation of its own, so that a sanitizer sees what runs over its end, and begins
// with a line of the cache: vectors across two of them cost twice. Large ones ask for huge pages:
// mapping fresh memory in small pages costs more than filling it.
#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <span>
#include <vector>

namespace lapsum::cpu {

struct FreeAligned {
  std::align_val_t alignment{};
  void operator()(std::byte* data) const { ::operator delete(data, alignment); }
};

/// A line of the cache. What two threads write must not stand in one.
inline constexpr std::size_t kCacheLine = 64;

class alignas(kCacheLine) Arena {
 public:
  /// Gives back at its end what was taken since its beginning.
  class Scope {
   public:
    explicit Scope(Arena& arena) : arena_(arena), used_(arena.used_) {}
    ~Scope() { arena_.used_ = used_; }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    Arena& arena_;
    std::size_t used_;
  };

  std::size_t bytes() const {
    std::size_t sum = 0;
    for (const Buffer& buffer : buffers_) sum += buffer.bytes;
    for (const Arena& part : parts_) sum += part.bytes();
    return sum;
  }

  /// Arenas of their own for so many threads that work on one row; they are kept with this one, and
  /// whoever takes from them gives it back.
  std::span<Arena> for_threads(int threads) {
    const auto count = static_cast<std::size_t>(threads);
    if (parts_.size() < count) parts_.resize(count);
    return {parts_.data(), count};
  }

  /// An uninitialised span of n elements of a trivial type, valid until the end of the scope.
  template <class T>
  std::span<T> take(std::ptrdiff_t n) {
    const auto bytes = static_cast<std::size_t>(n) * sizeof(T);
    if (used_ == buffers_.size()) buffers_.emplace_back();
    Buffer& buffer = buffers_[used_++];
    if (buffer.bytes < bytes || !buffer.data) {
      buffer.data.reset();
      buffer.data = allocate(bytes);
      buffer.bytes = bytes;
    }
    return {reinterpret_cast<T*>(buffer.data.get()), static_cast<std::size_t>(n)};
  }

 private:
  using Memory = std::unique_ptr<std::byte, FreeAligned>;
  /// Throws std::bad_alloc.
  static Memory allocate(std::size_t bytes);

  struct Buffer {
    Memory data;
    std::size_t bytes = 0;
  };
  std::vector<Buffer> buffers_;
  std::vector<Arena> parts_;
  std::size_t used_ = 0;
};

/// The arenas of one call, one for each of its threads. The calling thread keeps them for its next
/// call, as long as all threads together keep no more than kMostKept bytes: memory fresh from the
/// system costs more than the work on it.
class Scratch {
 public:
  static constexpr std::size_t kMostKept = std::size_t{256} << 20;

  explicit Scratch(int threads);
  ~Scratch();
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  Arena& operator[](int thread) { return arenas_[static_cast<std::size_t>(thread)]; }

 private:
  std::vector<Arena> arenas_;
};

}  // namespace lapsum::cpu
