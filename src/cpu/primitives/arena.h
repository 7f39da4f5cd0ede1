// Scratch memory: buffers handed out in order, reused by the next row.
// Each buffer is an allocation of its own, so that a sanitizer sees what runs over its end.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

namespace lapsum::cpu {

class Arena {
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

  /// An uninitialised span of n elements of a trivial type, valid until the end of the scope.
  template <class T>
  std::span<T> take(std::ptrdiff_t n) {
    const auto bytes = static_cast<std::size_t>(n) * sizeof(T);
    if (used_ == buffers_.size()) buffers_.emplace_back();
    Buffer& buffer = buffers_[used_++];
    if (buffer.bytes < bytes || !buffer.data) {
      buffer.data.reset(new std::byte[bytes]);
      buffer.bytes = bytes;
    }
    return {reinterpret_cast<T*>(buffer.data.get()), static_cast<std::size_t>(n)};
  }

 private:
  struct Buffer {
    std::unique_ptr<std::byte[]> data;
    std::size_t bytes = 0;
  };
  std::vector<Buffer> buffers_;
  std::size_t used_ = 0;
};

}  // namespace lapsum::cpu
