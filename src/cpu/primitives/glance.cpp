// Highway compiles everything inside HWY_NAMESPACE once per instruction set.
#include "cpu/primitives/glance.h"

#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/primitives/glance.cpp"
#include <hwy/foreach_target.h>
// clang-format off: these must follow foreach_target.h
#include <hwy/highway.h>
#include "cpu/primitives/elements-inl.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace lapsum::cpu::HWY_NAMESPACE {

template <class T>
using Tag = hn::ScalableTag<Work<T>>;
template <class T>
using Vec = hn::Vec<Tag<T>>;

// body(vector) for every step-th vector, the last one padded.
template <class T, class Body>
HWY_INLINE void for_each_seen(const T* x, std::ptrdiff_t n, std::ptrdiff_t step, T padding,
                              Body&& body) {
  const Tag<T> d;
  const auto lanes = static_cast<std::ptrdiff_t>(hn::Lanes(d));
  std::ptrdiff_t i = 0;
  for (; i + lanes <= n; i += step * lanes) body(load_elements(d, x + i));
  if (i >= n) return;
  T padded[hn::MaxLanes(d)];
  for (std::ptrdiff_t l = 0; l < lanes; ++l) padded[l] = i + l < n ? x[i + l] : padding;
  body(load_elements(d, padded));
}

template <class T>
HWY_INLINE double sum(Vec<T> v) {
  return static_cast<double>(hn::GetLane(hn::SumOfLanes(Tag<T>(), v)));
}

template <class T>
HWY_INLINE double seen(std::ptrdiff_t n, std::ptrdiff_t step) {
  const auto lanes = static_cast<std::ptrdiff_t>(hn::Lanes(Tag<T>()));
  const std::ptrdiff_t period = step * lanes;
  const std::ptrdiff_t rest = n % period;
  return static_cast<double>(n / period * lanes + (rest < lanes ? rest : lanes));
}

template <class T>
HWY_INLINE Summary moments_in(const T* x, std::ptrdiff_t n, std::ptrdiff_t step, double sign) {
  const Tag<T> d;
  const auto centre = hn::Set(d, to_work(x[0]));
  Vec<T> first = hn::Zero(d);
  Vec<T> second = hn::Zero(d);
  for_each_seen(x, n, step, x[0], [&](Vec<T> v) HWY_ATTR {
    const auto moved = hn::Sub(v, centre);
    first = hn::Add(first, moved);
    second = hn::MulAdd(moved, moved, second);
  });
  const double count = seen<T>(n, step);
  const double mean = sum<T>(first) / count;
  const double variance = sum<T>(second) / count - mean * mean;
  return {count, sign * (to_double(x[0]) + mean), variance > 0 ? variance : 0};
}

template <class T>
HWY_INLINE Glance at_in(const T* x, std::ptrdiff_t n, std::ptrdiff_t step, double sign, double v,
                        double alpha) {
  const Tag<T> d;
  const hn::RebindToSigned<Tag<T>> di;
  using Number = Work<T>;
  constexpr int kMantissa = sizeof(Number) == sizeof(float) ? 23 : 52;
  const auto turn = hn::Set(d, static_cast<Number>(sign));
  const auto from = hn::Set(d, static_cast<Number>(v));
  const auto rate = hn::Set(d, static_cast<Number>(1.4426950408889634 / alpha));
  const auto most = hn::Set(d, static_cast<Number>(125));
  const auto round =
      hn::Set(d, static_cast<Number>(sizeof(Number) == sizeof(float) ? 0x1.8p23 : 0x1.8p52));
  Vec<T> all = hn::Zero(d);
  Vec<T> left = hn::Zero(d);
  auto count = hn::Zero(di);
  const auto one = hn::Set(di, 1);
  for_each_seen(
      x, n, step, Element<T>::round(sign * std::numeric_limits<double>::infinity()),
      [&](Vec<T> value) HWY_ATTR {
        const auto distance = hn::NegMulAdd(value, turn, from);
        const auto t = hn::Min(hn::Mul(hn::Abs(distance), rate), most);
        const auto moved = hn::Sub(round, t);
        const auto f = hn::Sub(hn::Sub(round, moved), t);
        // 2^f within 1e-4 for |f| <= 1/2
        auto e = hn::MulAdd(f, hn::Set(d, Number(0.05517015)), hn::Set(d, Number(0.24260974)));
        e = hn::MulAdd(f, e, hn::Set(d, Number(0.69326108)));
        e = hn::MulAdd(f, e, hn::Set(d, Number(0.99992817)));
        e = hn::BitCast(
            d, hn::Add(hn::BitCast(di, e), hn::ShiftLeft<kMantissa>(hn::BitCast(di, moved))));
        const auto is_left = hn::Ge(distance, hn::Zero(d));
        all = hn::Add(all, e);
        left = hn::IfThenElse(is_left, hn::Add(left, e), left);
        count = hn::IfThenElse(hn::RebindMask(di, is_left), hn::Add(count, one), count);
      });
  const double left_sum = sum<T>(left);
  return {static_cast<double>(hn::GetLane(hn::SumOfLanes(di, count))), left_sum,
          sum<T>(all) - left_sum};
}

