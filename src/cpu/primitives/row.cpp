// Highway compiles everything inside HWY_NAMESPACE once per instruction set.
#include "cpu/primitives/row.h"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/primitives/row.cpp"
#include <hwy/foreach_target.h>
// clang-format off: these must follow foreach_target.h
#include <hwy/highway.h>
#include "cpu/primitives/decay-inl.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace lapsum::cpu::HWY_NAMESPACE {

void narrow_float(const double* x, std::ptrdiff_t n, float* out) {
  const D d;
  const V most = hn::Set(d, std::numeric_limits<float>::max());
  const V inf = hn::Set(d, std::numeric_limits<double>::infinity());
  const auto at = [&](const double* from, float* to) HWY_ATTR {
    const V v = hn::LoadU(d, from);
    if (HWY_LIKELY(hn::AllTrue(d, hn::Lt(hn::Abs(v), inf)))) {
      store_narrow(d, hn::Min(hn::Max(v, hn::Neg(most)), most), to);
    } else {
      for (std::size_t l = 0; l < hn::Lanes(d); ++l) to[l] = narrow<float>(from[l]);
    }
  };
  for_each_vector(
      x, n, 0.0, [&](const double* from, std::ptrdiff_t i) HWY_ATTR { at(from, out + i); },
      [&](const double* from, std::ptrdiff_t i, std::ptrdiff_t left) HWY_ATTR {
        float last[kMaxLanes];
        at(from, last);
        std::copy_n(last, left, out + i);
      });
}

template <class T>
HWY_INLINE bool is_finite_in(const T* x, std::ptrdiff_t n) {
  const DF d;
  const auto lanes = static_cast<std::ptrdiff_t>(hn::Lanes(d));
  // 0 times what is not finite is NaN, and stays NaN in sums.
  auto sum = hn::Zero(d);
  std::ptrdiff_t i = 0;
  for (; i + lanes <= n; i += lanes) sum = hn::MulAdd(hn::Zero(d), load_elements(d, x + i), sum);
  bool finite = hn::AllTrue(d, hn::Eq(sum, hn::Zero(d)));
  for (; i < n; ++i) finite &= 0 * to_work(x[i]) == 0;
  return finite;
}
bool is_finite_float(const float* x, std::ptrdiff_t n) { return is_finite_in(x, n); }
bool is_finite_half(const Half* x, std::ptrdiff_t n) { return is_finite_in(x, n); }
bool is_finite_bfloat16(const Bfloat16* x, std::ptrdiff_t n) { return is_finite_in(x, n); }

}  // namespace lapsum::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lapsum::cpu {
HWY_EXPORT(narrow_float);
HWY_EXPORT(is_finite_float);
HWY_EXPORT(is_finite_half);
HWY_EXPORT(is_finite_bfloat16);

template <>
void narrow_row(const double* x, std::ptrdiff_t n, float* out) {
  HWY_DYNAMIC_DISPATCH(narrow_float)(x, n, out);
}

template <class T>
void narrow_row(const double* x, std::ptrdiff_t n, T* out) {
  std::transform(x, x + n, out, narrow<T>);
}
template void narrow_row(const double*, std::ptrdiff_t, double*);
template void narrow_row(const double*, std::ptrdiff_t, Half*);
template void narrow_row(const double*, std::ptrdiff_t, Bfloat16*);

template <>
bool is_finite(const float* x, std::ptrdiff_t n) {
  return HWY_DYNAMIC_DISPATCH(is_finite_float)(x, n);
}

template <>
bool is_finite(const Half* x, std::ptrdiff_t n) {
  return HWY_DYNAMIC_DISPATCH(is_finite_half)(x, n);
}

template <>
bool is_finite(const Bfloat16* x, std::ptrdiff_t n) {
  return HWY_DYNAMIC_DISPATCH(is_finite_bfloat16)(x, n);
}

template <>
bool is_finite(const double* x, std::ptrdiff_t n) {
  return std::all_of(x, x + n, [](double v) { return std::isfinite(v); });
}

}  // namespace lapsum::cpu
#endif  // HWY_ONCE
