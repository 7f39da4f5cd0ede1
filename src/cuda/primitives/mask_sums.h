// The sums over a row that the derivatives of its masks need.
#pragma once

#include "cuda/primitives/queue.h"
#include "cuda/primitives/tiling.h"
#include "cuda/primitives/view.h"

namespace lapsum::gpu {

/// Sums over the elements of an item. At a finite threshold those of e, of u g (of e times the
/// pull, for a tangent), of e z and of u g z; at an infinite one the number of elements at -inf and
/// the sum of their g.
struct MaskSums {
  double total, first, z, second;

  __device__ MaskSums& operator+=(const MaskSums& other) {
    total += other.total;
    first += other.first;
    z += other.z;
    second += other.second;
    return *this;
  }
};

/// What a derivative keeps of an item: the least distance of an element, so that the largest weight
/// e^{nearest - |z|} is 1; height, which makes of a slope u what d out / dz is, over alpha; <u, g>
/// / total, or for a tangent the average of its pull; and the part of a tangent that dk has.
struct Pull {
  double nearest, height, mean, lift;

  __device__ double weight(const Seen& seen) const { return exp(nearest - seen.distance); }
};

/// A tangent: rows x n, items, rows; null for zero.
template <class T>
struct Tangent {
  Rows<const T> dx;
  const double* dk;
  const double* dalpha;

  /// dr + z d|alpha| of element i of an item's row.
  __device__ double pull(const Items& items, std::ptrdiff_t item, std::ptrdiff_t i,
                         const View& view, double z) const {
    const double dr = dx.data ? element(dx, items, item, i, view) : 0;
    return dr + (dalpha ? z * view.orientation.alpha_sign * dalpha[item / items.levels] : 0);
  }
};

/// The pulls of all items; gk and galpha, unless they are null. g: items x n.
template <class T>
Pull* sum_vjp(Queue& queue, Rows<const T> x, const Items& items, Rows<const T> g, double* gk,
              double* galpha, const Tiling& tiling);

/// The pulls of all items along a tangent.
template <class T>
Pull* sum_jvp(Queue& queue, Rows<const T> x, const Items& items, const Tangent<T>& along,
              const Tiling& tiling);

}  // namespace lapsum::gpu
