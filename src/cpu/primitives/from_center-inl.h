// Decays of a row seen from a center, to be summed and kept, and masks that are made of them.
// Included once per instruction set, after hwy/highway.h.
#if defined(LAPSUM_FROM_CENTER_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef LAPSUM_FROM_CENTER_INL_H
#undef LAPSUM_FROM_CENTER_INL_H
#else
#define LAPSUM_FROM_CENTER_INL_H
#endif

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <type_traits>

#include "cpu/primitives/decay-inl.h"
#include "cpu/primitives/kept_decays.h"

HWY_BEFORE_NAMESPACE();
namespace lapsum::cpu::HWY_NAMESPACE {

template <class T>
using Tag = hn::ScalableTag<Work<T>>;
template <class T>
using Vec = hn::Vec<Tag<T>>;
template <class T>
using Mask = hn::Mask<Tag<T>>;

// Four floats of two vectors added up, in as many doubles: that many equal ones, or two, do not drift.
HWY_INLINE V added(Vec<float> one, Vec<float> two) {
  const Vec<float> both = hn::Add(one, two);
#if HWY_TARGET == HWY_SCALAR
  return hn::PromoteTo(D(), both);
#else
  const hn::Half<DF> half;
  return hn::PromoteTo(D(), hn::Add(hn::LowerHalf(half, both), hn::UpperHalf(half, both)));
#endif
}
HWY_INLINE V added(V one, V two) { return hn::Add(one, two); }

// Decays by themselves, up to a factor for each side.
template <class T>
class FromCenter;

template <>
class FromCenter<float> {
 public:
  static bool can_take(const Outlook& from) {
    return kHasTable && FewSteps::can_take(from.center, from.alpha);
  }

  HWY_INLINE explicit FromCenter(const Outlook& from)
      : steps_(from.alpha), left_(side(from.center, -1)), right_(side(from.center, 1)) {}

  HWY_INLINE Vec<float> decay(Vec<float> r, Mask<float> is_left) const {
    return steps_.rounded<false>(r, is_left, left_, right_, kFarDecay<float>);
  }
  HWY_INLINE double on_left() const { return steps_.factor(left_); }
  HWY_INLINE double on_right() const { return steps_.factor(right_); }

 private:
  // A decay without the part of its side is not beyond 1, where it would be rounded by twice as much.
  HWY_INLINE FewSteps::Side side(double center, double side) const {
    FewSteps::Side out = steps_.side(center, side, kFarDecay<float>);
    if (out.part > 0) {
      out.whole += 1;
      out.part -= 1;
    }
    return out;
  }

  FewSteps steps_;
  FewSteps::Side left_, right_;
};

template <>
class FromCenter<double> {
 public:
  static bool can_take(const Outlook&) { return true; }

  HWY_INLINE explicit FromCenter(const Outlook& from)
      : center_(hn::Set(D(), from.center)), rate_(hn::Set(D(), kLog2e / from.alpha)) {}

  HWY_INLINE V decay(V r, Lanes) const {
    const D d;
    const Decay<double, 0> decay;
    const V t = hn::Mul(hn::Abs(hn::Sub(r, center_)), rate_);
    const V far = hn::Set(d, double{kFarDecay<double>});
    return decay(d, hn::IfThenElse(hn::Lt(t, far), t, hn::Set(d, decay.kZero)));
  }
  HWY_INLINE double on_left() const { return 1; }
  HWY_INLINE double on_right() const { return 1; }

 private:
  V center_, rate_;
};

// Decays at up to so many places are compared with others of the row.
HWY_INLINE void compare_decays(const float* decays, std::ptrdiff_t n, std::ptrdiff_t places,
                               KeptDecays& out) {
  const DF d;
  constexpr auto kLanes = static_cast<std::ptrdiff_t>(hn::MaxLanes(d));
  const std::ptrdiff_t step = std::max(2 * kLanes, n / places);
  // Those on the left are negative.
  const auto zero = hn::Zero(d);
  auto left = zero, right = zero, left_equal = zero, right_equal = zero;
  std::ptrdiff_t apart = kLanes;  // not always the same, for a row may have a period
  for (std::ptrdiff_t i = 0; i + 3 * kLanes <= n; i += step) {
    const auto one = hn::LoadU(d, decays + i), two = hn::LoadU(d, decays + i + apart);
    apart = apart + 1 < 2 * kLanes ? apart + 1 : kLanes;
    left = hn::Sub(left, hn::Add(hn::Min(one, zero), hn::Min(two, zero)));
    right = hn::Add(right, hn::Add(hn::Max(one, zero), hn::Max(two, zero)));
    const auto equal = hn::IfThenElseZero(hn::Eq(one, two), hn::Add(one, two));
    left_equal = hn::Sub(left_equal, hn::Min(equal, zero));
    right_equal = hn::Add(right_equal, hn::Max(equal, zero));
  }
  const auto sum = [&](Vec<float> v) HWY_ATTR { return double{hn::GetLane(hn::SumOfLanes(d, v))}; };
  out.left_seen = sum(left);
  out.right_seen = sum(right);
  out.left_equal = sum(left_equal);
  out.right_equal = sum(right_equal);
}

// A zero has a sign too. Not every instruction set chooses by it as Highway says.
template <class T>
HWY_INLINE Vec<T> if_negative(Vec<T> v, Vec<T> yes, Vec<T> no) {
  if constexpr (kHasTable && std::is_same_v<T, float>) {
    return hn::IfNegativeThenElse(v, yes, no);
  } else {
    const hn::RebindToSigned<Tag<T>> di;
    const auto is_negative = hn::Lt(hn::BitCast(di, v), hn::Zero(di));
    return hn::IfThenElse(hn::RebindMask(Tag<T>(), is_negative), yes, no);
  }
}

// A factor for each side, in two parts for floats.
template <class T>
class Factors {
 public:
  HWY_INLINE Factors(double left, double right) {
    const auto set = [](double v) HWY_ATTR { return hn::Set(Tag<T>(), static_cast<T>(v)); };
    const auto rest = [](double v) { return v - double{static_cast<T>(v)}; };
    left_ = set(left);
    right_ = set(right);
    left_rest_ = set(rest(left));
    right_rest_ = set(rest(right));
  }

  HWY_INLINE Vec<T> mask(Vec<T> e) const {
    const Tag<T> d;
    const auto factor = if_negative<T>(e, left_, right_);
    const auto begin = if_negative<T>(e, hn::Set(d, T{1}), hn::Zero(d));
    const auto near = hn::MulAdd(e, factor, begin);
    if constexpr (std::is_same_v<T, double>) return near;
    const auto error = hn::MulAdd(e, factor, hn::Sub(begin, near));
    const auto rest = if_negative<T>(e, left_rest_, right_rest_);
    return hn::Add(near, hn::MulAdd(e, rest, error));
  }

 private:
  Vec<T> left_, right_, left_rest_, right_rest_;
};

}  // namespace lapsum::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
