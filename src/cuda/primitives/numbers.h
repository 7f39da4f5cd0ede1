// PerRow and Levels as a kernel sees them: a number, or an array in device memory.
#pragma once

#include <cuda_runtime.h>

#include "lapsum/rows.h"

namespace lapsum::gpu {

struct Numbers {
  const double* data;
  std::ptrdiff_t stride;
  double number;

  Numbers(const PerRow& of) : data(of.data()), stride(1), number(of.is_number() ? of[0] : 0) {}
  Numbers(const Levels& of)
      : data(of.data()), stride(of.stride()), number(of.is_number() ? of[0][0] : 0) {}

  __device__ double at(std::ptrdiff_t row, std::ptrdiff_t l = 0) const {
    return data ? data[row * stride + l] : number;
  }
};

}  // namespace lapsum::gpu
