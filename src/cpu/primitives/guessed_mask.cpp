// Highway compiles everything inside HWY_NAMESPACE once per instruction set.
#include "cpu/primitives/guessed_mask.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <optional>
#include <span>

#include "cpu/primitives/bracket.h"
#include "cpu/primitives/density.h"
#include "cpu/primitives/threshold.h"
#include "math/normal.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/primitives/guessed_mask.cpp"
#include <hwy/foreach_target.h>
// clang-format off: these must follow foreach_target.h
#include <hwy/highway.h>
#include "cpu/primitives/compress-inl.h"
#include "cpu/primitives/from_center-inl.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace lapsum::cpu::HWY_NAMESPACE {

using VF = Vec<float>;
using MF = Mask<float>;

// What lies to both sides of a place: decayed sums, and how much of a level is left when all that is
// behind counts 1.
struct Around {
  double behind, ahead, missing;

  // The slope of LapSum where it meets the level, in units of 1 / alpha, as if nothing lay between.
  double slope() const { return std::sqrt(missing * missing + behind * ahead); }
  // e^{distance / alpha} to there.
  double ratio() const {
    return missing > 0 ? (missing + slope()) / ahead : behind / (slope() - missing);
  }
};

template <class T>
class GuessedRow {
 public:
  GuessedRow(const T* x, std::ptrdiff_t n, double sign, double k, double alpha, T* p, Arena& arena)
      : x_(x),
        n_(n),
        k_(k),
        alpha_(alpha),
        turn_(hn::Set(DF(), static_cast<float>(sign))),
        p_(p),
        e_(room_for_decays(arena)),
        places_(arena.take<std::int32_t>(n + kLanes).data()),
        arena_(arena) {}

  std::optional<Threshold> run() {
    if (!guess()) return std::nullopt;
    // From many alphas away a threshold is not seen at once, and of a longer row a second look costs more
    // than to choose and to solve for what is near.
    constexpr std::ptrdiff_t kLookedAtTwice = 2048;
    const double reach = n_ <= kLookedAtTwice ? 9 : 4;
    if (!(reach * alpha_ > scatter_)) return choose();
    constexpr int kMostLooks = 2;
    constexpr double kMostMoved = 7;
    for (int looks = 0; looks < kMostLooks; ++looks) {
      if (!look()) return std::nullopt;
      if (settle()) return finish();
      const double moved = std::log(ratio_);
      if (!(std::abs(moved) < kMostMoved)) break;
      center_ += alpha_ * moved;
    }
    return std::nullopt;
  }

 private:
  using VI = hn::Vec<hn::RebindToSigned<DF>>;
  static constexpr auto kLanes = static_cast<std::ptrdiff_t>(hn::MaxLanes(DF()));
  // In units of alpha: values within such a step count as seen from here.
  static constexpr double kSmallStep = 4e-5;
  // From there on nothing is left of decays, as far as floats can tell: 2^-44.
  static constexpr double kFar = 44 * kLn2;

  float* room_for_decays(Arena& arena) const {
    if constexpr (!kIsHalf<T>) {
      if (p_) return p_;
    }
    return arena.take<float>(n_).data();
  }

  // The places of elements for which chosen(i, before) has lanes, for vectors from i on. The last vector
  // ends with the row; lanes that are in the vectors before it too are `before`.
  template <class Chosen>
  HWY_INLINE void collect(Chosen chosen) {
    const DF d;
    const hn::RebindToSigned<DF> di;
    const std::ptrdiff_t n = n_;
    std::int32_t* const begin = places_;
    std::int32_t* to = begin;
    const auto put = [&](VI places, MF which) HWY_ATTR {
      const std::uint32_t bits = bits_of(d, which);
      hn::StoreU(compress(di, places, bits), di, to);
      to += std::popcount(bits);
    };
    VI places = hn::Iota(di, 0);
    const VI step = hn::Set(di, static_cast<std::int32_t>(kLanes));
    const MF none = hn::FirstN(d, 0);
    for (std::ptrdiff_t i = 0; i + kLanes <= n; i += kLanes, places = hn::Add(places, step)) {
      put(places, chosen(i, none));
    }
    if (n % kLanes != 0) {
      const std::ptrdiff_t i = n - kLanes;
      put(hn::Iota(di, static_cast<std::int32_t>(i)), chosen(i, seen_before()));
    }
    count_ = to - begin;
  }

