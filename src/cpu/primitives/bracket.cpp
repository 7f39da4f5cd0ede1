// Highway compiles everything inside HWY_NAMESPACE once per instruction set.
#include "cpu/primitives/bracket.h"

#include <cmath>
#include <cstdint>
#include <iterator>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/primitives/bracket.cpp"
#include <hwy/foreach_target.h>
// clang-format off: these must follow foreach_target.h
#include <hwy/highway.h>
#include "cpu/primitives/decay-inl.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace lapsum::cpu::HWY_NAMESPACE {

template <class T>
struct Sums {
  using DT = hn::ScalableTag<T>;
  using M = hn::Mask<DT>;

  // What the vector at `at` adds to the sums.
  HWY_INLINE void add(const T* at) {
    const D d;
    const Decay<T, 0> decay;
    for (std::size_t h = 0; h < hn::Lanes(DT()); h += hn::Lanes(d)) {
      const V v = load_wide(d, at + h);
      const V below = hn::NegMulAdd(v, turn, low);
      const V above = hn::MulSub(v, turn, high);
      const Lanes is_left = hn::Ge(below, hn::Zero(d));
      const Lanes is_right = hn::AndNot(is_left, hn::Ge(above, hn::Zero(d)));
      const V t = hn::Mul(hn::Max(below, above), rate);
      const V e = decay(d, hn::Min(t, hn::Set(d, decay.kZero)));
      left = hn::IfThenElse(is_left, hn::Add(left, e), left);
      right = hn::IfThenElse(is_right, hn::Add(right, e), right);
    }
  }

  V turn, low, high, rate, left, right;
};

template <class T>
HWY_INLINE Bracketed bracket_in(const T* HWY_RESTRICT x, std::ptrdiff_t n, double sign, double lo,
                                double hi, double alpha, T* HWY_RESTRICT inside) {
  const D d;
  const hn::ScalableTag<T> dt;
  const auto turn = hn::Set(dt, static_cast<T>(sign));
  const auto low = hn::Set(dt, static_cast<T>(lo));
  const auto high = hn::Set(dt, static_cast<T>(hi));
  Sums<T> sums{hn::Set(d, sign),           hn::Set(d, lo), hn::Set(d, hi),
               hn::Set(d, kLog2e / alpha), hn::Zero(d),    hn::Zero(d)};
  const auto lanes = static_cast<std::ptrdiff_t>(hn::Lanes(dt));
  std::ptrdiff_t left = 0;
  std::ptrdiff_t kept = 0;
  std::ptrdiff_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    const auto r = hn::Mul(hn::LoadU(dt, x + i), turn);
    const auto is_left = hn::Le(r, low);
    const auto is_inside = hn::Not(hn::Or(is_left, hn::Ge(r, high)));
    // A compressed vector may be stored whole: there is as much room as there are values so far.
    if constexpr (sizeof(T) == sizeof(float)) {
      hn::StoreU(hn::Compress(r, is_inside), dt, inside + kept);
    } else {
      hn::CompressStore(r, is_inside, dt, inside + kept);
    }
    left += static_cast<std::ptrdiff_t>(hn::CountTrue(dt, is_left));
    kept += static_cast<std::ptrdiff_t>(hn::CountTrue(dt, is_inside));
    sums.add(x + i);
  }
  if (i < n) {
    // Values at infinity add nothing.
    T padded[hn::MaxLanes(dt)];
    for (std::ptrdiff_t l = 0; l < lanes; ++l) {
      padded[l] = i + l < n ? x[i + l] : static_cast<T>(sign * std::numeric_limits<T>::infinity());
    }
    sums.add(padded);
    for (; i < n; ++i) {
      const double r = sign * static_cast<double>(x[i]);
      left += r <= lo;
      if (!(r <= lo || r >= hi)) inside[kept++] = static_cast<T>(r);
    }
  }
  return {left, kept, hn::GetLane(hn::SumOfLanes(d, sums.left)),
          hn::GetLane(hn::SumOfLanes(d, sums.right))};
}

template <class T>
HWY_INLINE void small_sort_in(const T* values, std::ptrdiff_t n, double* sorted) {
  const hn::ScalableTag<T> d;
  const hn::RebindToSigned<decltype(d)> di;
  using Rank = hn::TFromD<decltype(di)>;
  const auto lanes = static_cast<std::ptrdiff_t>(hn::Lanes(d));
  Rank rank[kSmallSort + hn::MaxLanes(d)];
  T padded[kSmallSort + hn::MaxLanes(d)];
  for (std::ptrdiff_t i = 0; i < n; ++i) padded[i] = values[i];
  for (std::ptrdiff_t i = n; i < n + lanes; ++i) padded[i] = 0;
  const auto one = hn::Set(di, Rank{1});
  const auto add = [&](auto count, auto precedes) HWY_ATTR {
    return hn::IfThenElse(hn::RebindMask(di, precedes), hn::Add(count, one), count);
  };
  for (std::ptrdiff_t begin = 0; begin < n; begin += lanes) {
    const auto v = hn::LoadU(d, padded + begin);
    auto count = hn::Zero(di);
    // Of equal values the earlier one comes first.
    std::ptrdiff_t j = 0;
    for (; j < begin; ++j) count = add(count, hn::Ge(v, hn::Set(d, padded[j])));
    for (; j < begin + lanes && j < n; ++j) {
      const auto other = hn::Set(d, padded[j]);
      const auto later = hn::Gt(hn::Iota(d, T{0}), hn::Set(d, static_cast<T>(j - begin)));
      count = add(count, hn::Or(hn::Gt(v, other), hn::And(later, hn::Eq(v, other))));
    }
    for (; j < n; ++j) count = add(count, hn::Gt(v, hn::Set(d, padded[j])));
    hn::StoreU(count, di, rank + begin);
  }
  for (std::ptrdiff_t i = 0; i < n; ++i) sorted[rank[i]] = static_cast<double>(padded[i]);
}

