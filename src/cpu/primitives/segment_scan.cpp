// Highway compiles everything inside HWY_NAMESPACE once per instruction set.
#include "cpu/primitives/segment_scan.h"

#include <algorithm>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/primitives/segment_scan.cpp"
#include <hwy/foreach_target.h>
// clang-format off: these must follow foreach_target.h
#include <hwy/highway.h>
#include "cpu/primitives/decay-inl.h"
#include "cpu/primitives/interleave-inl.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace lapsum::cpu::HWY_NAMESPACE {

constexpr auto kLanes = static_cast<std::ptrdiff_t>(hn::MaxLanes(D()));
constexpr std::ptrdiff_t kGroups = Segments::kAbreast / kLanes;
static_assert(kGroups * kLanes == Segments::kAbreast);

void keep_to_next_all(const double* r, std::ptrdiff_t n, double alpha, double* keep) {
  const D d;
  const Decay<double, 0> decay;
  const double rate = std::min(kLog2e / alpha, std::numeric_limits<double>::max());
  const auto octaves = [=](V value, V next)
                           HWY_ATTR { return hn::Mul(hn::Sub(next, value), hn::Set(D(), rate)); };
  const auto at = [=](V t) HWY_ATTR { return decay(D(), hn::Min(t, hn::Set(D(), decay.kZero))); };
  std::ptrdiff_t j = 0;
  const auto for_each_vector = [&](auto of) HWY_ATTR {
    for (; j + kLanes <= n; j += kLanes) {
      hn::StoreU(of(octaves(hn::LoadU(d, r + j), hn::LoadU(d, r + j + 1))), d, keep + j);
    }
  };
  // Values of long rows lie near each other, all but a few: a decay takes half the time there.
  constexpr double kUsual = kNearDecay / 16;
  if ((r[n] - r[0]) * rate < kUsual * static_cast<double>(n)) {
    const V near = hn::Set(d, kNearDecay);
    for_each_vector([=](V t) HWY_ATTR {
      return HWY_LIKELY(hn::AllTrue(D(), hn::Le(t, near))) ? near_decay(D(), t) : at(t);
    });
  } else {
    for_each_vector(at);
  }
  if (j == n) return;
  HWY_ALIGN double last[2][kLanes] = {};
  for (std::ptrdiff_t l = 0; l < n - j; ++l) {
    last[0][l] = r[j + l];
    last[1][l] = r[j + l + 1];
  }
  hn::Store(at(octaves(hn::Load(d, last[0]), hn::Load(d, last[1]))), d, last[0]);
  std::copy_n(last[0], n - j, keep + j);
}

// Two neighbouring values of every segment of a group.
struct Pair {
  V first, second;
};
HWY_INLINE Pair load_pair(const double* at, [[maybe_unused]] std::ptrdiff_t length) {
#if HWY_TARGET == HWY_SCALAR
  return {hn::LoadU(D(), at), hn::LoadU(D(), at + 1)};
#else
  const auto segment = [=](int l) HWY_ATTR { return at + l * length; };
  V v[2] = {load_blocks(D(), segment, 0), load_blocks(D(), segment, 1)};
  transpose_blocks(D(), v);
  return {v[0], v[1]};
#endif
}
HWY_INLINE void store_pair(Pair pair, double* at, [[maybe_unused]] std::ptrdiff_t length) {
#if HWY_TARGET == HWY_SCALAR
  hn::StoreU(pair.first, D(), at);
  hn::StoreU(pair.second, D(), at + 1);
#else
  const auto segment = [=](int l) HWY_ATTR { return at + l * length; };
  V v[2] = {pair.first, pair.second};
  transpose_blocks(D(), v);
  store_blocks(D(), v[0], segment, 0);
  store_blocks(D(), v[1], segment, 1);
#endif
}

// One group of segments, both ways: what it has summed up so far.
template <bool kOnes, bool kStore>
class Group {
 public:
  HWY_INLINE Group(const SegmentScan& scan, std::ptrdiff_t length, std::ptrdiff_t g, double* right,
                   double* left)
      : length_(length), keep_(scan.keep + from(g)) {
    if constexpr (!kOnes) {
      right_w_ = scan.right_w + from(g);
      left_w_ = scan.left_w + from(g);
    }
    if constexpr (kStore) {
      right_to_ = right + from(g);
      left_to_ = left + from(g);
    }
  }

  HWY_INLINE void begin(const double* right, const double* left) {
    right_ = hn::LoadU(D(), right);
    left_ = hn::LoadU(D(), left);
    kept_ = hn::Set(D(), 1.0);  // what arrives is seen as it is
  }
  HWY_INLINE void end(double* right, double* left) const {
    hn::StoreU(right_, D(), right);
    hn::StoreU(left_, D(), left);
  }

