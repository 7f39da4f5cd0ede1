// Inside a narrow block the sum at value j is fall[j] times a plain prefix sum of w * rise, both ways
// round alike; what comes from other blocks is added to the prefix sum. In a wide block the decays
// from value to value are multiplied: its values are soon forgotten, so that roundings cannot add up.
// Highway compiles everything inside HWY_NAMESPACE once per instruction set.
#include "cpu/primitives/block_scan.h"

#include <cstdint>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/primitives/block_scan.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace lapsum::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::ScalableTag<double>;
using V = hn::Vec<D>;
using Indices = decltype(hn::SetTableIndices(D(), static_cast<const std::int64_t*>(nullptr)));

constexpr auto kLanes = static_cast<std::ptrdiff_t>(hn::MaxLanes(D()));

// The sums of a vector's lanes up to each of them, from the side where the scan begins.
template <bool kRight>
class Running {
 public:
  HWY_INLINE Running() {
    HWY_ALIGN std::int64_t from[kLanes];
    for (int i = 0; i < kSteps; ++i) {
      const std::ptrdiff_t step = std::ptrdiff_t{1} << i;
      for (std::ptrdiff_t l = 0; l < kLanes; ++l) {
        from[l] = kRight ? (l < step ? l : l - step) : (l + step < kLanes ? l + step : l);
      }
      behind_[i] = hn::SetTableIndices(D(), from);
    }
    for (std::int64_t& l : from) l = kRight ? kLanes - 1 : 0;
    last_ = hn::SetTableIndices(D(), from);
  }

  HWY_INLINE V sums(V v) const {
    const D d;
    for (int i = 0; i < kSteps; ++i) {
      const std::size_t step = std::size_t{1} << i;
      const auto outside = hn::FirstN(d, kRight ? step : kLanes - step);
      const V seen = hn::TableLookupLanes(v, behind_[i]);
      const V added =
          kRight ? hn::IfThenZeroElse(outside, seen) : hn::IfThenElseZero(outside, seen);
      v = hn::Add(v, added);
    }
    return v;
  }

  /// The same if keep[l] is left of a sum on the way to lane l; keep becomes what is left of one that
  /// comes from outside.
  HWY_INLINE V decayed_sums(V v, V& keep) const {
    const D d;
    for (int i = 0; i < kSteps; ++i) {
      const std::size_t step = std::size_t{1} << i;
      const auto first = hn::FirstN(d, kRight ? step : kLanes - step);
      const auto inside = kRight ? hn::Not(first) : first;
      const V seen = hn::IfThenElseZero(inside, hn::TableLookupLanes(v, behind_[i]));
      v = hn::MulAdd(keep, seen, v);
      const V kept = hn::TableLookupLanes(keep, behind_[i]);
      keep = hn::IfThenElse(inside, hn::Mul(keep, kept), keep);
    }
    return v;
  }

  /// The last one, in all lanes.
  HWY_INLINE V total(V sums) const { return hn::TableLookupLanes(sums, last_); }

 private:
  static constexpr int kSteps = kLanes >= 8 ? 3 : kLanes >= 4 ? 2 : kLanes >= 2 ? 1 : 0;
  static_assert(kLanes == 1 << kSteps);

  Indices behind_[kSteps > 0 ? kSteps : 1], last_;
};

template <bool kRight, bool kOnes>
class Blocks {
 public:
  HWY_INLINE Blocks(const Decays& decays, const BlockScan& scan)
      : decays_(decays),
        w_(scan.w),
        grow_(kRight ? decays.rise.data() : decays.fall.data()),
        shrink_(kRight ? decays.fall.data() : decays.rise.data()),
        at_(scan.at),
        at_ends_(scan.at_ends) {}

  HWY_INLINE void sum(std::ptrdiff_t b) const {
    at_ends_[entry(b)] = 0;
    at_ends_[exit(b)] = decays_.is_narrow(b) ? prefix(b) : steps(b, 0);
  }

  HWY_INLINE void finish(std::ptrdiff_t b) const {
    const D d;
    const double carry = at_ends_[entry(b)];
    if (!decays_.is_narrow(b)) {
      steps(b, carry);
      return;
    }
    const std::ptrdiff_t end = decays_.end(b);
    const double first = carry * grow_[kRight ? decays_.begin(b) : end - 1];
    const V seen = hn::Set(d, first);
    std::ptrdiff_t j = decays_.begin(b);
    for (; j + kLanes <= end; j += kLanes) {
      hn::StoreU(hn::Mul(hn::Add(hn::LoadU(d, at_ + j), seen), hn::LoadU(d, shrink_ + j)), d,
                 at_ + j);
    }
    for (; j < end; ++j) at_[j] = (at_[j] + first) * shrink_[j];
  }

 private:
  static std::ptrdiff_t entry(std::ptrdiff_t b) { return kRight ? 2 * b : 2 * b + 1; }
  static std::ptrdiff_t exit(std::ptrdiff_t b) { return kRight ? 2 * b + 1 : 2 * b; }

  HWY_INLINE double term(std::ptrdiff_t j) const { return kOnes ? grow_[j] : w_[j] * grow_[j]; }

