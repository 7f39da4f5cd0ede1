// The shared memory of the running block: cut from a ring, so that the next blocks do not touch the
// same bytes, between zones that AddressSanitizer guards.
#pragma once

#include <cstddef>
#include <cstdint>

namespace executor {

inline constexpr std::size_t kStaticLimit = std::size_t{48} << 10;
inline constexpr std::size_t kOptInLimit = std::size_t{227} << 10;

class SharedMemory {
 public:
  SharedMemory();

  /// Memory of a new block. True if the ring begins anew: then all blocks so far must have ended.
  bool begin_block(std::size_t dynamic_bytes);

  void* take_static(std::size_t bytes);
  void* dynamic() const { return dynamic_; }
  std::uint64_t block() const { return block_; }

 private:
  void* take(std::size_t bytes);

  char* ring_;
  std::size_t begin_ = 0, used_ = 0, static_bytes_ = 0;
  std::uint64_t block_ = 0;
  void* dynamic_ = nullptr;
};

extern SharedMemory shared_memory;

}  // namespace executor