  // Values t and t + 1.
  HWY_INLINE void step_right(std::ptrdiff_t t) {
    const Pair keep = load_pair(keep_ + t, length_);
    const Pair w = weights(right_w_, t);
    Pair sums;
    sums.first = hn::MulAdd(kept_, right_, w.first);
    sums.second = hn::MulAdd(keep.first, sums.first, w.second);
    right_ = sums.second;
    kept_ = keep.second;
    if constexpr (kStore) store_pair(sums, right_to_ + t, length_);
  }
  template <bool kFirst>
  HWY_INLINE void step_left(std::ptrdiff_t t) {
    const Pair keep = load_pair(keep_ + t, length_);
    const Pair w = weights(left_w_, t);
    Pair sums;
    sums.second = kFirst ? hn::Add(left_, w.second) : hn::MulAdd(keep.second, left_, w.second);
    sums.first = hn::MulAdd(keep.first, sums.second, w.first);
    left_ = sums.first;
    if constexpr (kStore) store_pair(sums, left_to_ + t, length_);
  }

 private:
  HWY_INLINE std::ptrdiff_t from(std::ptrdiff_t g) const { return g * kLanes * length_; }
  HWY_INLINE Pair weights(const double* w, std::ptrdiff_t t) const {
    if constexpr (kOnes) return {hn::Set(D(), 1.0), hn::Set(D(), 1.0)};
    return load_pair(w + t, length_);
  }

  std::ptrdiff_t length_;
  const double* keep_;
  const double *right_w_ = nullptr, *left_w_ = nullptr;
  double *right_to_ = nullptr, *left_to_ = nullptr;
  V right_, left_, kept_;
};

// All groups, so many at a time that none waits long for its last sum.
template <bool kOnes, bool kStore>
HWY_INLINE void run_abreast(const SegmentScan& scan, std::ptrdiff_t length, AtSegments& at,
                            double* right, double* left) {
  if (length == 0) return;
  using G = Group<kOnes, kStore>;
  constexpr std::ptrdiff_t kTogether = HWY_MIN(kGroups, std::ptrdiff_t{2});
  for (std::ptrdiff_t g = 0; g < kGroups; g += kTogether) {
    G one(scan, length, g, right, left), two(scan, length, g + kTogether - 1, right, left);
    const std::ptrdiff_t first = g * kLanes, second = (g + kTogether - 1) * kLanes;
    one.begin(at.right + first, at.left + first);
    two.begin(at.right + second, at.left + second);
    for (std::ptrdiff_t t = 0; t < length; t += 2) {
      const std::ptrdiff_t back = length - 2 - t;
      one.step_right(t);
      if (kTogether == 2) two.step_right(t);
      if (t == 0) {
        one.template step_left<true>(back);
        if (kTogether == 2) two.template step_left<true>(back);
      } else {
        one.template step_left<false>(back);
        if (kTogether == 2) two.template step_left<false>(back);
      }
    }
    one.end(at.right + first, at.left + first);
    if (kTogether == 2) two.end(at.right + second, at.left + second);
  }
}

// From what arrives at every segment to what leaves it, by way of all sums.
template <bool kStore>
HWY_INLINE AtSegments run(const SegmentScan& scan, AtSegments at, double* right, double* left) {
  const Segments cut(scan.n);
  const bool ones = !scan.right_w;
  if (ones) {
    run_abreast<true, kStore>(scan, cut.length, at, right, left);
  } else {
    run_abreast<false, kStore>(scan, cut.length, at, right, left);
  }
  constexpr std::ptrdiff_t kRest = Segments::kAbreast;
  const std::ptrdiff_t begin = cut.begin(kRest), end = cut.end(kRest);
  double sum = at.right[kRest];
  for (std::ptrdiff_t j = begin; j < end; ++j) {
    sum = (j > begin ? scan.keep[j - 1] * sum : sum) + (ones ? 1 : scan.right_w[j]);
    if (kStore) right[j] = sum;
  }
  at.right[kRest] = sum;
  sum = at.left[kRest];
  for (std::ptrdiff_t j = end; j-- > begin;) {
    sum = (j + 1 < end ? scan.keep[j] * sum : sum) + (ones ? 1 : scan.left_w[j]);
    if (kStore) left[j] = sum;
  }
  at.left[kRest] = sum;
  return at;
}

AtSegments sum_segments_all(const SegmentScan& scan) {
  return run<false>(scan, AtSegments{}, nullptr, nullptr);
}

void finish_segments_all(const SegmentScan& scan, const AtSegments& arrives, double* right,
                         double* left) {
  run<true>(scan, arrives, right, left);
}

}  // namespace lapsum::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lapsum::cpu {
HWY_EXPORT(keep_to_next_all);
HWY_EXPORT(sum_segments_all);
HWY_EXPORT(finish_segments_all);

void keep_to_next(const double* r, std::ptrdiff_t n, double alpha, double* keep) {
  HWY_DYNAMIC_DISPATCH(keep_to_next_all)(r, n, alpha, keep);
}

AtSegments sum_segments(const SegmentScan& scan) {
  return HWY_DYNAMIC_DISPATCH(sum_segments_all)(scan);
}

void finish_segments(const SegmentScan& scan, const AtSegments& arrives, double* right,
                     double* left) {
  HWY_DYNAMIC_DISPATCH(finish_segments_all)(scan, arrives, right, left);
}

}  // namespace lapsum::cpu
#endif  // HWY_ONCE
