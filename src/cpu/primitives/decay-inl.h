// e^{-distance / alpha} in vector registers: in double lanes for rows of all types, with a shorter
// polynomial for all but double; and for those in float lanes too, as two floats.
// Included once per instruction set, after hwy/highway.h.
#if defined(LAPSUM_DECAY_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef LAPSUM_DECAY_INL_H
#undef LAPSUM_DECAY_INL_H
#else
#define LAPSUM_DECAY_INL_H
#endif

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "cpu/primitives/elements-inl.h"

HWY_BEFORE_NAMESPACE();
namespace lapsum::cpu::HWY_NAMESPACE {

using D = hn::ScalableTag<double>;
using V = hn::Vec<D>;
using Lanes = hn::Mask<D>;

constexpr double kLog2e = 1.4426950408889634074;
constexpr double kLn2 = 0.6931471805599453094;
constexpr std::size_t kMaxLanes = hn::MaxLanes(D());

HWY_INLINE V load_wide(D d, const double* x) { return hn::LoadU(d, x); }
template <class T>
HWY_INLINE V load_wide(D d, const T* x) {
  return hn::PromoteTo(d, load_elements(hn::Rebind<float, D>(), x));
}
HWY_INLINE void store_narrow(D d, V v, double* out) { hn::StoreU(v, d, out); }
template <class T>
HWY_INLINE void store_narrow(D, V v, T* out) {
  const hn::Rebind<float, D> half;
  store_elements(half, hn::DemoteTo(half, v), out);
}

constexpr std::ptrdiff_t kStepsInStrip = 32;

/// body(begin, end) for the strips of a row of n, of whole steps; returns where the last one ends. Of a strip
/// decays go in one loop and their sums in another: in a single one each decay would be waited for. It stays
/// in the nearest cache.
template <class Body>
HWY_INLINE std::ptrdiff_t for_strips(std::ptrdiff_t n, std::ptrdiff_t step, Body body) {
  const std::ptrdiff_t whole = n - n % step;
  for (std::ptrdiff_t begin = 0; begin < whole; begin += kStepsInStrip * step) {
    body(begin, HWY_MIN(whole, begin + kStepsInStrip * step));
  }
  return whole;
}

HWY_INLINE double sum_of(V v) { return hn::GetLane(hn::SumOfLanes(D(), v)); }

/// A sum in parts: a long chain of equal terms would drift, for all of them are rounded the same way.
struct BlockedSum {
  static constexpr int kMost = 32;

  HWY_INLINE BlockedSum() : part(hn::Zero(D())), whole(hn::Zero(D())) {}

  /// After a term has been added to `part`.
  HWY_INLINE void count() {
    if (++added < kMost) return;
    whole = hn::Add(whole, part);
    part = hn::Zero(D());
    added = 0;
  }
  HWY_INLINE double total() const { return sum_of(hn::Add(whole, part)); }

  V part, whole;
  int added = 0;
};

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

// Where two vectors of double hold 2^(j / 16), and an instruction picks from them by the low bits of
// another, the polynomial of rows of double is shorter: 2^f = 1 + f q(f) for |f| <= 1/32, within 7e-18.
#undef LAPSUM_WIDE_TABLE
#define LAPSUM_WIDE_TABLE (HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3)
#if LAPSUM_WIDE_TABLE
constexpr double kExp2Near[] = {0.6931471805599468,    0.24022650695910072,
                                0.05550410865207392,   0.009618129107154627,
                                0.0013333819016539575, 0.00015403691898316176};

// Their bits less those that j has where an exponent and the first bits of a mantissa are.
struct WideTable {
  alignas(64) double power[16] = {
      0x1.0000000000000p+0, 0x1.0b5586cf9890fp+0, 0x1.172b83c7d517bp+0, 0x1.2387a6e756238p+0,
      0x1.306fe0a31b715p+0, 0x1.3dea64c123422p+0, 0x1.4bfdad5362a27p+0, 0x1.5ab07dd485429p+0,
      0x1.6a09e667f3bcdp+0, 0x1.7a11473eb0187p+0, 0x1.8ace5422aa0dbp+0, 0x1.9c49182a3f090p+0,
      0x1.ae89f995ad3adp+0, 0x1.c199bdd85529cp+0, 0x1.d5818dcfba487p+0, 0x1.ea4afa2a490dap+0};