void scan_all(const double* r, std::ptrdiff_t n, const math::Interval& at, double alpha,
              double* left, double* right) {
  const D d;
  const Decay<double, 0> decay;
  const auto lanes = static_cast<std::ptrdiff_t>(hn::Lanes(d));
  const V rate = hn::Set(d, kLog2e / alpha);
  const bool plain = is_plain(alpha);
  const auto decay_of = [&](V distance) HWY_ATTR {
    const V t = plain ? hn::Mul(distance, rate)
                      : hn::Mul(hn::Div(distance, hn::Set(d, alpha)), hn::Set(d, kLog2e));
    return decay(d, hn::Min(t, hn::Set(d, decay.kZero)));
  };
  const auto decay_over = [&](double distance)
                              HWY_ATTR { return hn::GetLane(decay_of(hn::Set(d, distance))); };
  if (n == 0) {
    const double all =
        at.left_sum + at.right_sum > 0 ? decay_over(at.right_nearest - at.left_nearest) : 0;
    left[0] = at.left_sum * all;
    right[0] = at.right_sum * all;
    return;
  }
  // The decays between neighbours go to where the sums will stand.
  std::ptrdiff_t j = 1;
  for (; j + lanes <= n; j += lanes) {
    const V gap = hn::Sub(hn::LoadU(d, r + j), hn::LoadU(d, r + j - 1));
    const V e = decay_of(gap);
    hn::StoreU(e, d, left + j);
    hn::StoreU(e, d, right + j);
  }
  for (; j < n; ++j) left[j] = right[j] = decay_over(r[j] - r[j - 1]);
  double from_left = at.left_sum > 0 ? at.left_sum * decay_over(r[0] - at.left_nearest) : 0;
  double from_right = at.right_sum > 0 ? at.right_sum * decay_over(at.right_nearest - r[n - 1]) : 0;
  left[0] = from_left;
  right[n] = from_right;
  for (std::ptrdiff_t l = 1; l < n; ++l) {
    from_left = from_left * left[l] + left[l];
    left[l] = from_left;
    from_right = from_right * right[n - l] + right[n - l];
    right[n - l] = from_right;
  }
  left[n] = at.right_sum > 0 ? (from_left + 1) * decay_over(at.right_nearest - r[n - 1]) : 0;
  right[0] = at.left_sum > 0 ? (from_right + 1) * decay_over(r[0] - at.left_nearest) : 0;
}

Bracketed bracket_float(const float* x, std::ptrdiff_t n, double sign, double lo, double hi,
                        double alpha, float* inside) {
  return bracket_in(x, n, sign, lo, hi, alpha, inside);
}
Bracketed bracket_double(const double* x, std::ptrdiff_t n, double sign, double lo, double hi,
                         double alpha, double* inside) {
  return bracket_in(x, n, sign, lo, hi, alpha, inside);
}
void small_sort_float(const float* values, std::ptrdiff_t n, double* sorted) {
  small_sort_in(values, n, sorted);
}
void small_sort_double(const double* values, std::ptrdiff_t n, double* sorted) {
  small_sort_in(values, n, sorted);
}

}  // namespace lapsum::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lapsum::cpu {
HWY_EXPORT(bracket_float);
HWY_EXPORT(bracket_double);
HWY_EXPORT(small_sort_float);
HWY_EXPORT(small_sort_double);
HWY_EXPORT(scan_all);

template <>
Bracketed bracket(const float* x, std::ptrdiff_t n, double sign, double lo, double hi, double alpha,
                  float* inside) {
  return HWY_DYNAMIC_DISPATCH(bracket_float)(x, n, sign, lo, hi, alpha, inside);
}

template <>
Bracketed bracket(const double* x, std::ptrdiff_t n, double sign, double lo, double hi,
                  double alpha, double* inside) {
  return HWY_DYNAMIC_DISPATCH(bracket_double)(x, n, sign, lo, hi, alpha, inside);
}

template <>
void small_sort(const float* values, std::ptrdiff_t n, double* sorted) {
  HWY_DYNAMIC_DISPATCH(small_sort_float)(values, n, sorted);
}

template <>
void small_sort(const double* values, std::ptrdiff_t n, double* sorted) {
  HWY_DYNAMIC_DISPATCH(small_sort_double)(values, n, sorted);
}

void scan_sums(const double* r, std::ptrdiff_t n, const math::Interval& at, double alpha,
               double* left, double* right) {
  HWY_DYNAMIC_DISPATCH(scan_all)(r, n, at, alpha, left, right);
}

}  // namespace lapsum::cpu
#endif  // HWY_ONCE
