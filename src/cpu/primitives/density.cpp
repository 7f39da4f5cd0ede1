// Highway compiles everything inside HWY_NAMESPACE once per instruction set.
#include "cpu/primitives/density.h"

#include <cmath>
#include <iterator>
#include <limits>

#include "cpu/primitives/bracket.h"
#include "math/laplace.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/primitives/density.cpp"
#include <hwy/foreach_target.h>
// clang-format off: these must follow foreach_target.h
#include <hwy/highway.h>
#include "cpu/primitives/decay-inl.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace lapsum::cpu::HWY_NAMESPACE {

// Distances of a row to a threshold.
struct View {
  View(double sign, const Threshold& b) : sign(sign), anchor(b.anchor), offset(b.offset) {}

  // b - sign * x
  HWY_INLINE V distance(D d, V x) const {
    const V to_anchor = hn::NegMulAdd(x, hn::Set(d, sign), hn::Set(d, anchor));
    return hn::Add(to_anchor, hn::Set(d, offset));
  }

  double sign, anchor, offset;
};

template <class T>
HWY_INLINE void wide_cdf_in(const T* x, std::ptrdiff_t n, double sign, const Threshold& b,
                            double alpha, T* p) {
  const D d;
  const View view(sign, b);
  const V rate = hn::Set(d, kLog2e / alpha);
  const Decay<T, 1> half_decay;
  const auto at = [&](const T* from, T* to) HWY_ATTR {
    const V z = view.distance(d, load_wide(d, from));
    const V half = half_decay(d, half_decay.cut(d, hn::Mul(hn::Abs(z), rate)));
    const V rest = hn::Sub(hn::Set(d, 1.0), half);
    store_narrow(d, hn::IfThenElse(hn::Gt(z, hn::Zero(d)), rest, half), to);
  };
  for_each_vector(
      x, n, Element<T>::round(0),
      [&](const T* from, std::ptrdiff_t i) HWY_ATTR { at(from, p + i); },
      [&](const T* from, std::ptrdiff_t i, std::ptrdiff_t left) HWY_ATTR {
        T last[kMaxLanes];
        at(from, last);
        for (std::ptrdiff_t l = 0; l < left; ++l) p[i + l] = last[l];
      });
}

// The same in float lanes, for a threshold that one double can hold.
template <class T>
HWY_INLINE void narrow_cdf_in(const T* x, std::ptrdiff_t n, double sign, double b, double alpha,
                              T* p) {
  const DF d;
  constexpr int kZero = 125;  // halves: the decay at 126
  const Steps steps(alpha);
  const Steps::Side left = steps.side(b, -1, kZero);
  const Steps::Side right = steps.side(b, 1, kZero);
  auto last_left = static_cast<float>(b);
  if (last_left > b) last_left = std::nextafter(last_left, -INFINITY);
  const auto turn = hn::Set(d, static_cast<float>(sign));
  const auto at = [&](const T* from, T* to) HWY_ATTR {
    const auto r = hn::Mul(load_elements(d, from), turn);
    const auto is_left = hn::Le(r, hn::Set(d, last_left));
    const Steps::Parts e = steps.decay<true>(r, is_left, left, right, kZero);
    // 1 - half or half; the first sum is exact unless half is below 2^-8, so that one rounding
    // counts.
    const auto scale = hn::IfThenElse(is_left, hn::Neg(e.scale), e.scale);
    const auto begin = hn::IfThenElseZero(is_left, hn::Set(d, 1.0f));
    store_elements(d, hn::MulAdd(e.rest, scale, hn::MulAdd(e.power, scale, begin)), to);
  };
  const auto lanes = static_cast<std::ptrdiff_t>(hn::Lanes(d));
  std::ptrdiff_t i = 0;
  for (; i + lanes <= n; i += lanes) at(x + i, p + i);
  if (i == n) return;
  T last[hn::MaxLanes(d)] = {};
  for (std::ptrdiff_t l = 0; l < n - i; ++l) last[l] = x[i + l];
  at(last, last);
  for (std::ptrdiff_t l = 0; l < n - i; ++l) p[i + l] = last[l];
}

