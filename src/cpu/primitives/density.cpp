// Highway compiles everything inside HWY_NAMESPACE once per instruction set.
#include "cpu/primitives/density.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include "cpu/primitives/bracket.h"
#include "cpu/primitives/row.h"
#include "math/laplace.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/primitives/density.cpp"
#include <hwy/foreach_target.h>
// clang-format off: these must follow foreach_target.h
#include <hwy/highway.h>
#include <hwy/contrib/math/math-inl.h>
#include "cpu/primitives/decay-inl.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace lapsum::cpu::HWY_NAMESPACE {

// A vector of T made of part(l), doubles from lane l on.
template <class T, class Part>
HWY_INLINE auto narrowed(const Part& part) {
  if constexpr (std::is_same_v<T, double>) {
    return part(0);
  } else {
    const hn::Rebind<float, D> half;
#if HWY_TARGET == HWY_SCALAR
    return hn::DemoteTo(half, part(0));
#else
    return hn::Combine(DF(), hn::DemoteTo(half, part(hn::Lanes(D()))), hn::DemoteTo(half, part(0)));
#endif
  }
}

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

// at(from, to) for every vector of x, to the same place in `out`.
template <class T, class At>
HWY_INLINE void map_vectors(const T* x, std::ptrdiff_t n, T* out, At&& at) {
  for_each_vector(
      x, n, Element<T>::round(0),
      [&](const T* from, std::ptrdiff_t i) HWY_ATTR { at(from, out + i); },
      [&](const T* from, std::ptrdiff_t i, std::ptrdiff_t left) HWY_ATTR {
        T last[kMaxLanes];
        at(from, last);
        std::copy_n(last, left, out + i);
      });
}

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
  map_vectors(x, n, p, at);
}

// The decays of a row in float lanes, for a threshold that one double can hold.
template <class T, class Grid>
class Seen {
 public:
  struct Decays {
    typename Grid::Parts e;
    typename Grid::M is_left;
  };

  /// Decays are cut at `octaves` below 1 and come times 2^(octaves - 126).
  HWY_INLINE Seen(double sign, double b, double alpha, int octaves)
      : steps_(alpha),
        left_(steps_.side(b, -1, octaves)),
        right_(steps_.side(b, 1, octaves)),
        turn_(hn::Set(DF(), static_cast<float>(sign))),
        octaves_(octaves) {
    const auto near = static_cast<float>(b);
    last_left_ = hn::Set(DF(), near > b ? std::nextafter(near, -INFINITY) : near);
  }

  HWY_INLINE Decays at(const T* x) const {
    const auto [r, is_left] = side(x);
    return {steps_.template decay<true>(r, is_left, left_, right_, octaves_), is_left};
  }

  /// In one float each.
  HWY_INLINE typename Grid::VF rounded(const T* x) const {
    const auto [r, is_left] = side(x);
    return steps_.template rounded<true>(r, is_left, left_, right_, octaves_);
  }

 private:
  struct Side {
    typename Grid::VF r;
    typename Grid::M is_left;
  };
  HWY_INLINE Side side(const T* x) const {
    const auto r = hn::Mul(load_elements(DF(), x), turn_);
    return {r, hn::Le(r, last_left_)};
  }

  Grid steps_;
  typename Grid::Side left_, right_;
  typename Grid::VF turn_, last_left_;
  int octaves_;
};

template <class T>
HWY_INLINE void narrow_cdf_in(const T* x, std::ptrdiff_t n, double sign, double b, double alpha,
                              T* p) {
  const DF d;
  const Seen<T, FewSteps> seen(sign, b, alpha, 125);  // halves of decays
  const auto at = [&](const T* from, T* to) HWY_ATTR {
    const auto [e, is_left] = seen.at(from);
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
    if (FewSteps::can_take(whole, alpha)) return narrow_cdf_in(x, n, sign, whole, alpha, p);
  }
  wide_cdf_in(x, n, sign, b, alpha, p);
}

// -log1p(-e / 2) / e for e in [0, 1], within 7e-10 of itself.
constexpr double kLogCdf[] = {0.5000000002351627,    0.1249999432012001,    0.04166891633665629,
                              0.01559054622579387,   0.006517894417109162,  0.0014043331824137469,
                              0.004408917959666526,  -0.005169367090200131, 0.006205230139843465,
                              -0.003532618891232252, 0.0010533843984939283};

