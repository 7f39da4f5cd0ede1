// Elements in and out of the kernels: any of the four types to double, exactly, and back, rounded
// once.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <cfloat>
#include <cmath>

#include "lapsum/cuda/launch.h"

namespace lapsum::gpu {

__device__ inline double to_double(double x) { return x; }
__device__ inline double to_double(float x) { return static_cast<double>(x); }
__device__ inline double to_double(cuda::Half x) {
  return static_cast<double>(__half2float(__ushort_as_half(x.bits)));
}
__device__ inline double to_double(cuda::Bfloat16 x) {
  return static_cast<double>(__bfloat162float(__ushort_as_bfloat16(x.bits)));
}

/// The largest finite number of T, and a double rounded to T.
template <class T>
struct Element;

template <>
struct Element<double> {
  static constexpr double kMax = DBL_MAX;
  __device__ static double round(double x) { return x; }
};
template <>
struct Element<float> {
  static constexpr double kMax = FLT_MAX;
  __device__ static float round(double x) { return static_cast<float>(x); }
};
template <>
struct Element<cuda::Half> {
  static constexpr double kMax = 65504;
  __device__ static cuda::Half round(double x) { return {__half_as_ushort(__double2half(x))}; }
};
template <>
struct Element<cuda::Bfloat16> {
  static constexpr double kMax = 0x1.fep127;
  __device__ static cuda::Bfloat16 round(double x) {
    return {__bfloat16_as_ushort(__double2bfloat16(x))};
  }
};

/// As narrow, but for results that grow without bound: infinite becomes T's largest number too.
template <class T>
__device__ inline T capped(double x) {
  constexpr double kMax = Element<T>::kMax;
  return Element<T>::round(x > kMax ? kMax : x < -kMax ? -kMax : x);
}

/// x rounded to T; what is finite stays finite.
template <class T>
__device__ inline T narrow(double x) {
  return std::isinf(x) ? Element<T>::round(x) : capped<T>(x);
}

}  // namespace lapsum::gpu