  constexpr WideTable() {
    for (std::uint64_t j = 0; j < 16; ++j) {
      power[j] = std::bit_cast<double>(std::bit_cast<std::uint64_t>(power[j]) - (j << 48));
    }
  }
};
inline constexpr WideTable kWideTable;
#endif

// terms[0] + terms[1] f + ...
template <std::size_t kTerms>
HWY_INLINE V polynomial(D d, const double (&terms)[kTerms], V f) {
  V q = hn::Set(d, terms[kTerms - 1]);
  for (std::size_t i = kTerms - 1; i-- > 0;) q = hn::MulAdd(q, f, hn::Set(d, terms[i]));
  return q;
}

/// 2^-t for t in [0, kNearDecay], within 3e-17 but for roundings.
constexpr double kNearDecay = 1.0 / 16;
constexpr double kNearTerms[] = {1.0,
                                 -0.69314718055994487,
                                 0.24022650695859752,
                                 -0.055504108570855744,
                                 0.009618122687719949,
                                 -0.0013331574091048993,
                                 0.00015120424428172026};
HWY_INLINE V near_decay(D d, V t) { return polynomial(d, kNearTerms, t); }

/// 2^-(t + kHalvings) for t >= 0, zero from t = kZero on; t is cut there first.
template <class T, int kHalvings>
struct Decay {
  static constexpr double kZero = 1023 - kHalvings;
  // Beyond, a float would be denormal, or soon.
  static constexpr double kFar = 124;
  // Adding this leaves the nearest integer in the low bits; less kHalvings.
  static constexpr double kRound = 0x1.8p52 - kHalvings;

  HWY_INLINE V operator()(D d, V t) const {
#if LAPSUM_WIDE_TABLE
    if constexpr (sizeof(T) == sizeof(double)) {
      const hn::RebindToUnsigned<D> bits;
      const V round = hn::Set(d, 0x1.8p48 - kHalvings);  // the same for sixteenths
      const V moved = hn::Sub(round, t);
      const V f = hn::Sub(hn::Sub(round, moved), t);
      const V power{_mm512_permutex2var_pd(hn::Load(d, kWideTable.power).raw,
                                           hn::BitCast(bits, moved).raw,
                                           hn::Load(d, kWideTable.power + kMaxLanes).raw)};
      const V near = scaled(d, power, hn::ShiftLeft<48>(hn::BitCast(bits, moved)));
      return hn::MulAdd(near, hn::Mul(f, polynomial(d, kExp2Near, f)), near);
    }
#endif
    const auto [f, q, exponent] = split(d, t);
    return scaled(d, hn::MulAdd(q, f, hn::Set(d, 1.0)), exponent);
  }

  /// 1 - 2^-(t + kHalvings), with all its digits.
  HWY_INLINE V loss(D d, V t) const {
    const auto [f, q, exponent] = split(d, t);
    const V one = hn::Set(d, 1.0);
    const V octaves = scaled(d, one, exponent);
    return hn::NegMulAdd(octaves, hn::Mul(q, f), hn::Sub(one, octaves));
  }

  /// t cut so that it becomes zero: for rows of float before a float would be denormal, which is
  /// slow and of no use.
  HWY_INLINE V cut(D d, V t) const {
    if constexpr (sizeof(T) == sizeof(double)) {
      return hn::Min(t, hn::Set(d, kZero));
    } else {
      return hn::IfThenElse(hn::Lt(t, hn::Set(d, kFar)), t, hn::Set(d, kZero));
    }
  }

 private:
  using Bits = hn::Vec<hn::RebindToUnsigned<D>>;

