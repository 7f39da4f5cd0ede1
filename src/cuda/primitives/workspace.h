// Scratch memory of one call, cut from what the caller gave; without memory it only counts.
#pragma once

#include <cstddef>

#include "lapsum/cuda/launch.h"

namespace lapsum::gpu {

/// An operation takes its arrays in a function of the sizes alone, run twice: on no memory to learn
/// how much it needs, and on the caller's.
class Workspace {
 public:
  Workspace() = default;
  explicit Workspace(const cuda::Launch& where) : base_(static_cast<char*>(where.workspace)) {}

  template <class T>
  T* take(std::ptrdiff_t count) {
    T* const at = base_ ? reinterpret_cast<T*>(base_ + used_) : nullptr;
    used_ += (static_cast<std::size_t>(count) * sizeof(T) + kAlign - 1) / kAlign * kAlign;
    return at;
  }
  std::size_t used() const { return used_; }

 private:
  static constexpr std::size_t kAlign = 256;

  char* base_ = nullptr;
  std::size_t used_ = 0;
};

}  // namespace lapsum::gpu