// log1p(-e / 2)
template <class T>
HWY_INLINE V log_rest(D d, V e) {
  if constexpr (sizeof(T) == sizeof(double)) {
    return hn::Log1p(d, hn::Mul(hn::Set(d, -0.5), e));
  } else {
    return hn::NegMulAdd(e, polynomial(d, kLogCdf, e), hn::Zero(d));
  }
}

template <class T>
HWY_INLINE void log_cdf_in(const T* x, std::ptrdiff_t n, double sign, const Threshold& b,
                           double alpha, T* log_p) {
  const D d;
  const View view(sign, b);
  const V rate = hn::Set(d, 1 / alpha);
  const V octaves = hn::Set(d, kLog2e / alpha);
  const V least = hn::Set(d, -Element<T>::kMax);
  const V never = hn::Set(d, -std::numeric_limits<double>::infinity());
  const Decay<T, 0> decay;
  const auto at = [&](const T* from, T* to) HWY_ATTR {
    const V distance = view.distance(d, load_wide(d, from));
    const V e = decay(d, hn::Min(hn::Mul(hn::Abs(distance), octaves), hn::Set(d, decay.kZero)));
    const V below = hn::Max(least, hn::MulAdd(distance, rate, hn::Set(d, -kLn2)));
    const auto is_above = hn::Gt(distance, hn::Zero(d));
    store_narrow(d, hn::IfThenElse(is_above, log_rest<T>(d, e), below), to);
    // Not every instruction set narrows what is infinite.
    const auto is_never = hn::Eq(distance, never);
    if (HWY_LIKELY(hn::AllFalse(d, is_never))) return;
    double chosen[kMaxLanes];
    hn::StoreU(hn::IfThenElse(is_never, never, hn::Zero(d)), d, chosen);
    for (std::size_t l = 0; l < hn::Lanes(d); ++l) {
      if (chosen[l] != 0) to[l] = Element<T>::round(chosen[l]);
    }
  };
  map_vectors(x, n, log_p, at);
}

HWY_INLINE V log_slope(D d, V z, V e) {
  const V above = hn::Div(e, hn::Sub(hn::Set(d, 2.0), e));
  const V u = hn::IfThenElse(hn::Gt(z, hn::Zero(d)), above, hn::Set(d, 1.0));
  const V inf = hn::Set(d, std::numeric_limits<double>::infinity());
  return hn::IfThenElseZero(hn::Lt(hn::Abs(z), inf), u);
}

// e goes to `keep` if kKeep, 0 where a float would be denormal.
template <bool kWithZ, Curve kCurve, bool kKeep, class T>
HWY_INLINE DensitySums sum_in(const T* x, const T* g, std::ptrdiff_t n, double sign,
                              const Threshold& b, double alpha, Work<T>* keep) {
  const D d;
  const View view(sign, b);
  const V rate = hn::Set(d, kLog2e / alpha);
  const Decay<T, 0> decay;
  V total = hn::Zero(d);
  V with_g = hn::Zero(d);
  V with_t = hn::Zero(d);
  V with_gt = hn::Zero(d);
  const auto add = [&](const T* at, const T* g_at, [[maybe_unused]] Work<T>* to) HWY_ATTR {
    const V z = view.distance(d, load_wide(d, at));
    const V t = hn::Min(hn::Mul(hn::Abs(z), rate), hn::Set(d, decay.kZero));
    const V e = decay(d, t);
    const V with = load_wide(d, g_at);
    if constexpr (kKeep) {
      const bool all = sizeof(T) == sizeof(double);
      store_narrow(d, all ? e : hn::IfThenElseZero(hn::Lt(t, hn::Set(d, decay.kFar)), e), to);
    }
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
        Work<T> kept[kMaxLanes];
        for (std::ptrdiff_t l = 0; l < left; ++l) last[l] = g[i + l];
        add(at, last, kept);
        if constexpr (kKeep) std::copy_n(kept, left, keep + i);
      });
  return {sum_of(total), sum_of(with_g), kLn2 * sum_of(with_t), kLn2 * sum_of(with_gt)};
}