  // The last vector ends with the row; these of its lanes are in the vectors before it too.
  HWY_INLINE MF seen_before() const {
    return hn::FirstN(DF(), static_cast<std::size_t>((kLanes - n_ % kLanes) % kLanes));
  }

  // Mean and variance, how far a row leans to a side, and how heavy its tails are.
  struct Moments {
    double mean, variance, lean, tails;

    // 0 and 3 are those of a normal distribution. A row of 512 is off by 0.11 and 0.22, mostly, 128 of its
    // elements by twice that; what is left of chance goes another way.
    bool is_normal(double doubt) const {
      return std::abs(lean) < 0.6 * doubt && std::abs(tails - 3) < 1.2 * doubt;
    }
  };
  // Those of every step-th vector.
  HWY_INLINE Moments moments(std::ptrdiff_t step) const {
    const DF d;
    const T* const x = x_;
    const VF origin = hn::Set(d, to_work(x[0]));
    struct Powers {
      VF one, two, three, four;
    };
    const VF zero = hn::Zero(d);
    Powers even = {zero, zero, zero, zero}, odd = even;  // two chains of sums
    const auto add = [=](std::ptrdiff_t i, MF before, Powers& to) HWY_ATTR {
      const VF moved = hn::IfThenZeroElse(before, hn::Sub(load_elements(d, x + i), origin));
      const VF square = hn::Mul(moved, moved);
      to.one = hn::Add(to.one, moved);
      to.two = hn::Add(to.two, square);
      to.three = hn::MulAdd(moved, square, to.three);
      to.four = hn::MulAdd(square, square, to.four);
    };
    const MF none = hn::FirstN(d, 0);
    const std::ptrdiff_t stride = step * kLanes;
    std::ptrdiff_t i = 0, vectors = 0;
    for (; i + stride + kLanes <= n_; i += 2 * stride, vectors += 2) {
      add(i, none, even);
      add(i + stride, none, odd);
    }
    if (i + kLanes <= n_) {
      add(i, none, even);
      ++vectors;
    }
    auto count = static_cast<double>(vectors * kLanes);
    if (step == 1 && n_ % kLanes != 0) {
      add(n_ - kLanes, seen_before(), odd);
      count = static_cast<double>(n_);
    }
    const auto average = [&](VF one, VF two) HWY_ATTR {
      return double{hn::GetLane(hn::SumOfLanes(d, hn::Add(one, two)))} / count;
    };
    const double m[] = {average(even.one, odd.one), average(even.two, odd.two),
                        average(even.three, odd.three), average(even.four, odd.four)};
    const double mean = m[0], variance = std::max(0.0, m[1] - mean * mean);
    const double third = m[2] - mean * (3 * m[1] - 2 * mean * mean);
    const double fourth = m[3] - mean * (4 * m[2] - 3 * mean * (2 * m[1] - mean * mean));
    return {double{hn::GetLane(turn_)} * (double{hn::GetLane(origin)} + mean), variance,
            third / (variance * std::sqrt(variance)), fourth / (variance * variance)};
  }

  // As if the row had a normal distribution, smoothed; if that is narrow, as if all were what smooths it.
  // False if it has another one, or is not finite: others aim for the threshold by samples.
  HWY_INLINE bool guess() {
    const auto n = static_cast<double>(n_);
    const double least = 0.5 / n;
    const double share = std::clamp(k_ / n, least, 1 - least), rest = 1 - share;
    // Of the few elements in the tail of a longer row a sample knows as much.
    constexpr double kTail = 1.0 / 32;
    constexpr std::ptrdiff_t kLong = 1024;
    if (n_ > kLong && std::min(share, rest) < kTail) return false;
    const double square = alpha_ * alpha_;
    // Unless it has many equal elements and a few others.
    const auto is_narrow = [&](const Moments& of) {
      constexpr double kMostTails = 9;
      return square > 4 * of.variance && of.tails < kMostTails;
    };
    constexpr std::ptrdiff_t kSample = 128;
    const Moments some = moments(n_ / kSample);
    if (!some.is_normal(1.6) && !is_narrow(some)) return false;
    const double quantile = math::normal_quantile(share);
    const Moments of = moments(1);
    if (!of.is_normal(1) && !is_narrow(of)) return false;
    const double width = std::sqrt(of.variance + 2 * square);
    const double smoothed = -alpha_ * std::log(2 * std::min(share, rest));
    center_ = of.mean + (is_narrow(of) ? std::copysign(smoothed, quantile) : width * quantile);
    // As if it were logistic, with heavier tails.
    scatter_ = width / (1.7 * std::sqrt(n * share * rest));
    return std::isfinite(center_ + scatter_);
  }