  // The decay is (1 + f q) 2^m, `exponent` being m in the place of an exponent.
  struct Split {
    V f, q;
    Bits exponent;
  };
  static HWY_INLINE Split split(D d, V t) {
    const V moved = hn::Sub(hn::Set(d, kRound), t);
    const V f = hn::Sub(hn::Sub(hn::Set(d, kRound), moved), t);
    const hn::RebindToUnsigned<D> bits;
    return {f, polynomial(d, kExp2<T>, f), hn::ShiftLeft<52>(hn::BitCast(bits, moved))};
  }
  static HWY_INLINE V scaled(D d, V v, Bits exponent) {
    const hn::RebindToUnsigned<D> bits;
    return hn::BitCast(d, hn::Add(hn::BitCast(bits, v), exponent));
  }
};

// For float rows there is a way in float lanes, if a vector or two can hold a table of powers of two
// and products are not rounded before they are added.
using DF = hn::ScalableTag<float>;
#if HWY_HAVE_SCALABLE || !HWY_NATIVE_FMA
constexpr bool kHasTable = false;
#else
constexpr bool kHasTable = hn::MaxLanes(DF()) == 8 || hn::MaxLanes(DF()) == 16;
#endif

// Choosing between two vectors takes more than two operations on bits, unless masks have registers
// of their own.
#if HWY_TARGET <= HWY_AVX3 && HWY_ARCH_X86
constexpr bool kMasksAreVectors = false;
#else
constexpr bool kMasksAreVectors = true;
#endif

// 2^(1 - j / 16), rounded to 16 bits, and what that leaves.
constexpr float kPower[16] = {0x1.0p+1f,    0x1.ea4ap+0f, 0x1.d582p+0f, 0x1.c19ap+0f,
                              0x1.ae8ap+0f, 0x1.9c4ap+0f, 0x1.8acep+0f, 0x1.7a12p+0f,
                              0x1.6a0ap+0f, 0x1.5abp+0f,  0x1.4bfep+0f, 0x1.3deap+0f,
                              0x1.307p+0f,  0x1.2388p+0f, 0x1.172cp+0f, 0x1.0b56p+0f};
constexpr float kRest[16] = {
    0x0.0p+0f,        0x1.f45492p-17f,  -0x1.c8c116p-18f, -0x1.089eacp-18f,
    -0x1.9a94b2p-22f, -0x1.cfab82p-17f, 0x1.508aa8p-18f,  -0x1.7182ap-17f,
    -0x1.9980c4p-20f, 0x1.f75216p-18f,  -0x1.4ab276p-18f, 0x1.93048ep-18f,
    -0x1.f5ce48p-20f, -0x1.6462a8p-18f, -0x1.f0e0acp-18f, -0x1.e4c19ep-18f};

/// Some of them, evenly spread.
template <int kCount>
struct PowerTable {
  alignas(64) float power[kCount] = {};
  alignas(64) float rest[kCount] = {};

  constexpr PowerTable() {
    for (int j = 0; j < kCount; ++j) {
      power[j] = kPower[j * (16 / kCount)];
      rest[j] = kRest[j * (16 / kCount)];
    }
  }
};
template <int kCount>
inline constexpr PowerTable<kCount> kPowerTable;

// 2^(-j / 16) rounded to floats, and how many octaves more than j / 16 those are.
constexpr float kNearest[16] = {0x1.0p+0f,      0x1.ea4afap-1f, 0x1.d5818ep-1f, 0x1.c199bep-1f,
                                0x1.ae89fap-1f, 0x1.9c4918p-1f, 0x1.8ace54p-1f, 0x1.7a1148p-1f,
                                0x1.6a09e6p-1f, 0x1.5ab07ep-1f, 0x1.4bfdaep-1f, 0x1.3dea64p-1f,
                                0x1.306fep-1f,  0x1.2387a6p-1f, 0x1.172b84p-1f, 0x1.0b5586p-1f};
constexpr float kBeyond[16] = {
    0x0.0p+0f,        0x1.fda57cp-28f,  -0x1.2fc81cp-27f, -0x1.04ae88p-27f,
    -0x1.6cd47cp-26f, 0x1.2ec1d4p-27f,  0x1.036b6ep-27f,  -0x1.79b05ep-25f,
    0x1.a82ebcp-26f,  -0x1.728d0ep-27f, -0x1.800eaep-25f, 0x1.c0bec4p-25f,
    0x1.8bbfd2p-25f,  0x1.2512a4p-24f,  -0x1.293ab8p-26f, 0x1.1eccap-24f};

/// The same for a number that is counted in steps of 1 / kCount octave: what is beyond is so too, and
/// the bits of a power are such that taking away those of the number, moved to the exponent, leaves
/// it scaled by the octaves.
template <int kCount>
struct NearestTable {
  static constexpr int kShift = kCount == 16 ? 19 : 20;
  alignas(64) float power[kCount] = {};
  alignas(64) float beyond[kCount] = {};