// Total and g in float lanes, for a threshold that one double can hold.
template <class T>
HWY_INLINE DensitySums narrow_weigh_in(const T* x, const T* g, std::ptrdiff_t n, double sign,
                                       double b, double alpha, float* e) {
  const DF d;
  const Seen<T, ManySteps> seen(sign, b, alpha, 125);
  constexpr auto kLanes = static_cast<std::ptrdiff_t>(hn::MaxLanes(d));
  constexpr auto kHalf = static_cast<std::ptrdiff_t>(kMaxLanes);
  V total = hn::Zero(D()), more = total, with_g = total, more_g = total;
  const auto count = [&](const float* weights, const T* g_at) HWY_ATTR {
    const V low = load_wide(D(), weights), high = load_wide(D(), weights + kHalf);
    total = hn::Add(total, low);
    more = hn::Add(more, high);
    with_g = hn::MulAdd(load_wide(D(), g_at), low, with_g);
    more_g = hn::MulAdd(load_wide(D(), g_at + kHalf), high, more_g);
  };
  HWY_ALIGN float own[kStepsInStrip * kLanes];
  const auto weigh = [&](std::ptrdiff_t begin, std::ptrdiff_t end) HWY_ATTR {
    float* const to = e ? e + begin : own;
    const std::ptrdiff_t length = end - begin;
    for (std::ptrdiff_t j = 0; j < length; j += kLanes) {
      hn::StoreU(seen.rounded(x + begin + j), d, to + j);
    }
    for (std::ptrdiff_t j = 0; j < length; j += kLanes) count(to + j, g + begin + j);
  };
  const std::ptrdiff_t i = for_strips(n, kLanes, weigh);
  if (i < n && n >= kLanes) {  // the last vector of the row: what it has in front is counted
    const std::ptrdiff_t last = n - kLanes;
    const auto weights = seen.rounded(x + last);
    if (e) hn::StoreU(weights, d, e + last);
    const auto counted = hn::FirstN(d, static_cast<std::size_t>(i - last));
    hn::Store(hn::IfThenZeroElse(counted, weights), d, own);
    count(own, g + last);
  } else if (i < n) {
    T last[kLanes], last_g[kLanes] = {};
    std::fill_n(last, kLanes, Element<T>::round(std::numeric_limits<double>::infinity()));
    std::copy(x + i, x + n, last);
    std::copy(g + i, g + n, last_g);
    hn::Store(seen.rounded(last), d, own);
    count(own, last_g);
    if (e) std::copy_n(own, n - i, e + i);
  }
  return {sum_of(hn::Add(total, more)), sum_of(hn::Add(with_g, more_g))};
}

