// Highway compiles everything inside HWY_NAMESPACE once per instruction set.
#include "cpu/primitives/kept_decays.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/primitives/kept_decays.cpp"
#include <hwy/foreach_target.h>
// clang-format off: these must follow foreach_target.h
#include <hwy/highway.h>
#include "cpu/primitives/compress-inl.h"
#include "cpu/primitives/decay-inl.h"
// clang-format on

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

// What is done with a vector of values: decays are kept, and two vectors of them are added up.
template <class T>
class Keeping {
 public:
  using Out = Work<T>;
  struct Sides {
    Vec<T> left, right;
  };

  HWY_INLINE explicit Keeping(const Outlook& from) : seen_(from) {}

  HWY_INLINE Sides at(Vec<T> r, Mask<T> is_left, Mask<T> is_right, Out* to) const {
    const Tag<T> d;
    const Vec<T> e = seen_.decay(r, is_left);
    const Sides sides = {hn::IfThenElseZero(is_left, e), hn::IfThenElseZero(is_right, e)};
    const Vec<T> minus = hn::IfThenElseZero(is_left, hn::Set(d, Out{-0.0}));
    hn::StoreU(hn::Or(hn::Or(sides.left, sides.right), minus), d, to);
    return sides;
  }
  HWY_INLINE void add_up(const Sides& one, const Sides& two) {
    left_.part = hn::Add(left_.part, added(one.left, two.left));
    right_.part = hn::Add(right_.part, added(one.right, two.right));
    if constexpr (std::is_same_v<Out, double>) {
      left_.count();
      right_.count();
    }
  }

  HWY_INLINE void finish(const Out* decays, std::ptrdiff_t n, KeptDecays& out) const {
    out.left_sum = seen_.on_left() * left_.total();
    out.right_sum = seen_.on_right() * right_.total();
    if constexpr (std::is_same_v<Out, float>) compare(decays, n, out);
  }

 private:
  static HWY_INLINE void compare(const float* decays, std::ptrdiff_t n, KeptDecays& out) {
    const DF d;
    constexpr auto kLanes = static_cast<std::ptrdiff_t>(hn::MaxLanes(d));
    constexpr std::ptrdiff_t kPlaces = 64;
    const std::ptrdiff_t step = std::max(2 * kLanes, n / kPlaces);
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
    const auto sum = [&](Vec<float> v)
                         HWY_ATTR { return double{hn::GetLane(hn::SumOfLanes(d, v))}; };
    out.left_seen = sum(left);
    out.right_seen = sum(right);
    out.left_equal = sum(left_equal);
    out.right_equal = sum(right_equal);
  }

  FromCenter<Out> seen_;
  BlockedSum left_, right_;
};

// Or masks are written as they are far from the threshold.
template <class T>
class Choosing {
 public:
  using Out = T;
  struct Sides {};

  HWY_INLINE explicit Choosing(const Outlook&) {}
  HWY_INLINE Sides at(Vec<T>, Mask<T> is_left, Mask<T>, T* to) const {
    const Tag<T> d;
    store_elements(d, hn::IfThenElseZero(is_left, hn::Set(d, Work<T>{1})), to);
    return {};
  }
  HWY_INLINE void add_up(const Sides&, const Sides&) {}
  HWY_INLINE void finish(const Out*, std::ptrdiff_t, KeptDecays&) const {}
};

