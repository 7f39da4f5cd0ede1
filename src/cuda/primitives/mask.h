// Masks over rows, forward, reverse and tangent: what soft top-k and its logarithm share.
#pragma once

#include "cuda/primitives/curve.h"
#include "cuda/primitives/tiling.h"
#include "lapsum/cuda/launch.h"
#include "lapsum/rows.h"

namespace lapsum::gpu {

/// What these functions need for rows cut in this way.
std::size_t mask_workspace(std::ptrdiff_t rows, std::ptrdiff_t levels, const Tiling& tiling);

/// The functions of lapsum/cuda/soft_topk.h and log_soft_topk.h.
template <class T>
void mask(Curve curve, Rows<const T> x, const Levels& k, const PerRow& alpha, Rows<T> out,
          Threshold* keep, Order order, const cuda::Launch& where, const Tiling& tiling);

template <class T>
void mask_vjp(Curve curve, Rows<const T> x, const Levels& k, const PerRow& alpha,
              const Threshold* saved, Rows<const T> g, Rows<T> gx, double* gk, double* galpha,
              Order order, const cuda::Launch& where, const Tiling& tiling);

template <class T>
void mask_jvp(Curve curve, Rows<const T> x, const Levels& k, const PerRow& alpha,
              const Threshold* saved, Rows<const T> dx, const double* dk, const double* dalpha,
              Rows<T> dout, Order order, const cuda::Launch& where, const Tiling& tiling);

}  // namespace lapsum::gpu