template <class T>
HWY_INLINE void cdf_in(const T* x, std::ptrdiff_t n, double sign, const Threshold& b, double alpha,
                       T* p) {
  if constexpr (kHasTable && sizeof(T) < sizeof(double)) {
    const double whole = b.anchor + b.offset;
    if (Steps::can_take(whole, alpha)) return narrow_cdf_in(x, n, sign, whole, alpha, p);
  }
  wide_cdf_in(x, n, sign, b, alpha, p);
}

HWY_INLINE V log_slope(D d, V z, V e) {
  const V above = hn::Div(e, hn::Sub(hn::Set(d, 2.0), e));
  const V u = hn::IfThenElse(hn::Gt(z, hn::Zero(d)), above, hn::Set(d, 1.0));
  const V inf = hn::Set(d, std::numeric_limits<double>::infinity());
  return hn::IfThenElseZero(hn::Lt(hn::Abs(z), inf), u);
}

template <bool kWithZ, Curve kCurve, bool kKeep, class T>
HWY_INLINE DensitySums sum_in(const T* x, const T* g, std::ptrdiff_t n, double sign,
                              const Threshold& b, double alpha, double* keep) {
  const D d;
  const View view(sign, b);
  const V rate = hn::Set(d, kLog2e / alpha);
  const Decay<T, 0> decay;
  V total = hn::Zero(d);
  V with_g = hn::Zero(d);
  V with_t = hn::Zero(d);
  V with_gt = hn::Zero(d);
  const auto add = [&](const T* at, const T* g_at, double* to) HWY_ATTR {
    const V z = view.distance(d, load_wide(d, at));
    const V t = hn::Min(hn::Mul(hn::Abs(z), rate), hn::Set(d, decay.kZero));
    const V e = decay(d, t);
    const V with = load_wide(d, g_at);
    if constexpr (kKeep) hn::StoreU(e, d, to);
    total = hn::Add(total, e);
    with_g = hn::MulAdd(with, kCurve == Curve::cdf ? e : log_slope(d, z, e), with_g);
    if constexpr (kWithZ) {
      const V te = hn::Mul(hn::CopySignToAbs(t, z), e);
      with_t = hn::Add(with_t, te);
      with_gt = hn::MulAdd(with, te, with_gt);
    }
  };
  // An element at infinity weighs nothing.
  for_each_vector(
      x, n, Element<T>::round(std::numeric_limits<double>::infinity()),
      [&](const T* at, std::ptrdiff_t i) HWY_ATTR { add(at, g + i, kKeep ? keep + i : keep); },
      [&](const T* at, std::ptrdiff_t i, std::ptrdiff_t left) HWY_ATTR {
        T last[kMaxLanes] = {};
        double kept[kMaxLanes];
        for (std::ptrdiff_t l = 0; l < left; ++l) last[l] = g[i + l];
        add(at, last, kept);
        for (std::ptrdiff_t l = 0; kKeep && l < left; ++l) keep[i + l] = kept[l];
      });
  const auto sum = [&](V v) HWY_ATTR { return hn::GetLane(hn::SumOfLanes(d, v)); };
  return {sum(total), sum(with_g), kLn2 * sum(with_t), kLn2 * sum(with_gt)};
}

