// A buffer between guard zones. A write past its ends changes the zones, which is a failure when
// the buffer dies; under AddressSanitizer the zones are poisoned, so that a read there fails too.
#pragma once

#include <gtest/gtest.h>
#include <sanitizer/asan_interface.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <type_traits>
#include <vector>

namespace lapsum::test {

template <class T>
class Guarded {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  /// n elements that hold the pattern of the zones.
  explicit Guarded(std::ptrdiff_t n)
      : bytes_(static_cast<std::size_t>(n) * sizeof(T) + 2 * kZone, kPattern) {
    poison();
  }
  explicit Guarded(const std::vector<T>& values) : Guarded(std::ssize(values)) {
    std::copy(values.begin(), values.end(), data());
  }
  Guarded(const Guarded&) = delete;
  Guarded& operator=(const Guarded&) = delete;

  ~Guarded() {
    for (const std::span<std::byte> zone : zones()) {
      ASAN_UNPOISON_MEMORY_REGION(zone.data(), zone.size());
      EXPECT_TRUE(std::all_of(zone.begin(), zone.end(), [](std::byte b) { return b == kPattern; }))
          << "written outside of a buffer of " << size() << " elements";
    }
  }

  T* data() { return reinterpret_cast<T*>(bytes_.data() + kZone); }
  std::ptrdiff_t size() const {
    return static_cast<std::ptrdiff_t>((bytes_.size() - 2 * kZone) / sizeof(T));
  }
  T& operator[](std::ptrdiff_t i) { return data()[i]; }
  std::span<T> span() { return {data(), static_cast<std::size_t>(size())}; }
  std::vector<T> copy() { return {data(), data() + size()}; }

 private:
  // A multiple of 8 but of no vector's size: the buffer is aligned for its elements alone.
  static constexpr std::size_t kZone = 136;
  static constexpr std::byte kPattern{0xa5};

  std::array<std::span<std::byte>, 2> zones() {
    const std::span<std::byte> all(bytes_);
    return {all.first(kZone), all.last(kZone)};
  }
  void poison() {
    for (const std::span<std::byte> zone : zones()) {
      ASAN_POISON_MEMORY_REGION(zone.data(), zone.size());
    }
  }

  std::vector<std::byte> bytes_;
};

}  // namespace lapsum::test
