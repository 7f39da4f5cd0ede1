// The arguments of one call, copied from the host to a device and back. The host's type T and the
// device's Element may differ: float on the host stands for the short types.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <stdexcept>
#include <vector>

#include "lapsum/cuda/launch.h"
#include "lapsum/rows.h"

namespace lapsum::test {

inline void check_cuda(cudaError_t status) {
  if (status != cudaSuccess) throw std::runtime_error(cudaGetErrorString(status));
}

template <class Element, class T>
Element to_element(T x) {
  if constexpr (std::is_same_v<Element, cuda::Half>) {
    return {__half_as_ushort(__float2half_rn(x))};
  } else if constexpr (std::is_same_v<Element, cuda::Bfloat16>) {
    return {__bfloat16_as_ushort(__float2bfloat16_rn(x))};
  } else {
    return x;
  }
}

template <class T, class Element>
T from_element(Element x) {
  if constexpr (std::is_same_v<Element, cuda::Half>) {
    return __half2float(__ushort_as_half(x.bits));
  } else if constexpr (std::is_same_v<Element, cuda::Bfloat16>) {
    return __bfloat162float(__ushort_as_bfloat16(x.bits));
  } else {
    return x;
  }
}

/// Results are copied back when the call is over, that is, when the Device dies.
template <class T, class Element>
class Device {
 public:
  Device() = default;
  Device(const Device&) = delete;
  ~Device() {
    check_cuda(cudaDeviceSynchronize());
    for (const auto& back : back_) back();
    for (void* at : owned_) cudaFree(at);
  }

  Rows<const Element> in(Rows<const T> rows) { return moved(rows); }
  PerRow in(const PerRow& numbers, std::ptrdiff_t rows) {
    return numbers.is_number() ? numbers : PerRow(in(numbers.data(), rows));
  }
  Levels in(const Levels& levels, std::ptrdiff_t rows) {
    if (levels.is_number() || !levels.has_data()) return levels;
    const std::ptrdiff_t size = rows > 0 ? (rows - 1) * levels.stride() + levels.count() : 0;
    return {in(levels.data(), size), levels.count(), levels.stride()};
  }
  const double* in(const double* numbers, std::ptrdiff_t count) {
    return numbers ? copy<double>(numbers, count) : nullptr;
  }

  Rows<Element> out(Rows<T> rows) {
    const Rows<Element> on_device = moved(rows);
    return_later(on_device.data, rows.data, size(rows));
    return on_device;
  }
  double* out(double* numbers, std::ptrdiff_t count) {
    if (numbers == nullptr) return nullptr;
    double* const on_device = copy<double>(numbers, count);
    return_later(on_device, numbers, count);
    return on_device;
  }

  cuda::Launch launch(std::size_t bytes) {
    return {nullptr, allocate<char>(static_cast<std::ptrdiff_t>(bytes)), bytes};
  }

 private:
  template <class V>
  static std::ptrdiff_t size(Rows<V> rows) {
    return rows.count > 0 ? (rows.count - 1) * rows.stride + rows.length : 0;
  }

  template <class V>
  auto moved(Rows<V> rows) {
    using Moved = std::conditional_t<std::is_const_v<V>, const Element, Element>;
    Element* const data = rows.data ? copy<Element>(rows.data, size(rows)) : nullptr;
    return Rows<Moved>(data, rows.count, rows.length, rows.stride);
  }

  template <class V>
  V* allocate(std::ptrdiff_t count) {
    void* at = nullptr;
    // At least one, so that an array without elements is not a null pointer.
    const auto size = static_cast<std::size_t>(std::max<std::ptrdiff_t>(count, 1));
    check_cuda(cudaMalloc(&at, size * sizeof(V)));
    owned_.push_back(at);
    return static_cast<V*>(at);
  }
  template <class V, class H>
  V* copy(const H* from, std::ptrdiff_t count) {
    std::vector<V> converted;
    for (std::ptrdiff_t i = 0; i < count; ++i) converted.push_back(to_element<V>(from[i]));
    V* const at = allocate<V>(count);
    check_cuda(
        cudaMemcpy(at, converted.data(), converted.size() * sizeof(V), cudaMemcpyHostToDevice));
    return at;
  }
  template <class V, class H>
  void return_later(const V* from, H* to, std::ptrdiff_t count) {
    back_.push_back([=] {
      std::vector<V> got(static_cast<std::size_t>(count));
      check_cuda(cudaMemcpy(got.data(), from, got.size() * sizeof(V), cudaMemcpyDeviceToHost));
      for (std::ptrdiff_t i = 0; i < count; ++i) to[i] = from_element<H>(got[i]);
    });
  }

  std::vector<void*> owned_;
  std::vector<std::function<void()>> back_;
};

}  // namespace lapsum::test
