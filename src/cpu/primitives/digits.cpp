// Highway compiles everything inside HWY_NAMESPACE once per instruction set.
#include "cpu/primitives/digits.h"

#include <cmath>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/primitives/digits.cpp"
#include <hwy/foreach_target.h>
// clang-format off: this must follow foreach_target.h
#include <hwy/highway.h>
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace lapsum::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class T>
HWY_INLINE Extent<T> extent_of(const T* x, std::ptrdiff_t n) {
  const hn::ScalableTag<T> d;
  const auto lanes = static_cast<std::ptrdiff_t>(hn::Lanes(d));
  const auto inf = hn::Set(d, std::numeric_limits<T>::infinity());
  auto least = hn::Set(d, x[0]);
  auto greatest = least;
  auto finite = hn::Lt(hn::Abs(least), inf);
  const auto add = [&](hn::Vec<decltype(d)> v) HWY_ATTR {
    least = hn::Min(v, least);
    greatest = hn::Max(v, greatest);
    finite = hn::And(finite, hn::Lt(hn::Abs(v), inf));
  };
  std::ptrdiff_t i = 0;
  for (; i + lanes <= n; i += lanes) add(hn::LoadU(d, x + i));
  for (; i < n; ++i) add(hn::Set(d, x[i]));
  return {hn::GetLane(hn::MinOfLanes(d, least)), hn::GetLane(hn::MaxOfLanes(d, greatest)),
          hn::AllTrue(d, finite)};
}

Extent<float> extent_of_floats(const float* x, std::ptrdiff_t n) { return extent_of(x, n); }
Extent<double> extent_of_doubles(const double* x, std::ptrdiff_t n) { return extent_of(x, n); }

HWY_INLINE auto whole(hn::ScalableTag<float>, hn::Vec<hn::ScalableTag<float>> v) {
  return hn::ConvertTo(hn::ScalableTag<std::int32_t>(), v);
}
HWY_INLINE auto whole(hn::ScalableTag<double>, hn::Vec<hn::ScalableTag<double>> v) {
  return hn::DemoteTo(hn::Rebind<std::int32_t, hn::ScalableTag<double>>(), v);
}

template <class T>
HWY_INLINE void digits_of(const T* x, std::ptrdiff_t n, bool negate, T least, T scale,
                          std::uint32_t most, std::uint32_t* digits) {
  const hn::ScalableTag<T> d;
  const hn::Rebind<std::int32_t, decltype(d)> d32;
  const auto lanes = static_cast<std::ptrdiff_t>(hn::Lanes(d));
  const auto sign = hn::Set(d, negate ? T(-1) : T(1));
  const auto from = hn::Set(d, least);
  const auto steps = hn::Set(d, scale);
  const auto last = hn::Set(d, static_cast<T>(most));
  const auto at = [&](hn::Vec<decltype(d)> v) HWY_ATTR {
    return whole(d, hn::Min(hn::Mul(hn::Sub(hn::Mul(v, sign), from), steps), last));
  };
  std::ptrdiff_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    hn::StoreU(at(hn::LoadU(d, x + i)), d32, reinterpret_cast<std::int32_t*>(digits + i));
  }
  for (; i < n; ++i) digits[i] = static_cast<std::uint32_t>(hn::GetLane(at(hn::Set(d, x[i]))));
}

void digits_of_floats(const float* x, std::ptrdiff_t n, bool negate, float least, float scale,
                      std::uint32_t most, std::uint32_t* digits) {
  digits_of(x, n, negate, least, scale, most, digits);
}
void digits_of_doubles(const double* x, std::ptrdiff_t n, bool negate, double least, double scale,
                       std::uint32_t most, std::uint32_t* digits) {
  digits_of(x, n, negate, least, scale, most, digits);
}

}  // namespace lapsum::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lapsum::cpu {
HWY_EXPORT(extent_of_floats);
HWY_EXPORT(extent_of_doubles);
HWY_EXPORT(digits_of_floats);
HWY_EXPORT(digits_of_doubles);

template <>
Extent<float> extent(const float* x, std::ptrdiff_t n) {
  return HWY_DYNAMIC_DISPATCH(extent_of_floats)(x, n);
}
template <>
Extent<double> extent(const double* x, std::ptrdiff_t n) {
  return HWY_DYNAMIC_DISPATCH(extent_of_doubles)(x, n);
}

template <class T>
Digits<T>::Digits(const Extent<T>& extent, bool negate, std::uint32_t most)
    : least_(negate ? -extent.greatest : extent.least),
      scale_(static_cast<T>(most) / (extent.greatest - extent.least)),
      most_(most),
      negate_(negate) {
  if (!extent.finite) scale_ = 0;
}

template <class T>
bool Digits<T>::exist() const {
  return scale_ > 0 && std::isfinite(scale_);
}

template <>
void Digits<float>::of(const float* x, std::ptrdiff_t n, std::uint32_t* digits) const {
  HWY_DYNAMIC_DISPATCH(digits_of_floats)(x, n, negate_, least_, scale_, most_, digits);
}
template <>
void Digits<double>::of(const double* x, std::ptrdiff_t n, std::uint32_t* digits) const {
  HWY_DYNAMIC_DISPATCH(digits_of_doubles)(x, n, negate_, least_, scale_, most_, digits);
}

template class Digits<float>;
template class Digits<double>;

}  // namespace lapsum::cpu
#endif  // HWY_ONCE