template <class T>
HWY_INLINE DensitySums weigh_in(const T* x, const T* g, std::ptrdiff_t n, double sign,
                                const Threshold& b, double alpha, Work<T>* e) {
  if constexpr (kHasTable && sizeof(T) < sizeof(double)) {
    // Floats of a smaller sum may lack what the wider range of doubles holds.
    constexpr double kFaint = 0x1p-40;
    const double whole = b.anchor + b.offset;
    if (ManySteps::can_take(whole, alpha)) {
      const DensitySums sums = narrow_weigh_in(x, g, n, sign, whole, alpha, e);
      if (sums.total > kFaint) return sums;
    }
  }
  if (e) return sum_in<false, Curve::cdf, true>(x, g, n, sign, b, alpha, e);
  return sum_in<false, Curve::cdf, false>(x, g, n, sign, b, alpha, e);
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

// The last pass of pull_in, where e is known; it may lie where the result goes.
template <class T>
HWY_INLINE void pull_weighed_in(const Work<T>* e, const T* g, std::ptrdiff_t n, double mean,
                                double height, T* out) {
  const hn::ScalableTag<Work<T>> dt;
  constexpr bool kIsDouble = std::is_same_v<Work<T>, double>;
  // No float tells more, and doubles do not overflow.
  const double most_height = kIsDouble ? height : std::clamp(height, -1e200, 1e200);
  const V scale = hn::Set(D(), most_height);
  const V middle = hn::Set(D(), kIsDouble ? mean : most_height * mean);
  const auto most = hn::Set(dt, static_cast<Work<T>>(Element<T>::kMax));
  const auto at = [=](const Work<T>* e_at, const T* g_at) HWY_ATTR {
    const auto part = [=](std::size_t l) HWY_ATTR {
      const V weight = load_wide(D(), e_at + l), with = load_wide(D(), g_at + l);
      if constexpr (kIsDouble) return hn::Mul(scale, hn::Mul(weight, hn::Sub(middle, with)));
      return hn::Mul(weight, hn::NegMulAdd(scale, with, middle));
    };
    const auto pulled = narrowed<Work<T>>(part);
    return hn::Max(hn::Neg(most), hn::Min(most, pulled));
  };
  const auto lanes = static_cast<std::ptrdiff_t>(hn::Lanes(dt));
  if (n < lanes) {
    Work<T> few[hn::MaxLanes(dt)] = {};
    T last[hn::MaxLanes(dt)] = {};
    std::copy_n(e, n, few);
    std::copy_n(g, n, last);
    store_elements(dt, at(few, last), last);
    std::copy_n(last, n, out);
    return;
  }
  const auto last = at(e + n - lanes, g + n - lanes);
  for (std::ptrdiff_t i = 0; i + lanes <= n; i += lanes) {
    store_elements(dt, at(e + i, g + i), out + i);
  }
  store_elements(dt, last, out + n - lanes);
}

#define LAPSUM_DENSITY_OF(T)                                                                       \
  void cdf_##T(const T* x, std::ptrdiff_t n, double sign, const Threshold& b, double alpha,        \
               T* p) {                                                                             \
    cdf_in(x, n, sign, b, alpha, p);                                                               \
  }                                                                                                \
  void log_cdf_##T(const T* x, std::ptrdiff_t n, double sign, const Threshold& b, double alpha,    \
                   T* log_p) {                                                                     \
    log_cdf_in(x, n, sign, b, alpha, log_p);                                                       \
  }                                                                                                \
  DensitySums sum_##T(const T* x, const T* g, std::ptrdiff_t n, double sign, const Threshold& b,   \
                      double alpha, bool with_z, Curve curve) {                                    \
    if (curve == Curve::log_cdf) {                                                                 \
      return sum_in<false, Curve::log_cdf, false>(x, g, n, sign, b, alpha, nullptr);               \
    }                                                                                              \
    if (with_z) return sum_in<true, Curve::cdf, false>(x, g, n, sign, b, alpha, nullptr);          \
    return sum_in<false, Curve::cdf, false>(x, g, n, sign, b, alpha, nullptr);                     \
  }                                                                                                \
  DensitySums weigh_##T(const T* x, const T* g, std::ptrdiff_t n, double sign, const Threshold& b, \
                        double alpha, Work<T>* e) {                                                \
    return weigh_in(x, g, n, sign, b, alpha, e);                                                   \
  }                                                                                                \
  void pull_weighed_##T(const Work<T>* e, const T* g, std::ptrdiff_t n, double mean,               \
                        double height, T* out) {                                                   \
    pull_weighed_in(e, g, n, mean, height, out);                                                   \
  }                                                                                                \
  void pull_##T(const T* x, std::ptrdiff_t n, double sign, std::span<const Pull<T>> levels,        \
                std::ptrdiff_t begin, double alpha, double height, T* out, Curve curve) {          \
    if (curve == Curve::log_cdf) {                                                                 \
      pull_in<Curve::log_cdf>(x, n, sign, levels, begin, alpha, height, out);                      \
    } else {                                                                                       \
      pull_in<Curve::cdf>(x, n, sign, levels, begin, alpha, height, out);                          \
    }                                                                                              \
  }
LAPSUM_DENSITY_OF(float)
LAPSUM_DENSITY_OF(double)
LAPSUM_DENSITY_OF(Half)
LAPSUM_DENSITY_OF(Bfloat16)
#undef LAPSUM_DENSITY_OF

