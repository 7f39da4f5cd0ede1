// What a recipe runs on: the stream that its kernels are queued on, and the scratch memory they
// use.
#pragma once

#include <algorithm>
#include <cstddef>

#include "cuda/primitives/launch.h"
#include "lapsum/cuda/launch.h"

namespace lapsum::gpu {

/// Memory is cut from what the caller gave, and handed out again after the end of a Scope: kernels
/// of one stream run one after another. A queue without a Launch starts nothing and only counts:
/// recipes depend on sizes alone, so running one on it tells how much memory it needs.
class Queue {
 public:
  /// Gives back at its end what was taken since its beginning.
  class Scope {
   public:
    explicit Scope(Queue& queue) : queue_(queue), used_(queue.used_) {}
    ~Scope() { queue_.used_ = used_; }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    Queue& queue_;
    std::size_t used_;
  };

  Queue() = default;
  explicit Queue(const cuda::Launch& where) : runs_(true), where_(where) {}

  template <class T>
  T* take(std::ptrdiff_t count) {
    const std::size_t at = used_;
    used_ += (static_cast<std::size_t>(count) * sizeof(T) + kAlign - 1) / kAlign * kAlign;
    most_ = std::max(most_, used_);
    return runs_ ? reinterpret_cast<T*>(static_cast<char*>(where_.workspace) + at) : nullptr;
  }

  template <class... Parameters, class... Arguments>
  void run(void (*kernel)(Parameters...), std::ptrdiff_t items, int threads,
           const Arguments&... arguments) {
    if (runs_) launch(where_.stream, kernel, items, threads, arguments...);
  }

  bool runs() const { return runs_; }
  const cuda::Launch& where() const { return where_; }
  std::size_t most() const { return most_; }

 private:
  static constexpr std::size_t kAlign = 256;

  bool runs_ = false;
  cuda::Launch where_;
  std::size_t used_ = 0, most_ = 0;
};

}  // namespace lapsum::gpu