template <template <class> class Use, class T>
HWY_INLINE KeptDecays part_by(const T* HWY_RESTRICT x, std::ptrdiff_t n, double sign,
                              const Outlook& from, typename Use<T>::Out* HWY_RESTRICT out,
                              Place<T>* HWY_RESTRICT inside, std::ptrdiff_t most) {
  static_assert(hn::MaxLanes(Tag<T>()) <= kMostKeptLanes);
  using Out = typename Use<T>::Out;
  const Tag<T> d;
  const hn::RebindToSigned<Tag<T>> di;
  Use<T> use(from);
  const Vec<T> turn = hn::Set(d, static_cast<Work<T>>(sign));
  const Vec<T> low = hn::Set(d, static_cast<Work<T>>(from.lo));
  const Vec<T> high = hn::Set(d, static_cast<Work<T>>(from.hi));
  constexpr auto kLanes = static_cast<std::ptrdiff_t>(hn::MaxLanes(d));
  constexpr auto kAll = static_cast<std::uint32_t>((std::uint64_t{1} << kLanes) - 1);
  auto place = hn::Iota(di, 0);
  KeptDecays counts;
  const auto at = [&](const T* x_at, Out* to, Place<T>* places, std::ptrdiff_t& kept) HWY_ATTR {
    const Vec<T> r = hn::Mul(load_elements(d, x_at), turn);
    const auto is_left = hn::Le(r, low);
    const auto is_right = hn::Ge(r, high);
    const std::uint32_t left = bits_of(d, is_left);
    const std::uint32_t others = kAll & ~(left | bits_of(d, is_right));
    hn::StoreU(compress(di, place, others), di, places);
    counts.left += std::popcount(left);
    kept += std::popcount(others);
    place = hn::Add(place, hn::Set(di, Place<T>{kLanes}));
    return use.at(r, is_left, is_right, to);
  };
  std::ptrdiff_t i = 0;
  for (; i + 2 * kLanes <= n; i += 2 * kLanes) {
    // A compressed vector is stored whole.
    const auto one = at(x + i, out + i, inside + std::min(counts.inside, most), counts.inside);
    const auto two =
        at(x + i + kLanes, out + i + kLanes, inside + std::min(counts.inside, most), counts.inside);
    use.add_up(one, two);
  }
  if (i < n) {
    // What is at infinity is right, with a decay of 0.
    T last[2 * kLanes];
    Out last_out[2 * kLanes];
    Place<T> places[2 * kLanes];
    std::ptrdiff_t kept = 0;
    const T far = Element<T>::round(sign * std::numeric_limits<double>::infinity());
    std::fill_n(last, 2 * kLanes, far);
    std::copy(x + i, x + n, last);
    const auto one = at(last, last_out, places, kept);
    const auto two = at(last + kLanes, last_out + kLanes, places + kept, kept);
    use.add_up(one, two);
    std::copy_n(last_out, n - i, out + i);
    std::copy_n(places, std::clamp<std::ptrdiff_t>(most - counts.inside, 0, kept),
                inside + std::min(counts.inside, most));
    counts.inside += kept;
  }
  use.finish(out, n, counts);
  return counts;
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
  HWY_INLINE Factors(const Outlook& from, double moved) {
    const FromCenter<T> seen(from);
    const double left = 0.5 * seen.on_left() * std::exp(-moved);
    const double right = 0.5 * seen.on_right() * std::exp(moved);
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

template <class T>
HWY_INLINE void mask_from(const Work<T>* decays, std::ptrdiff_t n, const Outlook& from,
                          double moved, T* p) {
  const Tag<T> d;
  const Factors<Work<T>> factors(from, moved);
  const auto lanes = static_cast<std::ptrdiff_t>(hn::Lanes(d));
  std::ptrdiff_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    store_elements(d, factors.mask(hn::LoadU(d, decays + i)), p + i);
  }
  if (i == n) return;
  Work<T> last[hn::MaxLanes(d)] = {};
  T last_p[hn::MaxLanes(d)];
  std::copy(decays + i, decays + n, last);
  store_elements(d, factors.mask(hn::LoadU(d, last)), last_p);
  std::copy_n(last_p, n - i, p + i);
}

#define LAPSUM_KEPT_OF(T)                                                                    \
  bool can_keep_##T(const Outlook& from) { return FromCenter<Work<T>>::can_take(from); }     \
  KeptDecays keep_##T(const T* x, std::ptrdiff_t n, double sign, const Outlook& from,        \
                      Work<T>* decays, Place<T>* inside, std::ptrdiff_t most) {              \
    return part_by<Keeping>(x, n, sign, from, decays, inside, most);                         \
  }                                                                                          \
  KeptDecays sides_##T(const T* x, std::ptrdiff_t n, double sign, const Outlook& from, T* p, \
                       Place<T>* inside, std::ptrdiff_t most) {                              \
    return part_by<Choosing>(x, n, sign, from, p, inside, most);                             \
  }                                                                                          \
  void mask_##T(const Work<T>* decays, std::ptrdiff_t n, const Outlook& from, double moved,  \
                T* p) {                                                                      \
    mask_from(decays, n, from, moved, p);                                                    \
  }
LAPSUM_KEPT_OF(float)
LAPSUM_KEPT_OF(double)
LAPSUM_KEPT_OF(Half)
LAPSUM_KEPT_OF(Bfloat16)
#undef LAPSUM_KEPT_OF

}  // namespace lapsum::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lapsum::cpu {

KeptDecays& KeptDecays::operator+=(const KeptDecays& other) {
  left += other.left;
  inside += other.inside;
  left_sum += other.left_sum;
  right_sum += other.right_sum;
  left_seen += other.left_seen;
  right_seen += other.right_seen;
  left_equal += other.left_equal;
  right_equal += other.right_equal;
  return *this;
}

double KeptDecays::share_of_equals(double moved) const {
  const double on_left = std::exp(-moved), on_right = std::exp(moved);
  const double all = left_seen * on_left + right_seen * on_right;
  return all > 0 ? (left_equal * on_left + right_equal * on_right) / all : 0;
}

#define LAPSUM_KEPT_OF(T)                                                                     \
  HWY_EXPORT(can_keep_##T);                                                                   \
  HWY_EXPORT(keep_##T);                                                                       \
  HWY_EXPORT(sides_##T);                                                                      \
  HWY_EXPORT(mask_##T);                                                                       \
  template <>                                                                                 \
  bool can_keep_decays<T>(const Outlook& from) {                                              \
    return HWY_DYNAMIC_DISPATCH(can_keep_##T)(from);                                          \
  }                                                                                           \
  template <>                                                                                 \
  KeptDecays keep_decays(const T* x, std::ptrdiff_t n, double sign, const Outlook& from,      \
                         Work<T>* decays, Place<T>* inside, std::ptrdiff_t most) {            \
    return HWY_DYNAMIC_DISPATCH(keep_##T)(x, n, sign, from, decays, inside, most);            \
  }                                                                                           \
  template <>                                                                                 \
  KeptDecays mask_sides(const T* x, std::ptrdiff_t n, double sign, const Outlook& from, T* p, \
                        Place<T>* inside, std::ptrdiff_t most) {                              \
    return HWY_DYNAMIC_DISPATCH(sides_##T)(x, n, sign, from, p, inside, most);                \
  }                                                                                           \
  template <>                                                                                 \
  void mask_from_decays(const Work<T>* decays, std::ptrdiff_t n, const Outlook& from,         \
                        double moved, T* p) {                                                 \
    HWY_DYNAMIC_DISPATCH(mask_##T)(decays, n, from, moved, p);                                \
  }
LAPSUM_KEPT_OF(float)
LAPSUM_KEPT_OF(double)
LAPSUM_KEPT_OF(Half)
LAPSUM_KEPT_OF(Bfloat16)
#undef LAPSUM_KEPT_OF

}  // namespace lapsum::cpu
#endif  // HWY_ONCE