  constexpr NearestTable() {
    for (int j = 0; j < kCount; ++j) {
      const auto bits = std::bit_cast<std::int32_t>(kNearest[j * (16 / kCount)]);
      power[j] = std::bit_cast<float>(bits + (j << kShift));
      beyond[j] = kCount * kBeyond[j * (16 / kCount)];
    }
  }
};
template <int kCount>
inline constexpr NearestTable<kCount> kNearestTable;

/// e^{-|r - end| / alpha} in parts: with distances counted in steps of 1 / kSteps octave, m whole
/// ones and a rest f give 2^(-m / kSteps) (1 + g(f)). The multiplication that gives f is fused with the
/// subtraction of m, so that f is exact though a distance of floats is not a float. Sixteen steps
/// have half the error of eight.
template <int kSteps>
class Steps {
 public:
  using VF = hn::Vec<DF>;
  using M = hn::Mask<DF>;

  /// The distance in steps is y * rate + whole + part, y being -r on the left and r on the right.
  struct Side {
    double whole, part, most;
  };

  /// The decay is (power + rest) * scale; power is from 1 to 2 and has 16 bits.
  struct Parts {
    VF power, rest, scale;
  };

  /// Numbers of steps that ends may be from zero.
  static constexpr double kMostFromZero = 0x1p20;

  static bool can_take(double end, double alpha) {
    const double rate = kSteps * kLog2e / alpha;
    return rate > 1e-30 && rate < 1e30 && (std::isinf(end) || std::abs(end) * rate < kMostFromZero);
  }

  HWY_INLINE explicit Steps(double alpha)
      : wide_rate_(kSteps * kLog2e / alpha),
        step_(alpha * (kLn2 / kSteps)),
        rate_(hn::Set(DF(), static_cast<float>(wide_rate_))),
        rate_rest_(hn::Set(
            DF(), static_cast<float>(wide_rate_ - double{static_cast<float>(wide_rate_)}))) {}

  /// `side` is -1 for what lies to the left of `end`, 1 for the right. Distances are cut at
  /// `octaves`.
  HWY_INLINE Side side(double end, double side, int octaves) const {
    const double base = std::isinf(end) ? 0 : -side * end * wide_rate_;
    const double whole = std::nearbyint(base);
    return {whole, base - whole, ((octaves + 0.5) * kSteps - whole) * step_};
  }

  /// What a decay without the part of its side must be multiplied by.
  HWY_INLINE double factor(const Side& side) const { return std::exp2(-side.part / kSteps); }

  /// The decay times 2^(exponent - 126), `exponent` being the octave at which it is zero.
  template <bool kWithPart>
  HWY_INLINE Parts decay(VF r, M is_left, const Side& left, const Side& right, int exponent) const {
    const DF d;
    const hn::RebindToSigned<DF> di;
    const VF y = hn::Min(negate_if(is_left, r), choose(is_left, left.most, right.most));
    const auto [moved, f] = count<kWithPart>(y, is_left, left, right);
    const auto bits = hn::BitCast(di, moved);
    const auto step = hn::And(bits, hn::Set(di, kSteps - 1));
    const VF power = look_up(kPowerTable<kSteps>.power, step);
    const VF g = growth<kWithPart>(f);
    const auto octaves = hn::ShiftLeft<23 - kStepBits>(hn::Sub(bits, step));
    const auto scale = hn::Sub(hn::Set(di, exponent << 23), octaves);
    const VF rest = look_up(kPowerTable<kSteps>.rest, step);
    return {power, hn::MulAdd(power, g, hn::MulAdd(rest, g, rest)), hn::BitCast(d, scale)};
  }

  /// The decay in one float, 0 from `octaves` on: within 0.56 ulp without the part of its side, and of
  /// sixteen steps within 0.62 with it.
  template <bool kWithPart>
  HWY_INLINE VF rounded(VF r, M is_left, const Side& left, const Side& right, int octaves) const {
    const DF d;
    const auto [moved, f] = count<kWithPart>(negate_if(is_left, r), is_left, left, right);
    const auto [power, g] = scaled<kWithPart>(hn::BitCast(hn::RebindToSigned<DF>(), moved), f);
    const VF end = hn::Set(d, static_cast<float>(kRound + octaves * kSteps));
    return hn::IfThenElseZero(hn::Lt(moved, end), hn::MulAdd(power, g, power));
  }

  static constexpr int kCount = kSteps;
  /// Adding this to a number of steps leaves the whole ones in the low bits.
  static constexpr double kRound = 0x1.8p23;