template <Curve kCurve, class T>
HWY_INLINE void pull_in(const T* x, std::ptrdiff_t n, double sign, std::span<const Pull<T>> levels,
                        std::ptrdiff_t begin, double alpha, double height, T* out) {
  const D d;
  const V rate = hn::Set(d, kLog2e / alpha);
  const V scale = hn::Set(d, height);
  const V most = hn::Set(d, Element<T>::kMax);
  const Decay<T, 0> decay;
  const auto at = [&](V v, const Pull<T>& level, const T* g) HWY_ATTR {
    const V z = View(sign, level.b).distance(d, v);
    const V e = decay(d, decay.cut(d, hn::Mul(hn::Abs(z), rate)));
    const V mean = hn::Set(d, level.mean);
    const V with = load_wide(d, g);
    if constexpr (kCurve == Curve::cdf) return hn::Mul(e, hn::Sub(mean, with));
    return hn::MulSub(mean, e, hn::Mul(log_slope(d, z, e), with));
  };
  const auto finish = [&](V sum, T* to) HWY_ATTR {
    store_narrow(d, hn::Max(hn::Neg(most), hn::Min(most, hn::Mul(scale, sum))), to);
  };
  for_each_vector(
      x, n, Element<T>::round(0),
      [&](const T* from, std::ptrdiff_t i) HWY_ATTR {
        const V v = load_wide(d, from);
        V sum = at(v, levels[0], levels[0].g + begin + i);
        for (std::size_t l = 1; l < levels.size(); ++l) {
          sum = hn::Add(sum, at(v, levels[l], levels[l].g + begin + i));
        }
        finish(sum, out + i);
      },
      [&](const T* from, std::ptrdiff_t i, std::ptrdiff_t left) HWY_ATTR {
        const V v = load_wide(d, from);
        V sum = hn::Zero(d);
        T last[kMaxLanes] = {};
        for (const Pull<T>& level : levels) {
          for (std::ptrdiff_t l = 0; l < left; ++l) last[l] = level.g[begin + i + l];
          sum = hn::Add(sum, at(v, level, last));
        }
        finish(sum, last);
        for (std::ptrdiff_t l = 0; l < left; ++l) out[i + l] = last[l];
      });
}

// The last pass of pull_in, where e is known.
template <class T>
HWY_INLINE void pull_kept_in(const double* e, const T* g, std::ptrdiff_t n, double mean,
                             double height, T* out) {
  const D d;
  const V scale = hn::Set(d, height);
  const V middle = hn::Set(d, mean);
  const V most = hn::Set(d, Element<T>::kMax);
  const V least = hn::Set(d, sizeof(T) == sizeof(double) ? 0 : 0x1p-124);
  const auto at = [&](const double* e_at, const T* g_at, T* to) HWY_ATTR {
    const V known = hn::LoadU(d, e_at);
    const V weight = hn::IfThenElseZero(hn::Gt(known, least), known);
    const V pull = hn::Mul(weight, hn::Sub(middle, load_wide(d, g_at)));
    store_narrow(d, hn::Max(hn::Neg(most), hn::Min(most, hn::Mul(scale, pull))), to);
  };
  for_each_vector(
      e, n, 0.0, [&](const double* from, std::ptrdiff_t i) HWY_ATTR { at(from, g + i, out + i); },
      [&](const double* from, std::ptrdiff_t i, std::ptrdiff_t left) HWY_ATTR {
        T last[kMaxLanes] = {};
        for (std::ptrdiff_t l = 0; l < left; ++l) last[l] = g[i + l];
        at(from, last, last);
        for (std::ptrdiff_t l = 0; l < left; ++l) out[i + l] = last[l];
      });
}

