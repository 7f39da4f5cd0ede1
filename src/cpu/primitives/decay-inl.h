// e^{-distance / alpha} in vector registers, in double lanes for rows of float and double alike: a
// float row costs a shorter polynomial, and its results are rounded once.
// Included once per instruction set, after hwy/highway.h.
#if defined(LAPSUM_DECAY_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef LAPSUM_DECAY_INL_H
#undef LAPSUM_DECAY_INL_H
#else
#define LAPSUM_DECAY_INL_H
#endif

HWY_BEFORE_NAMESPACE();
namespace lapsum::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::ScalableTag<double>;
using V = hn::Vec<D>;
using Lanes = hn::Mask<D>;

constexpr double kLog2e = 1.4426950408889634074;
constexpr double kLn2 = 0.6931471805599453094;
constexpr std::size_t kMaxLanes = hn::MaxLanes(D());

HWY_INLINE V load_wide(D d, const double* x) { return hn::LoadU(d, x); }
HWY_INLINE V load_wide(D d, const float* x) {
  return hn::PromoteTo(d, hn::LoadU(hn::Rebind<float, D>(), x));
}
HWY_INLINE void store_narrow(D d, V v, double* out) { hn::StoreU(v, d, out); }
HWY_INLINE void store_narrow(D, V v, float* out) {
  const hn::Rebind<float, D> half;
  hn::StoreU(hn::DemoteTo(half, v), half, out);
}

// 2^f = 1 + f q(f) for |f| <= 1/2, exact at 0; relative errors: 5e-11 for rows of float, 4e-18 for
// rows of double.
template <class T>
inline constexpr double kExp2[] = {
    0.6931471807044115,    0.24022651066587378,    0.05550410366596031,   0.00961803812836843,
    0.0013333934420578753, 0.00015466757484422624, 1.5196334380068937e-05};
template <>
inline constexpr double kExp2<double>[] = {
    0.6931471805599453,     0.2402265069591013,     0.055504108664820084,   0.009618129107594119,
    0.0013333558146774128,  0.00015403530457113932, 1.5252733493656039e-05, 1.321543528141955e-06,
    1.0178199330592214e-07, 7.073783398305716e-09,  4.434810600122604e-10};

/// 2^-(t + kHalvings) for t >= 0, zero from t = kZero on; t is cut there first.
template <class T, int kHalvings>
struct Decay {
  static constexpr double kZero = 1023 - kHalvings;
  // Adding this leaves the nearest integer in the low bits; less kHalvings.
  static constexpr double kRound = 0x1.8p52 - kHalvings;

  HWY_INLINE V operator()(D d, V t) const {
    const V moved = hn::Sub(hn::Set(d, kRound), t);
    const V f = hn::Sub(hn::Sub(hn::Set(d, kRound), moved), t);
    V q = hn::Set(d, kExp2<T>[std::size(kExp2<T>) - 1]);
    for (std::size_t i = std::size(kExp2<T>) - 1; i-- > 0;) {
      q = hn::MulAdd(q, f, hn::Set(d, kExp2<T>[i]));
    }
    const hn::RebindToUnsigned<D> bits;
    const auto exponent = hn::ShiftLeft<52>(hn::BitCast(bits, moved));
    const V one = hn::Set(d, 1.0);
    return hn::BitCast(d, hn::Add(hn::BitCast(bits, hn::MulAdd(q, f, one)), exponent));
  }

  /// t cut so that it becomes zero: for rows of float before a float would be denormal, which is
  /// slow and of no use.
  HWY_INLINE V cut(D d, V t) const {
    if constexpr (sizeof(T) == sizeof(double)) {
      return hn::Min(t, hn::Set(d, kZero));
    } else {
      return hn::IfThenElse(hn::Lt(t, hn::Set(d, 124.0)), t, hn::Set(d, kZero));
    }
  }
};

/// body(x, i) for every whole vector of x + i; then tail(x, left) for what is left of it, padded.
template <class T, class Body, class Tail>
HWY_INLINE void for_each_vector(const T* x, std::ptrdiff_t n, T padding, Body&& body, Tail&& tail) {
  const auto lanes = static_cast<std::ptrdiff_t>(hn::Lanes(D()));
  std::ptrdiff_t i = 0;
  for (; i + lanes <= n; i += lanes) body(x + i, i);
  if (i == n) return;
  T padded[kMaxLanes];
  for (std::ptrdiff_t l = 0; l < lanes; ++l) padded[l] = i + l < n ? x[i + l] : padding;
  tail(padded, i, n - i);
}

}  // namespace lapsum::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