  // A sum that runs through block b: vectors(begin, end, sum) takes it on over whole vectors, one(j,
  // sum) over a value.
  template <class Vectors, class One>
  HWY_INLINE double run(std::ptrdiff_t b, double sum, Vectors vectors, One one) const {
    const std::ptrdiff_t begin = decays_.begin(b);
    const std::ptrdiff_t end = decays_.end(b);
    const std::ptrdiff_t whole = begin + (end - begin) / kLanes * kLanes;
    if constexpr (kRight) {
      sum = vectors(begin, whole, sum);
      for (std::ptrdiff_t j = whole; j < end; ++j) sum = one(j, sum);
      return sum;
    } else {
      for (std::ptrdiff_t j = end; j-- > whole;) sum = one(j, sum);
      return vectors(begin, whole, sum);
    }
  }

  HWY_INLINE double prefix(std::ptrdiff_t b) const {
    const double sum = run(
        b, 0, [&](auto... of) HWY_ATTR { return vectors(of...); },
        [&](std::ptrdiff_t j, double before) HWY_ATTR { return at_[j] = before + term(j); });
    return sum * shrink_[kRight ? decays_.end(b) - 1 : decays_.begin(b)];
  }

  HWY_INLINE double vectors(std::ptrdiff_t begin, std::ptrdiff_t end, double sum) const {
    const D d;
    const Running<kRight> running;
    V carry = hn::Set(d, sum);
    for (std::ptrdiff_t i = begin; i < end; i += kLanes) {
      const std::ptrdiff_t j = kRight ? i : begin + end - i - kLanes;
      const V grow = hn::LoadU(d, grow_ + j);
      const V sums = running.sums(kOnes ? grow : hn::Mul(hn::LoadU(d, w_ + j), grow));
      hn::StoreU(hn::Add(sums, carry), d, at_ + j);
      carry = hn::Add(carry, running.total(sums));
    }
    return hn::GetLane(carry);
  }

  HWY_INLINE double steps(std::ptrdiff_t b, double carry) const {
    return run(
        b, carry, [&](auto... of) HWY_ATTR { return decayed_vectors(of...); },
        [&](std::ptrdiff_t j, double before)
            HWY_ATTR { return at_[j] = before * grow_[j] + (kOnes ? 1.0 : w_[j]); });
  }

  HWY_INLINE double decayed_vectors(std::ptrdiff_t begin, std::ptrdiff_t end, double sum) const {
    const D d;
    const Running<kRight> running;
    V carry = hn::Set(d, sum);
    for (std::ptrdiff_t i = begin; i < end; i += kLanes) {
      const std::ptrdiff_t j = kRight ? i : begin + end - i - kLanes;
      V keep = hn::LoadU(d, grow_ + j);
      const V w = kOnes ? hn::Set(d, 1.0) : hn::LoadU(d, w_ + j);
      const V sums = running.decayed_sums(w, keep);
      const V all = hn::MulAdd(keep, carry, sums);
      hn::StoreU(all, d, at_ + j);
      carry = running.total(all);
    }
    return hn::GetLane(carry);
  }

  const Decays& decays_;
  const double* w_;
  const double* grow_;
  const double* shrink_;
  double* at_;
  double* at_ends_;
};

template <class Body>
HWY_INLINE void with_blocks(const Decays& decays, const BlockScan& scan, Body body) {
  if (scan.toward == Toward::right) {
    if (scan.w) {
      body(Blocks<true, false>(decays, scan));
    } else {
      body(Blocks<true, true>(decays, scan));
    }
  } else {
    if (scan.w) {
      body(Blocks<false, false>(decays, scan));
    } else {
      body(Blocks<false, true>(decays, scan));
    }
  }
}

void sum_blocks_all(const Decays& decays, const BlockScan& scan, std::ptrdiff_t first,
                    std::ptrdiff_t last) {
  with_blocks(decays, scan, [&](const auto& blocks) HWY_ATTR {
    for (std::ptrdiff_t b = first; b < last; ++b) blocks.sum(b);
  });
}

void finish_blocks_all(const Decays& decays, const BlockScan& scan, std::ptrdiff_t first,
                       std::ptrdiff_t last) {
  with_blocks(decays, scan, [&](const auto& blocks) HWY_ATTR {
    for (std::ptrdiff_t b = first; b < last; ++b) blocks.finish(b);
  });
}

}  // namespace lapsum::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lapsum::cpu {
HWY_EXPORT(sum_blocks_all);
HWY_EXPORT(finish_blocks_all);

void sum_blocks(const Decays& decays, const BlockScan& scan, std::ptrdiff_t first,
                std::ptrdiff_t last) {
  HWY_DYNAMIC_DISPATCH(sum_blocks_all)(decays, scan, first, last);
}

void finish_blocks(const Decays& decays, const BlockScan& scan, std::ptrdiff_t first,
                   std::ptrdiff_t last) {
  HWY_DYNAMIC_DISPATCH(finish_blocks_all)(decays, scan, first, last);
}

}  // namespace lapsum::cpu
#endif  // HWY_ONCE