#define LAPSUM_EACH_OF(T)                                                        \
  void weigh_each_##T(std::span<Weighed<T>> rows, std::ptrdiff_t n) {            \
    for (Weighed<T>& row : rows) {                                               \
      row.sums = weigh_in(row.x, row.g, n, row.sign, row.b, row.alpha, row.out); \
    }                                                                            \
  }                                                                              \
  void pull_each_##T(std::span<const Weighed<T>> rows, std::ptrdiff_t n) {       \
    for (const Weighed<T>& row : rows) {                                         \
      pull_weighed_in(row.out, row.g, n, row.mean, row.height, row.out);         \
    }                                                                            \
  }
LAPSUM_EACH_OF(float)
LAPSUM_EACH_OF(double)
#undef LAPSUM_EACH_OF

}  // namespace lapsum::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lapsum::cpu {

#define LAPSUM_DENSITY_OF(T)                                                                       \
  HWY_EXPORT(cdf_##T);                                                                             \
  HWY_EXPORT(log_cdf_##T);                                                                         \
  HWY_EXPORT(sum_##T);                                                                             \
  HWY_EXPORT(pull_##T);                                                                            \
  HWY_EXPORT(weigh_##T);                                                                           \
  HWY_EXPORT(pull_weighed_##T);                                                                    \
  template <>                                                                                      \
  void cdf_at(const T* x, std::ptrdiff_t n, double sign, const Threshold& b, double alpha, T* p) { \
    if (is_plain(alpha)) return HWY_DYNAMIC_DISPATCH(cdf_##T)(x, n, sign, b, alpha, p);            \
    for (std::ptrdiff_t i = 0; i < n; ++i) {                                                       \
      p[i] =                                                                                       \
          Element<T>::round(math::cdf(((b.anchor - sign * to_double(x[i])) + b.offset) / alpha));  \
    }                                                                                              \
  }                                                                                                \
  template <>                                                                                      \
  void log_cdf_at(const T* x, std::ptrdiff_t n, double sign, const Threshold& b, double alpha,     \
                  T* log_p) {                                                                      \
    if (is_plain(alpha)) return HWY_DYNAMIC_DISPATCH(log_cdf_##T)(x, n, sign, b, alpha, log_p);    \
    for (std::ptrdiff_t i = 0; i < n; ++i) {                                                       \
      const double distance = (b.anchor - sign * to_double(x[i])) + b.offset;                      \
      const double y = math::log_cdf(distance / alpha);                                            \
      log_p[i] = std::isinf(distance) ? narrow<T>(y) : capped<T>(y);                               \
    }                                                                                              \
  }                                                                                                \
  template <>                                                                                      \
  DensitySums sum_density(const T* x, const T* g, std::ptrdiff_t n, double sign,                   \
                          const Threshold& b, double alpha, bool with_z, Curve curve) {            \
    return HWY_DYNAMIC_DISPATCH(sum_##T)(x, g, n, sign, b, alpha, with_z, curve);                  \
  }                                                                                                \
  template <>                                                                                      \
  DensitySums weigh(const T* x, const T* g, std::ptrdiff_t n, double sign, const Threshold& b,     \
                    double alpha, Work<T>* e) {                                                    \
    return HWY_DYNAMIC_DISPATCH(weigh_##T)(x, g, n, sign, b, alpha, e);                            \
  }                                                                                                \
  template <>                                                                                      \
  void pull_weighed(const Work<T>* e, const T* g, std::ptrdiff_t n, double mean, double height,    \
                    T* out) {                                                                      \
    HWY_DYNAMIC_DISPATCH(pull_weighed_##T)(e, g, n, mean, height, out);                            \
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

#define LAPSUM_EACH_OF(T)                                              \
  HWY_EXPORT(weigh_each_##T);                                          \
  HWY_EXPORT(pull_each_##T);                                           \
  template <>                                                          \
  void weigh_each(std::span<Weighed<T>> rows, std::ptrdiff_t n) {      \
    HWY_DYNAMIC_DISPATCH(weigh_each_##T)(rows, n);                     \
  }                                                                    \
  template <>                                                          \
  void pull_each(std::span<const Weighed<T>> rows, std::ptrdiff_t n) { \
    HWY_DYNAMIC_DISPATCH(pull_each_##T)(rows, n);                      \
  }
LAPSUM_EACH_OF(float)
LAPSUM_EACH_OF(double)
#undef LAPSUM_EACH_OF

}  // namespace lapsum::cpu
#endif  // HWY_ONCE
