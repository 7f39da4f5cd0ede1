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
#include "cpu/primitives/from_center-inl.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace lapsum::cpu::HWY_NAMESPACE {

// What is done with a vector of values: decays are kept, and two vectors of them are added up.
template <class T>
class Keeping {
 public:
  using Out = Work<T>;

  HWY_INLINE explicit Keeping(const Outlook& from) : seen_(from) {}

  HWY_INLINE void at(Vec<T> r, Mask<T> is_left, Mask<T> is_right, Out* to) const {
    const Tag<T> d;
    const Vec<T> e = hn::IfThenElseZero(hn::Or(is_left, is_right), seen_.decay(r, is_left));
    hn::StoreU(hn::Or(e, hn::IfThenElseZero(is_left, hn::Set(d, Out{-0.0}))), d, to);
  }
  HWY_INLINE void add_up(const Out* decays) {
    const Tag<T> d;
    const Vec<T> zero = hn::Zero(d);
    const Vec<T> one = hn::LoadU(d, decays);
    const Vec<T> two = hn::LoadU(d, decays + hn::MaxLanes(d));
    left_.part = hn::Sub(left_.part, added(hn::Min(one, zero), hn::Min(two, zero)));
    right_.part = hn::Add(right_.part, added(hn::Max(one, zero), hn::Max(two, zero)));
    if constexpr (std::is_same_v<Out, double>) {
      left_.count();
      right_.count();
    }
  }

  HWY_INLINE void finish(const Out* decays, std::ptrdiff_t n, KeptDecays& out) const {
    out.left_sum = seen_.on_left() * left_.total();
    out.right_sum = seen_.on_right() * right_.total();
    if constexpr (std::is_same_v<Out, float>) compare_decays(decays, n, kPlaces, out);
  }

 private:
  static constexpr std::ptrdiff_t kPlaces = 64;

  FromCenter<Out> seen_;
  BlockedSum left_, right_;
};

// Or masks are written as they are far from the threshold.
template <class T>
class Choosing {
 public:
  using Out = T;

  HWY_INLINE explicit Choosing(const Outlook&) {}
  HWY_INLINE void at(Vec<T>, Mask<T> is_left, Mask<T>, T* to) const {
    const Tag<T> d;
    store_elements(d, hn::IfThenElseZero(is_left, hn::Set(d, Work<T>{1})), to);
  }
  HWY_INLINE void add_up(const T*) {}
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
    use.at(r, is_left, is_right, to);
  };
  const auto part = [&, x, out, inside, most](std::ptrdiff_t begin, std::ptrdiff_t end) HWY_ATTR {
    for (std::ptrdiff_t j = begin; j < end; j += kLanes) {
      // A compressed vector is stored whole.
      at(x + j, out + j, inside + std::min(counts.inside, most), counts.inside);
    }
    for (std::ptrdiff_t j = begin; j < end; j += 2 * kLanes) use.add_up(out + j);
  };
  const std::ptrdiff_t i = for_strips(n, 2 * kLanes, part);
  if (i < n) {
    // What is at infinity is right, with a decay of 0.
    T last[2 * kLanes];
    Out last_out[2 * kLanes];
    Place<T> places[2 * kLanes];
    std::ptrdiff_t kept = 0;
    const T far = Element<T>::round(sign * std::numeric_limits<double>::infinity());
    std::fill_n(last, 2 * kLanes, far);
    std::copy(x + i, x + n, last);
    at(last, last_out, places, kept);
    at(last + kLanes, last_out + kLanes, places + kept, kept);
    use.add_up(last_out);
    std::copy_n(last_out, n - i, out + i);
    std::copy_n(places, std::clamp<std::ptrdiff_t>(most - counts.inside, 0, kept),
                inside + std::min(counts.inside, most));
    counts.inside += kept;
  }
  use.finish(out, n, counts);
  return counts;
}

template <class T>
HWY_INLINE void mask_from(const Work<T>* decays, std::ptrdiff_t n, const Outlook& from,
                          double moved, T* p) {
  const Tag<T> d;
  const FromCenter<Work<T>> seen(from);
  const Factors<Work<T>> factors(0.5 * seen.on_left() * std::exp(-moved),
                                 0.5 * seen.on_right() * std::exp(moved));
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

double KeptDecays::share_of_equals(double ratio) const {
  const double on_left = 1 / ratio, on_right = ratio;
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
