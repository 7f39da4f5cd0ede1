// Highway compiles everything inside HWY_NAMESPACE once per instruction set.
#include "cpu/primitives/few.h"

#include <cstdint>
#include <iterator>

#include "cpu/primitives/bracket.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/primitives/few.cpp"
#include <hwy/foreach_target.h>
// clang-format off: these must follow foreach_target.h
#include <hwy/highway.h>
#include "cpu/primitives/decay-inl.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace lapsum::cpu::HWY_NAMESPACE {

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
HWY_EXPORT(small_sort_float);
HWY_EXPORT(small_sort_double);
HWY_EXPORT(scan_all);

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