  /// 2^-((m + f) / kSteps) is power (1 + growth), m being in the low bits. |f| <= 1/2, and twice that
  /// with a part.
  struct Scaled {
    VF power, growth;
  };
  template <bool kWithPart>
  static HWY_INLINE Scaled scaled(hn::Vec<hn::RebindToSigned<DF>> m, VF f) {
    const hn::RebindToSigned<DF> di;
    const auto step = hn::And(m, hn::Set(di, kSteps - 1));
    const VF g = growth<kWithPart>(hn::Sub(f, look_up(kNearestTable<kSteps>.beyond, step)));
    const auto power = hn::BitCast(di, look_up(kNearestTable<kSteps>.power, step));
    return {hn::BitCast(DF(), hn::Sub(power, hn::ShiftLeft<23 - kStepBits>(m))), g};
  }

 private:
  using VI = hn::Vec<hn::RebindToSigned<DF>>;
  static_assert(kSteps == 8 || kSteps == 16);
  static constexpr int kStepBits = kSteps == 16 ? 4 : 3;

  // The distance in steps: whole ones, in the low bits of `moved`, and the rest.
  struct Counted {
    VF moved, f;
  };
  template <bool kWithPart>
  HWY_INLINE Counted count(VF y, M is_left, const Side& left, const Side& right) const {
    const VF base = choose(is_left, kRound + left.whole, kRound + right.whole);
    const VF moved = hn::MulAdd(y, rate_, base);
    VF f = hn::MulAdd(y, rate_, hn::Sub(base, moved));
    if constexpr (kWithPart) f = hn::Add(f, choose(is_left, left.part, right.part));
    return {moved, hn::MulAdd(y, rate_rest_, f)};
  }

  // 2^(-f / kSteps) - 1 for |f| <= 1/2, within 1.6e-9; longer steps take a term more, and so does a
  // part, with which f may be twice as far.
  template <bool kWithPart>
  static HWY_INLINE VF growth(VF f) {
    const DF d;
    constexpr int kTerms = (kWithPart ? 8 : 7) - kStepBits;
    constexpr auto kTerm = [](int power) {
      constexpr double kFitted[] = {-0x1.62e43p-5, 0x1.ebfff2p-11, -0x1.c6aef4p-17};
      if (kSteps == 16 && !kWithPart) return kFitted[power - 1];
      double term = 1;
      for (int i = 1; i <= power; ++i) term *= -kLn2 / kSteps / i;
      return term;
    };
    VF g = hn::Set(d, static_cast<float>(kTerm(kTerms)));
    for (int i = kTerms - 1; i > 0; --i) {
      g = hn::MulAdd(f, g, hn::Set(d, static_cast<float>(kTerm(i))));
    }
    return hn::Mul(f, g);
  }

  static HWY_INLINE VF look_up(const float* table, VI step) {
    const DF d;
    constexpr int kLanes = static_cast<int>(hn::MaxLanes(d));
    if constexpr (kLanes >= kSteps) {
      return hn::TableLookupLanes(hn::Load(d, table), hn::IndicesFromVec(d, step));
    } else {
      const hn::RebindToSigned<DF> di;
      const auto index = hn::IndicesFromVec(d, hn::And(step, hn::Set(di, kLanes - 1)));
      const VF low = hn::TableLookupLanes(hn::Load(d, table), index);
      const VF high = hn::TableLookupLanes(hn::Load(d, table + kLanes), index);
      const auto is_high = hn::TestBit(step, hn::Set(di, kLanes));
      return hn::IfThenElse(hn::RebindMask(d, is_high), high, low);
    }
  }

  static HWY_INLINE VF choose(M mask, double yes, double no) {
    const DF d;
    const VF one = hn::Set(d, static_cast<float>(yes)), other = hn::Set(d, static_cast<float>(no));
    if constexpr (!kMasksAreVectors) return hn::IfThenElse(mask, one, other);
    return hn::Xor(other, hn::IfThenElseZero(mask, hn::Xor(one, other)));
  }
  static HWY_INLINE VF negate_if(M mask, VF v) {
    return hn::Xor(v, hn::IfThenElseZero(mask, hn::Set(DF(), -0.0f)));
  }

  double wide_rate_, step_;
  VF rate_, rate_rest_;
};

using ManySteps = Steps<16>;
/// As many as one vector holds.
using FewSteps = Steps<hn::MaxLanes(DF()) >= 16 ? 16 : 8>;

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
