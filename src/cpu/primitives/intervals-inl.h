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
#include <type_traits>

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

// Square roots and quotients for rows of T. AVX-512 has rough reciprocals of doubles, and for rows of
// float one step of third order makes them good to 2^-40; the exact instructions take four times as
// long there.
#undef LAPSUM_ROUGH_RECIPROCALS
#define LAPSUM_ROUGH_RECIPROCALS (HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3)

/// sqrt(v); v is 0, or positive and normal.
template <class T, class V>
HWY_INLINE V square_root(V v) {
#if LAPSUM_ROUGH_RECIPROCALS
  if constexpr (std::is_same_v<T, float>) {
    const hn::DFromV<V> d;
    const V y = hn::Min(V{_mm512_rsqrt14_pd(v.raw)}, hn::Set(d, 0x1p512));  // of 0 it is infinite
    const V root = hn::Mul(v, y);
    const V rest = hn::NegMulAdd(root, y, hn::Set(d, 1.0));
    return hn::MulAdd(hn::Mul(root, rest), hn::MulAdd(rest, hn::Set(d, 0.375), hn::Set(d, 0.5)),
                      root);
  }
#endif
  return hn::Sqrt(v);
}

/// a / b; b is positive, and so large that 1 / b is finite.
template <class T, class V>
HWY_INLINE V quotient(V a, V b) {
#if LAPSUM_ROUGH_RECIPROCALS
  if constexpr (std::is_same_v<T, float>) {
    const V y{_mm512_rcp14_pd(b.raw)};
    const V rest = hn::NegMulAdd(b, y, hn::Set(hn::DFromV<V>(), 1.0));
    const V rough = hn::Mul(a, y);
    return hn::MulAdd(rough, hn::MulAdd(rest, rest, rest), rough);
  }
#endif
  return hn::Div(a, b);
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
  const V s = quotient<T>(hn::Sub(moved, b), hn::Add(moved, b));
  const V y = hn::Mul(s, s);
  V q = hn::Set(d, kAtanh<T>[std::size(kAtanh<T>) - 1]);
  for (std::size_t i = std::size(kAtanh<T>) - 1; i-- > 0;) {
    q = hn::MulAdd(q, y, hn::Set(d, kAtanh<T>[i]));
  }
  const V small = hn::MulAdd(hn::Mul(s, y), q, hn::Add(s, s));
  const V count = hn::Sub(to_doubles(halvings), hn::Set(d, 2048.0));
  return hn::MulAdd(count, hn::Set(d, kLn2), small);
}

/// The share that the farther side of an interval has of a level, (m - |d|) / 2m; sum = m + |d|.
template <class T, class V>
HWY_INLINE V far_share(V m, V sum, V product) {
  return quotient<T>(product, hn::Mul(hn::Add(m, m), sum));
}

/// The weights of the two values next to a root: sum / (total near_sum) for the one in whose direction
/// the root lies, product / (total sum far_sum) for the other.
template <class V>
struct RootShares {
  V near, far;
};
template <class T, class V>
HWY_INLINE RootShares<V> root_shares(V total, V sum, V near_sum, V far_sum, V product) {
  const hn::DFromV<V> d;
  const V one = hn::Set(d, 1.0);
  // One division for both; a side without values has sum 0, as has product.
  const V seen = hn::Max(far_sum, one);
  const V all = hn::Mul(hn::Mul(total, sum), hn::Mul(near_sum, seen));
  const V share = quotient<T>(one, all);
  return {hn::Mul(hn::Mul(sum, sum), hn::Mul(seen, share)),
          hn::Mul(hn::Mul(product, near_sum), share)};
}

}  // namespace lapsum::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
