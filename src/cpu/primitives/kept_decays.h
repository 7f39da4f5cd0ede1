// A row seen from a center near its threshold. The decays of its elements are kept, so that its mask is a
// product away once the threshold is known: one exponential for each element.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "cpu/primitives/element.h"

namespace lapsum::cpu {

/// Where a row is seen from. Elements r <= lo are left of it, r >= hi right; lo and hi are numbers of
/// the row's type or infinite, lo < hi, and center is between them. alpha must be plain (bracket.h).
struct Outlook {
  double lo, hi, center, alpha;
};

/// Places in a row, as wide as what its elements are computed in.
template <class T>
using Place = std::conditional_t<std::is_same_v<Work<T>, float>, std::int32_t, std::int64_t>;

/// From where on decays are 0, in octaves, as smaller ones would have denormal products; and how far the
/// threshold may be from the center for them to give its mask, in units of alpha.
template <class T>
inline constexpr int kFarDecay = std::is_same_v<Work<T>, float> ? 88 : 700;
inline constexpr int kMostMoved = 8;

/// Whether decays can be kept with the instructions of this machine.
template <class T>
bool can_keep_decays(const Outlook& from);

/// How many elements are left, how many neither left nor right (NaN is), and the sums of
/// e^{-|r - center| / alpha} over both sides. At a few places pairs of decays are compared: what those
/// weigh, and those of them that are equal, on both sides.
struct KeptDecays {
  std::ptrdiff_t left = 0, inside = 0;
  double left_sum = 0, right_sum = 0;
  double left_seen = 0, right_seen = 0, left_equal = 0, right_equal = 0;

  KeptDecays& operator+=(const KeptDecays& other);

  /// How much of the sums, seen from b with ratio = e^{(b - center) / alpha}, is of equal decays. The
  /// roundings of many equal floats do not cancel.
  double share_of_equals(double ratio) const;
};

/// r = sign * x, n at most kChunk. Decays of elements outside go to `decays`, with a sign on the left,
/// each up to one factor for its side within 0.56 ulp of a float, or a few of a double; those inside
/// have 0. Where the first `most` of them stand goes to `inside`, which must hold kMostKeptLanes more.
template <class T>
KeptDecays keep_decays(const T* x, std::ptrdiff_t n, double sign, const Outlook& from,
                       Work<T>* decays, Place<T>* inside, std::ptrdiff_t most);
inline constexpr std::ptrdiff_t kMostKeptLanes = 16;

/// p = F((b - r) / alpha) of the elements outside, from their decays, which may lie where p does, with
/// moved = (b - center) / alpha and b between lo and hi. For floats this is one rounding of p as it
/// follows from the decays, so that p sums to what those promise; for half types that is rounded again.
template <class T>
void mask_from_decays(const Work<T>* decays, std::ptrdiff_t n, const Outlook& from, double moved,
                      T* p);

/// The counts and places of keep_decays without its sums: p = 1 on the left, 0 on the right, as it is
/// where all of them are far from the threshold.
template <class T>
KeptDecays mask_sides(const T* x, std::ptrdiff_t n, double sign, const Outlook& from, T* p,
                      Place<T>* inside, std::ptrdiff_t most);

}  // namespace lapsum::cpu