  // Where alpha is small, elements are chosen or not but for those around the guess, which solve for the
  // threshold.
  HWY_INLINE std::optional<Threshold> choose() {
    const DF d;
    const hn::RebindToSigned<DF> di;
    constexpr double kScatters = 3.5;
    const double reach = kScatters * scatter_ + kFar * alpha_;
    const auto low_end = static_cast<float>(center_ - reach);
    const auto high_end = static_cast<float>(center_ + reach);
    const VF low = hn::Set(d, low_end), high = hn::Set(d, high_end), one = hn::Set(d, 1.0f);
    VI count = hn::Zero(di);
    const T* const x = x_;
    T* const p = p_;
    const VF turn = turn_;
    collect([&](std::ptrdiff_t i, MF before) HWY_ATTR {
      const VF r = hn::Mul(load_elements(d, x + i), turn);
      const MF is_left = hn::Le(r, low);
      if (p) store_elements(d, hn::IfThenElseZero(is_left, one), p + i);
      count = hn::Sub(count, hn::VecFromMask(di, hn::RebindMask(di, hn::AndNot(before, is_left))));
      return hn::AndNot(hn::Or(before, is_left), hn::Lt(r, high));
    });
    if (count_ > n_ / 4) return std::nullopt;
    const auto left = static_cast<double>(hn::GetLane(hn::SumOfLanes(di, count)));
    const std::span<float> near = arena_.take<float>(count_);
    const float sign = hn::GetLane(turn_);
    for (std::ptrdiff_t j = 0; j < count_; ++j) near[j] = sign * to_work(x_[places_[j]]);
    const auto b = solve_inside(std::span<const float>(near), {-INFINITY, 0, INFINITY, 0}, left, k_,
                                alpha_, arena_);
    if (!b) return std::nullopt;
    // On a plateau the nearest elements count, however far they are.
    const double root = b->anchor + b->offset;
    double nearest = INFINITY;
    for (const float r : near) nearest = std::min(nearest, std::abs(r - root));
    const double to_end = std::min(root - low_end, high_end - root);
    if (!(to_end - nearest > kFar * alpha_)) return std::nullopt;
    if (!p_) return b;
    cdf_at(near.data(), count_, 1, *b, alpha_, near.data());
    for (std::ptrdiff_t j = 0; j < count_; ++j) p_[places_[j]] = Element<T>::round(near[j]);
    return b;
  }

  // Decays seen from the center, with a sign on its left, and what they add up to.
  HWY_INLINE bool look() {
    const DF d;
    const Outlook from = {center_, center_, center_, alpha_};
    if (!FromCenter<float>::can_take(from)) return false;
    const FromCenter<float> seen(from);
    auto left_end = static_cast<float>(center_);
    if (left_end > center_) left_end = std::nextafter(left_end, -INFINITY);
    const VF last_left = hn::Set(d, left_end);
    const VF minus = hn::Set(d, -0.0f);
    std::ptrdiff_t count = 0;
    V all = hn::Zero(D()), more = all, signed_all = all, signed_more = all;
    const T* const x = x_;
    const VF turn = turn_;
    float* const e_at = e_;
    const std::ptrdiff_t n = n_;
    const auto see = [&](std::ptrdiff_t i, MF before) HWY_ATTR {
      const VF r = hn::Mul(load_elements(d, x + i), turn);
      const MF is_left = hn::Le(r, last_left);
      hn::StoreU(hn::Or(seen.decay(r, is_left), hn::IfThenElseZero(is_left, minus)), d, e_at + i);
      count += std::popcount(bits_of(d, hn::AndNot(before, is_left)));
    };
    // Sums are those of the very decays that are kept: what changes sides is taken away without a trace.
    const auto add = [&](const float* e) HWY_ATTR {
      const V low = load_wide(D(), e), high = load_wide(D(), e + kMaxLanes);
      signed_all = hn::Add(signed_all, low);
      signed_more = hn::Add(signed_more, high);
      all = hn::Add(all, hn::Abs(low));
      more = hn::Add(more, hn::Abs(high));
    };
    const MF none = hn::FirstN(d, 0);
    for_strips(n, kLanes, [&](std::ptrdiff_t begin, std::ptrdiff_t end) HWY_ATTR {
      for (std::ptrdiff_t i = begin; i < end; i += kLanes) see(i, none);
      for (std::ptrdiff_t i = begin; i < end; i += kLanes) add(e_at + i);
    });
    if (n % kLanes != 0) {
      see(n - kLanes, seen_before());
      HWY_ALIGN float rest[2 * kMaxLanes];
      hn::Store(hn::IfThenZeroElse(seen_before(), hn::LoadU(d, e_at + n - kLanes)), d, rest);
      add(rest);
    }
    const double total = sum_of(hn::Add(all, more));
    const double difference = sum_of(hn::Add(signed_all, signed_more));
    on_left_ = seen.on_left();
    on_right_ = seen.on_right();
    left_ = 0.5 * on_left_ * (total - difference);
    right_ = 0.5 * on_right_ * (total + difference);
    missing_ = k_ - static_cast<double>(count);
    return true;
  }

