// Highway compiles everything inside HWY_NAMESPACE once per instruction set.
#include "cpu/primitives/laplace.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/primitives/laplace.cpp"
#include <hwy/foreach_target.h>
// clang-format off: these must follow foreach_target.h
#include <hwy/highway.h>
#include <hwy/contrib/math/math-inl.h>
#include "cpu/primitives/decay-inl.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace lapsum::cpu::HWY_NAMESPACE {

// out[i] = f(in[i]); the last, partial vector goes through a padded copy, so that every element
// sees the same instructions wherever it stands.
template <class F>
HWY_INLINE void map(const double* in, std::ptrdiff_t n, double* out, F f) {
  const D d;
  const auto lanes = static_cast<std::ptrdiff_t>(hn::Lanes(d));
  std::ptrdiff_t i = 0;
  for (; i + lanes <= n; i += lanes) hn::StoreU(f(d, hn::LoadU(d, in + i)), d, out + i);
  if (i == n) return;
  HWY_ALIGN double padded[kMaxLanes] = {};
  for (std::ptrdiff_t l = 0; l < n - i; ++l) padded[l] = in[i + l];
  hn::Store(f(d, hn::Load(d, padded)), d, padded);
  for (std::ptrdiff_t l = 0; l < n - i; ++l) out[i + l] = padded[l];
}

// Denormals are slow, and no use: beyond log(2^-1022) the result is 0.
HWY_INLINE V exp_abs(D d, V z) {
  const V distance = hn::Abs(z);
  const auto normal = hn::Lt(distance, hn::Set(d, 708.39));
  return hn::IfThenElse(hn::Eq(z, z), hn::IfThenElseZero(normal, hn::Exp(d, hn::Neg(distance))), z);
}

void exp_abs_all(const double* z, std::ptrdiff_t n, double* out) {
  map(z, n, out, [](D d, V v) HWY_ATTR { return exp_abs(d, v); });
}

void decay_loss_all(const double* z, std::ptrdiff_t n, double* out) {
  map(z, n, out, [](D d, V v) HWY_ATTR {
    const V lost = Decay<double, 0>().loss(
        d, hn::Min(hn::Mul(v, hn::Set(d, kLog2e)), hn::Set(d, Decay<double, 0>::kZero)));
    return hn::IfThenElse(hn::Eq(v, v), lost, v);
  });
}

void cdf_all(const double* z, std::ptrdiff_t n, double* out) {
  map(z, n, out, [](D d, V v) HWY_ATTR {
    const V half = hn::Mul(hn::Set(d, 0.5), exp_abs(d, v));
    return hn::IfThenElse(hn::Gt(v, hn::Zero(d)), hn::Sub(hn::Set(d, 1.0), half), half);
  });
}

}  // namespace lapsum::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lapsum::cpu {
HWY_EXPORT(exp_abs_all);
HWY_EXPORT(decay_loss_all);
HWY_EXPORT(cdf_all);

void exp_abs(const double* z, std::ptrdiff_t n, double* out) {
  HWY_DYNAMIC_DISPATCH(exp_abs_all)(z, n, out);
}

void decay_loss(const double* z, std::ptrdiff_t n, double* out) {
  HWY_DYNAMIC_DISPATCH(decay_loss_all)(z, n, out);
}

void cdf(const double* z, std::ptrdiff_t n, double* out) {
  HWY_DYNAMIC_DISPATCH(cdf_all)(z, n, out);
}

}  // namespace lapsum::cpu
#endif  // HWY_ONCE
