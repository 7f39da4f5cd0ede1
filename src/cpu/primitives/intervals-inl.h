// What roots between two values are made of, in vectors: intervals of one row, or of rows in lanes.
// Included once per instruction set, after hwy/highway.h.
#if defined(LAPSUM_INTERVALS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef LAPSUM_INTERVALS_INL_H
#undef LAPSUM_INTERVALS_INL_H
#else
#define LAPSUM_INTERVALS_INL_H
#endif

#include <cstddef>
#include <cstdint>
#include <iterator>

HWY_BEFORE_NAMESPACE();
namespace lapsum::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Whole numbers in [0, 2^52) as integers, and back: not every instruction set converts 64 bits.
template <class V>
HWY_INLINE auto to_integers(V v) {
  const hn::DFromV<V> d;
  const hn::RebindToSigned<decltype(d)> di;
  const V top = hn::Set(d, 0x1p52);
  return hn::Sub(hn::BitCast(di, hn::Add(v, top)), hn::BitCast(di, top));
}
template <class VI>
HWY_INLINE auto to_doubles(VI v) {
  const hn::RebindToFloat<hn::DFromV<VI>> d;
  const hn::DFromV<VI> di;
  const auto top = hn::Set(d, 0x1p52);
  return hn::Sub(hn::BitCast(d, hn::Or(v, hn::BitCast(di, top))), top);
}

// atanh(s) / s = 1 + s^2 / 2 (...) for s^2 <= 1 / 25: twice atanh(s) is within 8e-10 for rows of float,
// 6e-17 for rows of double.
template <class T>
inline constexpr double kAtanh[] = {0.6666705193267932123, 0.39950293872081194339,
                                    0.3048684846410848599};
template <>
inline constexpr double kAtanh<double>[] = {
    0.66666666666666938646, 0.39999999999335555298, 0.28571428836045550352, 0.22222182776674481579,
    0.18184610246294064559, 0.15283703752403146754, 0.15118487108724571415};

/// log(a / b) of positive normal numbers, for rows of T, with one division: halvings of a until it is
/// near b, and 2 atanh of (a - b) / (a + b).
template <class T, class V>
HWY_INLINE V log_ratio(V a, V b) {
  constexpr double kLn2 = 0.6931471805599453094;
  const hn::DFromV<V> d;
  const hn::RebindToUnsigned<decltype(d)> du;
  // Bits of positive numbers grow all but as their logarithms do. Halvings are counted from -2048 on,
  // as whole numbers are shifted without a sign.
  constexpr std::uint64_t kHalf = std::uint64_t{1} << 51, kTop = std::uint64_t{1} << 63;
  const auto apart = hn::Sub(hn::BitCast(du, a), hn::BitCast(du, b));
  const auto halvings = hn::ShiftRight<52>(hn::Add(apart, hn::Set(du, kTop + kHalf)));
  const auto bits = hn::Sub(hn::BitCast(du, a), hn::ShiftLeft<52>(halvings));
  const V moved = hn::BitCast(d, hn::Xor(bits, hn::Set(du, kTop)));
  const V s = hn::Div(hn::Sub(moved, b), hn::Add(moved, b));
  const V y = hn::Mul(s, s);
  V q = hn::Set(d, kAtanh<T>[std::size(kAtanh<T>) - 1]);
  for (std::size_t i = std::size(kAtanh<T>) - 1; i-- > 0;) {
    q = hn::MulAdd(q, y, hn::Set(d, kAtanh<T>[i]));
  }
  const V small = hn::MulAdd(hn::Mul(s, y), q, hn::Add(s, s));
  const V count = hn::Sub(to_doubles(halvings), hn::Set(d, 2048.0));
  return hn::MulAdd(count, hn::Set(d, kLn2), small);
}

/// The weights of the two values next to a root: sum / (total near_sum) for the one in whose direction
/// the root lies, product / (total sum far_sum) for the other.
template <class V>
struct RootShares {
  V near, far;
};
template <class V>
HWY_INLINE RootShares<V> root_shares(V total, V sum, V near_sum, V far_sum, V product) {
  const hn::DFromV<V> d;
  const V one = hn::Set(d, 1.0);
  // One division for both; a side without values has sum 0, as has product.
  const V seen = hn::Max(far_sum, one);
  const V all = hn::Mul(hn::Mul(total, sum), hn::Mul(near_sum, seen));
  const V share = hn::Div(one, all);
  return {hn::Mul(hn::Mul(sum, sum), hn::Mul(seen, share)),
          hn::Mul(hn::Mul(product, near_sum), share)};
}

}  // namespace lapsum::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