  // Sets the ratio to the threshold, as far as it is known; true if it is, and elements up to it, which
  // change sides, are collected.
  HWY_INLINE bool settle() {
    ratio_ = Around{left_, right_, missing_}.ratio();
    const bool up = up_ = ratio_ > 1;
    const auto turned = [up](double ratio) { return up ? ratio : 1 / ratio; };
    double t = turned(ratio_);
    constexpr double kMost = 1000;
    if (!(t < kMost)) return false;
    const double end = 1 / (t * (1 + 4 * kSmallStep + 0.25 * (t - 1)));
    collect_ahead(up, end);
    if (count_ > n_ / 4) return false;
    const Around begin = {up ? left_ : right_, up ? right_ : left_, up ? missing_ : -missing_};
    constexpr int kMostSteps = 8;
    for (int steps = 0; steps < kMostSteps; ++steps) {
      const Around here = pass(begin, t);
      const double next = here.ratio(), moved = std::abs(next - t);
      ratio_ = turned(next);
      if (!(next * end < 1 && next > 1 - kSmallStep)) return false;
      // What is left of sums that others were taken away from has fewer digits.
      if (!(1e6 * here.slope() > begin.ahead * next + begin.behind / next)) return false;
      t = next;
      if (moved <= kSmallStep * t) return true;
    }
    return false;
  }

  // The places of elements ahead whose decays are above the end, and the decays and their reciprocals.
  HWY_INLINE void collect_ahead(bool up, double end) {
    const DF d;
    const double factor = up ? on_right_ : on_left_;
    const VF flip = hn::Set(d, up ? 0.0f : -0.0f);
    const VF least = hn::Set(d, static_cast<float>(end / factor));
    const float* const e_at = e_;
    collect([=](std::ptrdiff_t i, MF before) HWY_ATTR {
      const VF e = hn::Xor(hn::LoadU(d, e_at + i), flip);
      return hn::AndNot(before, hn::Gt(e, least));
    });
    const std::ptrdiff_t count = count_;
    padded_ = (count + kMaxLanes - 1) / kMaxLanes * kMaxLanes;
    if (padded_ > room_) {
      room_ = n_ + kLanes;
      decays_ = arena_.take<double>(room_).data();
      reciprocals_ = arena_.take<double>(room_).data();
    }
    for (std::ptrdiff_t j = 0; j < count; ++j) decays_[j] = factor * std::abs(e_at[places_[j]]);
    for (std::ptrdiff_t j = count; j < padded_; ++j) decays_[j] = 0;
    const V one = hn::Set(D(), 1.0);
    for (std::ptrdiff_t j = 0; j < padded_; j += kMaxLanes) {
      hn::StoreU(hn::Div(one, hn::LoadU(D(), decays_ + j)), D(), reciprocals_ + j);
    }
  }