#define LAPSUM_DENSITY_OF(T)                                                                     \
  void cdf_##T(const T* x, std::ptrdiff_t n, double sign, const Threshold& b, double alpha,      \
               T* p) {                                                                           \
    cdf_in(x, n, sign, b, alpha, p);                                                             \
  }                                                                                              \
  DensitySums sum_##T(const T* x, const T* g, std::ptrdiff_t n, double sign, const Threshold& b, \
                      double alpha, bool with_z, Curve curve, double* keep) {                    \
    if (curve == Curve::log_cdf)                                                                 \
      return sum_in<false, Curve::log_cdf, false>(x, g, n, sign, b, alpha, nullptr);             \
    if (with_z && keep) return sum_in<true, Curve::cdf, true>(x, g, n, sign, b, alpha, keep);    \
    if (with_z) return sum_in<true, Curve::cdf, false>(x, g, n, sign, b, alpha, nullptr);        \
    if (keep) return sum_in<false, Curve::cdf, true>(x, g, n, sign, b, alpha, keep);             \
    return sum_in<false, Curve::cdf, false>(x, g, n, sign, b, alpha, nullptr);                   \
  }                                                                                              \
  void pull_kept_##T(const double* e, const T* g, std::ptrdiff_t n, double mean, double height,  \
                     T* out) {                                                                   \
    pull_kept_in(e, g, n, mean, height, out);                                                    \
  }                                                                                              \
  void pull_##T(const T* x, std::ptrdiff_t n, double sign, std::span<const Pull<T>> levels,      \
                std::ptrdiff_t begin, double alpha, double height, T* out, Curve curve) {        \
    if (curve == Curve::log_cdf) {                                                               \
      pull_in<Curve::log_cdf>(x, n, sign, levels, begin, alpha, height, out);                    \
    } else {                                                                                     \
      pull_in<Curve::cdf>(x, n, sign, levels, begin, alpha, height, out);                        \
    }                                                                                            \
  }
LAPSUM_DENSITY_OF(float)
LAPSUM_DENSITY_OF(double)
LAPSUM_DENSITY_OF(Half)
LAPSUM_DENSITY_OF(Bfloat16)
#undef LAPSUM_DENSITY_OF

}  // namespace lapsum::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lapsum::cpu {

#define LAPSUM_DENSITY_OF(T)                                                                       \
  HWY_EXPORT(cdf_##T);                                                                             \
  HWY_EXPORT(sum_##T);                                                                             \
  HWY_EXPORT(pull_##T);                                                                            \
  HWY_EXPORT(pull_kept_##T);                                                                       \
  template <>                                                                                      \
  void cdf_at(const T* x, std::ptrdiff_t n, double sign, const Threshold& b, double alpha, T* p) { \
    if (is_plain(alpha)) return HWY_DYNAMIC_DISPATCH(cdf_##T)(x, n, sign, b, alpha, p);            \
    for (std::ptrdiff_t i = 0; i < n; ++i) {                                                       \
      p[i] =                                                                                       \
          Element<T>::round(math::cdf(((b.anchor - sign * to_double(x[i])) + b.offset) / alpha));  \
    }                                                                                              \
  }                                                                                                \
  template <>                                                                                      \
  DensitySums sum_density(const T* x, const T* g, std::ptrdiff_t n, double sign,                   \
                          const Threshold& b, double alpha, bool with_z, Curve curve,              \
                          double* keep) {                                                          \
    return HWY_DYNAMIC_DISPATCH(sum_##T)(x, g, n, sign, b, alpha, with_z, curve, keep);            \
  }                                                                                                \
  template <>                                                                                      \
  void pull_kept(const double* e, const T* g, std::ptrdiff_t n, double mean, double height,        \
                 T* out) {                                                                         \
    HWY_DYNAMIC_DISPATCH(pull_kept_##T)(e, g, n, mean, height, out);                               \
  }                                                                                                \
  template <>                                                                                      \
  void pull_density(const T* x, std::ptrdiff_t n, double sign, std::span<const Pull<T>> levels,    \
                    std::ptrdiff_t begin, double alpha, double height, T* out, Curve curve) {      \
    HWY_DYNAMIC_DISPATCH(pull_##T)(x, n, sign, levels, begin, alpha, height, out, curve);          \
  }
LAPSUM_DENSITY_OF(float)
LAPSUM_DENSITY_OF(double)
LAPSUM_DENSITY_OF(Half)
LAPSUM_DENSITY_OF(Bfloat16)
#undef LAPSUM_DENSITY_OF

}  // namespace lapsum::cpu
#endif  // HWY_ONCE