template <class T>
HWY_INLINE Neighbours neighbours_in(const T* x, std::ptrdiff_t n, std::ptrdiff_t step, double sign,
                                    double lo, double hi) {
  const Tag<T> d;
  using Number = Work<T>;
  constexpr Number kInf = std::numeric_limits<Number>::infinity();
  const auto turn = hn::Set(d, static_cast<Number>(sign));
  const auto low = hn::Set(d, static_cast<Number>(lo));
  const auto high = hn::Set(d, static_cast<Number>(hi));
  Vec<T> below = hn::Set(d, -kInf);
  Vec<T> above = hn::Set(d, kInf);
  for_each_seen(x, n, step, x[0], [&](Vec<T> v) HWY_ATTR {
    const auto r = hn::Mul(v, turn);
    below = hn::IfThenElse(hn::Le(r, low), hn::Max(below, r), below);
    above = hn::IfThenElse(hn::Ge(r, high), hn::Min(above, r), above);
  });
  return {static_cast<double>(hn::GetLane(hn::MaxOfLanes(d, below))),
          static_cast<double>(hn::GetLane(hn::MinOfLanes(d, above)))};
}

#define LAPSUM_GLANCE_OF(T)                                                                 \
  double count_##T(std::ptrdiff_t n, std::ptrdiff_t step) { return seen<T>(n, step); }      \
  Summary moments_##T(const T* x, std::ptrdiff_t n, std::ptrdiff_t step, double sign) {     \
    return moments_in(x, n, step, sign);                                                    \
  }                                                                                         \
  Glance at_##T(const T* x, std::ptrdiff_t n, std::ptrdiff_t step, double sign, double v,   \
                double alpha) {                                                             \
    return at_in(x, n, step, sign, v, alpha);                                               \
  }                                                                                         \
  Neighbours neighbours_##T(const T* x, std::ptrdiff_t n, std::ptrdiff_t step, double sign, \
                            double lo, double hi) {                                         \
    return neighbours_in(x, n, step, sign, lo, hi);                                         \
  }
LAPSUM_GLANCE_OF(float)
LAPSUM_GLANCE_OF(double)
LAPSUM_GLANCE_OF(Half)
LAPSUM_GLANCE_OF(Bfloat16)
#undef LAPSUM_GLANCE_OF

}  // namespace lapsum::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lapsum::cpu {

#define LAPSUM_GLANCE_OF(T)                                                                    \
  HWY_EXPORT(count_##T);                                                                       \
  HWY_EXPORT(moments_##T);                                                                     \
  HWY_EXPORT(at_##T);                                                                          \
  HWY_EXPORT(neighbours_##T);                                                                  \
  template <>                                                                                  \
  double glance_count<T>(std::ptrdiff_t n, std::ptrdiff_t step) {                              \
    return HWY_DYNAMIC_DISPATCH(count_##T)(n, step);                                           \
  }                                                                                            \
  template <>                                                                                  \
  Summary glance_moments(const T* x, std::ptrdiff_t n, std::ptrdiff_t step, double sign) {     \
    return HWY_DYNAMIC_DISPATCH(moments_##T)(x, n, step, sign);                                \
  }                                                                                            \
  template <>                                                                                  \
  Glance glance_at(const T* x, std::ptrdiff_t n, std::ptrdiff_t step, double sign, double v,   \
                   double alpha) {                                                             \
    return HWY_DYNAMIC_DISPATCH(at_##T)(x, n, step, sign, v, alpha);                           \
  }                                                                                            \
  template <>                                                                                  \
  Neighbours glance_neighbours(const T* x, std::ptrdiff_t n, std::ptrdiff_t step, double sign, \
                               double lo, double hi) {                                         \
    return HWY_DYNAMIC_DISPATCH(neighbours_##T)(x, n, step, sign, lo, hi);                     \
  }
LAPSUM_GLANCE_OF(float)
LAPSUM_GLANCE_OF(double)
LAPSUM_GLANCE_OF(Half)
LAPSUM_GLANCE_OF(Bfloat16)
#undef LAPSUM_GLANCE_OF

}  // namespace lapsum::cpu
#endif  // HWY_ONCE