  // What is around the center, with the collected ones behind that are so from a ratio away.
  HWY_INLINE Around pass(const Around& begin, double ratio) const {
    const D d;
    const V far = hn::Set(d, ratio), one = hn::Set(d, 1.0);
    V count = hn::Zero(d), before = count, behind = count;
    for (std::ptrdiff_t j = 0; j < padded_; j += kMaxLanes) {
      const V w = hn::LoadU(d, reciprocals_ + j);
      const Lanes is_passed = hn::Lt(w, far);
      count = hn::Add(count, hn::IfThenElseZero(is_passed, one));
      before = hn::Add(before, hn::IfThenElseZero(is_passed, hn::LoadU(d, decays_ + j)));
      behind = hn::Add(behind, hn::IfThenElseZero(is_passed, w));
    }
    return {begin.behind + sum_of(behind), begin.ahead - sum_of(before),
            begin.missing - sum_of(count)};
  }

  std::optional<Threshold> finish() {
    KeptDecays seen;
    constexpr std::ptrdiff_t kPlaces = 16;
    compare_decays(e_, n_, kPlaces, seen);
    // If one decay in three is the same, the threshold is off by 2^-24 / 3 of alpha.
    constexpr double kMostEqual = 1.0 / 9;
    if (seen.share_of_equals(ratio_) > kMostEqual) return std::nullopt;
    const Threshold b = {center_, alpha_ * std::log(ratio_)};
    if (p_) write();
    return b;
  }

  void write() {
    const DF d;
    const Factors<float> factors(0.5 * on_left_ / ratio_, 0.5 * on_right_ * ratio_);
    const VF last = factors.mask(hn::LoadU(d, e_ + n_ - kLanes));
    for (std::ptrdiff_t i = 0; i + kLanes <= n_; i += kLanes) {
      store_elements(d, factors.mask(hn::LoadU(d, e_ + i)), p_ + i);
    }
    store_elements(d, last, p_ + n_ - kLanes);
    // Those that change sides; none does if the threshold lies just behind the center.
    const double t = up_ ? ratio_ : 1 / ratio_;
    for (std::ptrdiff_t j = 0; j < count_; ++j) {
      if (!(reciprocals_[j] < t)) continue;
      const double half = 0.5 * reciprocals_[j] / t;
      p_[places_[j]] = Element<T>::round(up_ ? 1 - half : half);
    }
  }

  const T* x_;
  std::ptrdiff_t n_;
  double k_, alpha_;
  VF turn_;
  T* p_;
  float* e_;
  std::int32_t* places_;
  Arena& arena_;
  double center_ = 0, scatter_ = 0, on_left_ = 1, on_right_ = 1, left_ = 0, right_ = 0,
         missing_ = 0, ratio_ = 1;
  bool up_ = true;  // whether the threshold lies on the right of the center
  std::ptrdiff_t count_ = 0, padded_ = 0, room_ = -1;
  double *decays_ = nullptr, *reciprocals_ = nullptr;
};

#define LAPSUM_GUESSED_OF(T)                                                                \
  std::optional<Threshold> guessed_##T(const T* x, std::ptrdiff_t n, double sign, double k, \
                                       double alpha, T* p, Arena& arena) {                  \
    if constexpr (kHasTable) return GuessedRow<T>(x, n, sign, k, alpha, p, arena).run();    \
    return std::nullopt;                                                                    \
  }
LAPSUM_GUESSED_OF(float)
LAPSUM_GUESSED_OF(Half)
LAPSUM_GUESSED_OF(Bfloat16)
#undef LAPSUM_GUESSED_OF

}  // namespace lapsum::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lapsum::cpu {

#define LAPSUM_GUESSED_OF(T)                                                                    \
  HWY_EXPORT(guessed_##T);                                                                      \
  template <>                                                                                   \
  std::optional<Threshold> mask_from_guess(const T* x, std::ptrdiff_t n, double sign, double k, \
                                           double alpha, T* p, Arena& arena) {                  \
    const bool has_level = k > 0 && k < static_cast<double>(n) && is_plain(alpha);              \
    if (!has_level || n < kLeastGuessed || n > kMostGuessed) return std::nullopt;               \
    const Arena::Scope scope(arena);                                                            \
    return HWY_DYNAMIC_DISPATCH(guessed_##T)(x, n, sign, k, alpha, p, arena);                   \
  }
LAPSUM_GUESSED_OF(float)
LAPSUM_GUESSED_OF(Half)
LAPSUM_GUESSED_OF(Bfloat16)
#undef LAPSUM_GUESSED_OF

template <>
std::optional<Threshold> mask_from_guess(const double*, std::ptrdiff_t, double, double, double,
                                         double*, Arena&) {
  return std::nullopt;
}

}  // namespace lapsum::cpu
#endif  // HWY_ONCE
