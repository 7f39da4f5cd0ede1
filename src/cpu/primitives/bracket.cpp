// Highway compiles everything inside HWY_NAMESPACE once per instruction set.
#include "cpu/primitives/bracket.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/primitives/bracket.cpp"
#include <hwy/foreach_target.h>
// clang-format off: these must follow foreach_target.h
#include <hwy/highway.h>
#include "cpu/primitives/compress-inl.h"
#include "cpu/primitives/decay-inl.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace lapsum::cpu::HWY_NAMESPACE {

// The sums outside of a bracket, in double lanes.
template <class T>
class WideSums {
  using DT = hn::ScalableTag<Work<T>>;

 public:
  HWY_INLINE WideSums(double sign, double lo, double hi, double alpha)
      : turn_(hn::Set(D(), sign)),
        low_(hn::Set(D(), lo)),
        high_(hn::Set(D(), hi)),
        rate_(hn::Set(D(), kLog2e / alpha)) {}

  // What the vector at `at` adds; the masks are known to lanes of T alone.
  HWY_INLINE void add(const T* at, hn::Vec<DT>, hn::Mask<DT>, hn::Mask<DT>) {
    const D d;
    const Decay<T, 0> decay;
    for (std::size_t h = 0; h < hn::Lanes(DT()); h += hn::Lanes(d)) {
      const V v = load_wide(d, at + h);
      const V below = hn::NegMulAdd(v, turn_, low_);
      const V above = hn::MulSub(v, turn_, high_);
      const Lanes is_left = hn::Ge(below, hn::Zero(d));
      const Lanes is_right = hn::AndNot(is_left, hn::Ge(above, hn::Zero(d)));
      const V t = hn::Mul(hn::Max(below, above), rate_);
      const V e = decay(d, hn::Min(t, hn::Set(d, decay.kZero)));
      left_.part = hn::IfThenElse(is_left, hn::Add(left_.part, e), left_.part);
      right_.part = hn::IfThenElse(is_right, hn::Add(right_.part, e), right_.part);
    }
    left_.count();
    right_.count();
  }
  HWY_INLINE void flush() {}

  HWY_INLINE double left() const { return left_.total(); }
  HWY_INLINE double right() const { return right_.total(); }

 private:
  V turn_, low_, high_, rate_;
  BlockedSum left_, right_;
};

// The same in float lanes. A term comes in two parts. The first has so few bits that adding up
// equal ones is exact, and a sum of them that begins with 128 leaves an exact error, which is
// summed with the other part; that is small.
class NarrowSums {
  using VF = FewSteps::VF;
  using M = FewSteps::M;
  static constexpr int kMostTerms = 32;
  static constexpr float kBegin = 128;
  // Beyond this many octaves a term is nothing against the element at the end of the bracket, and
  // smaller ones would have denormal parts, which are slow.
  static constexpr int kFar = 90;

  struct Added {
    VF terms, rest;
  };
  static HWY_INLINE Added plus(VF terms, const FewSteps::Parts& e) {
    const VF sum = hn::MulAdd(e.power, e.scale, terms);
    const VF error = hn::MulSub(e.power, e.scale, hn::Sub(sum, terms));
    return {sum, hn::MulAdd(e.rest, e.scale, error)};
  }

  struct Sum {
    HWY_INLINE Sum() : total(hn::Zero(D())) { reset(); }

    HWY_INLINE void add(M mask, const Added& added) {
      terms = hn::IfThenElse(mask, added.terms, terms);
      rests = hn::IfThenElse(mask, hn::Add(rests, added.rest), rests);
    }
    HWY_INLINE void add(const FewSteps::Parts& e) {
      const Added added = plus(terms, e);
      terms = added.terms;
      rests = hn::Add(rests, added.rest);
    }
    HWY_INLINE void flush() {
      const VF begin = hn::Set(DF(), kBegin);
      for (const VF& part : {hn::Sub(terms, begin), rests}) {
        float lanes[hn::MaxLanes(DF())];
        hn::StoreU(part, DF(), lanes);
        for (std::size_t h = 0; h < hn::Lanes(DF()); h += hn::Lanes(D())) {
          total = hn::Add(total, load_wide(D(), lanes + h));
        }
      }
      reset();
    }
    HWY_INLINE void reset() {
      terms = hn::Set(DF(), kBegin);
      rests = hn::Zero(DF());
    }

    VF terms, rests;
    V total;
  };

 public:
  HWY_INLINE NarrowSums(double, double lo, double hi, double alpha)
      : steps_(alpha),
        left_side_(steps_.side(lo, -1, kFar)),
        right_side_(steps_.side(hi, 1, kFar)),
        has_left_(!std::isinf(lo)),
        has_right_(!std::isinf(hi)) {}

  template <class T>
  HWY_INLINE void add(const T*, VF r, M is_left, M is_right) {
    const FewSteps::Parts e = steps_.decay<false>(r, is_left, left_side_, right_side_, 126);
    if constexpr (kMasksAreVectors) {
      // A scale of 0 adds nothing, if the rest is a number: inside of the bracket it need not be.
      const VF rest = hn::IfThenElseZero(hn::Or(is_left, is_right), e.rest);
      left_.add({e.power, rest, hn::IfThenElseZero(is_left, e.scale)});
      right_.add({e.power, rest, hn::IfThenElseZero(is_right, e.scale)});
    } else {
      const Added added = plus(hn::IfThenElse(is_left, left_.terms, right_.terms), e);
      left_.add(is_left, added);
      right_.add(is_right, added);
    }
    if (++added_ == kMostTerms) flush();
  }

  HWY_INLINE void flush() {
    left_.flush();
    right_.flush();
    added_ = 0;
  }

  HWY_INLINE double left() const {
    return has_left_ ? steps_.factor(left_side_) * sum_of(left_.total) : 0;
  }
  HWY_INLINE double right() const {
    return has_right_ ? steps_.factor(right_side_) * sum_of(right_.total) : 0;
  }

 private:
  FewSteps steps_;
  FewSteps::Side left_side_, right_side_;
  bool has_left_, has_right_;
  Sum left_, right_;
  int added_ = 0;
};

template <class Sums, class T>
HWY_INLINE Bracketed bracket_in(const T* HWY_RESTRICT x, std::ptrdiff_t n, double sign, double lo,
                                double hi, double alpha, T* HWY_RESTRICT inside) {
  using Number = Work<T>;
  const hn::ScalableTag<Number> d;
  const auto turn = hn::Set(d, static_cast<Number>(sign));
  const auto low = hn::Set(d, static_cast<Number>(lo));
  // A value at both ends is left.
  const auto first_right = static_cast<Number>(hi);
  const auto high =
      hn::Set(d, lo < hi ? first_right
                         : std::nextafter(first_right, std::numeric_limits<Number>::infinity()));
  Sums sums(sign, lo, hi, alpha);
  const auto lanes = static_cast<std::ptrdiff_t>(hn::Lanes(d));
  std::ptrdiff_t left = 0;
  std::ptrdiff_t kept = 0;
  std::ptrdiff_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    const auto r = hn::Mul(load_elements(d, x + i), turn);
    const auto is_left = hn::Le(r, low);
    const auto is_right = hn::Ge(r, high);
    const auto is_inside = hn::Not(hn::Or(is_left, is_right));
    // A compressed vector may be stored whole: there is as much room as there are values so far.
    store_exact(d, compress(d, r, is_inside), inside + kept);
    left += static_cast<std::ptrdiff_t>(hn::CountTrue(d, is_left));
    kept += static_cast<std::ptrdiff_t>(hn::CountTrue(d, is_inside));
    sums.add(x + i, r, is_left, is_right);
  }
  if (i < n) {
    // Values at infinity add nothing.
    T padded[hn::MaxLanes(d)];
    for (std::ptrdiff_t l = 0; l < lanes; ++l) {
      padded[l] =
          i + l < n ? x[i + l] : Element<T>::round(sign * std::numeric_limits<double>::infinity());
    }
    const auto r = hn::Mul(load_elements(d, padded), turn);
    const auto is_left = hn::Le(r, low);
    const auto is_right = hn::Ge(r, high);
    const auto is_inside = hn::Not(hn::Or(is_left, is_right));
    sums.add(padded, r, is_left, is_right);
    store_exact(d, compress(d, r, is_inside), padded);
    left += static_cast<std::ptrdiff_t>(hn::CountTrue(d, is_left));
    const auto last = static_cast<std::ptrdiff_t>(hn::CountTrue(d, is_inside));
    for (std::ptrdiff_t l = 0; l < std::min(last, n - i); ++l) inside[kept++] = padded[l];
  }
  sums.flush();
  return {left, kept, sums.left(), sums.right()};
}

#define LAPSUM_BRACKET_OF(T)                                                             \
  Bracketed bracket_##T(const T* x, std::ptrdiff_t n, double sign, double lo, double hi, \
                        double alpha, T* inside) {                                       \
    if constexpr (kHasTable && sizeof(T) < sizeof(double)) {                             \
      if (FewSteps::can_take(lo, alpha) && FewSteps::can_take(hi, alpha)) {              \
        return bracket_in<NarrowSums>(x, n, sign, lo, hi, alpha, inside);                \
      }                                                                                  \
    }                                                                                    \
    return bracket_in<WideSums<T>>(x, n, sign, lo, hi, alpha, inside);                   \
  }
LAPSUM_BRACKET_OF(float)
LAPSUM_BRACKET_OF(double)
LAPSUM_BRACKET_OF(Half)
LAPSUM_BRACKET_OF(Bfloat16)
#undef LAPSUM_BRACKET_OF

}  // namespace lapsum::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lapsum::cpu {

#define LAPSUM_BRACKET_OF(T)                                                                       \
  HWY_EXPORT(bracket_##T);                                                                         \
  template <>                                                                                      \
  Bracketed bracket(const T* x, std::ptrdiff_t n, double sign, double lo, double hi, double alpha, \
                    T* inside) {                                                                   \
    return HWY_DYNAMIC_DISPATCH(bracket_##T)(x, n, sign, lo, hi, alpha, inside);                   \
  }
LAPSUM_BRACKET_OF(float)
LAPSUM_BRACKET_OF(double)
LAPSUM_BRACKET_OF(Half)
LAPSUM_BRACKET_OF(Bfloat16)
#undef LAPSUM_BRACKET_OF

}  // namespace lapsum::cpu
#endif  // HWY_ONCE
