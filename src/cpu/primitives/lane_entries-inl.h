// Rows laid out for vectors, in two ways that come to the same bits: a tile has a row in
// each lane, a row alone goes through all lanes. A sum over a row is made of as many sums as there
// are lanes, one for each place modulo their number, which are then added by halving.
// Included once per instruction set, after hwy/highway.h and decay-inl.h.
#if defined(LAPSUM_LANE_ENTRIES_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef LAPSUM_LANE_ENTRIES_INL_H
#undef LAPSUM_LANE_ENTRIES_INL_H
#else
#define LAPSUM_LANE_ENTRIES_INL_H
#endif

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <type_traits>

#include "cpu/primitives/arena.h"
#include "cpu/primitives/interleave-inl.h"
#include "cpu/primitives/lanes.h"

HWY_BEFORE_NAMESPACE();
namespace lapsum::cpu::HWY_NAMESPACE {

using VF = hn::Vec<DF>;
using MF = hn::Mask<DF>;

constexpr auto kWidth = static_cast<std::ptrdiff_t>(hn::MaxLanes(DF()));
constexpr auto kHalf = static_cast<std::ptrdiff_t>(hn::MaxLanes(D()));
constexpr std::ptrdiff_t kHalves = kWidth / kHalf;

template <class T>
inline constexpr bool kIsDouble = std::is_same_v<Work<T>, double>;

/// As many doubles as a vector has floats.
struct Wide {
  V half[kHalves];
};

/// Its halves are value(h).
template <class Value>
HWY_INLINE Wide wide(Value value) {
  Wide out;
  for (std::ptrdiff_t h = 0; h < kHalves; ++h) out.half[h] = value(h);
  return out;
}
HWY_INLINE Wide load_lanes(const double* from) {
  return wide([&](std::ptrdiff_t h) HWY_ATTR { return hn::LoadU(D(), from + h * kHalf); });
}
HWY_INLINE void store_lanes(const Wide& v, double* to) {
  for (std::ptrdiff_t h = 0; h < kHalves; ++h) hn::StoreU(v.half[h], D(), to + h * kHalf);
}
HWY_INLINE Wide widen(VF v) {
#if HWY_TARGET == HWY_SCALAR
  return {{hn::PromoteTo(D(), v)}};
#else
  const hn::Half<DF> half;
  return {{hn::PromoteTo(D(), hn::LowerHalf(half, v)), hn::PromoteTo(D(), hn::UpperHalf(half, v))}};
#endif
}
HWY_INLINE VF narrowed(const Wide& v) {
  const hn::Rebind<float, D> half;
#if HWY_TARGET == HWY_SCALAR
  return hn::DemoteTo(half, v.half[0]);
#else
  return hn::Combine(DF(), hn::DemoteTo(half, v.half[1]), hn::DemoteTo(half, v.half[0]));
#endif
}

HWY_INLINE VF add(VF a, VF b) { return hn::Add(a, b); }
HWY_INLINE Wide add(const Wide& a, const Wide& b) {
  return wide([&](std::ptrdiff_t h) HWY_ATTR { return hn::Add(a.half[h], b.half[h]); });
}
HWY_INLINE Wide sub(const Wide& a, const Wide& b) {
  return wide([&](std::ptrdiff_t h) HWY_ATTR { return hn::Sub(a.half[h], b.half[h]); });
}
HWY_INLINE Wide mul(const Wide& a, const Wide& b) {
  return wide([&](std::ptrdiff_t h) HWY_ATTR { return hn::Mul(a.half[h], b.half[h]); });
}
HWY_INLINE Wide choose(MF mask, const Wide& yes, const Wide& no) {
  const Wide chosen = widen(hn::IfThenElseZero(mask, hn::Set(DF(), 1.0f)));
  return wide([&](std::ptrdiff_t h) HWY_ATTR {
    return hn::IfThenElse(hn::Gt(chosen.half[h], hn::Zero(D())), yes.half[h], no.half[h]);
  });
}
template <class Vector, class Mask>
HWY_INLINE Vector add_if(Mask mask, Vector sum, Vector v) {
#if HWY_TARGET <= HWY_AVX3
  return hn::IfThenElse(mask, hn::Add(sum, v), sum);
#else
  return hn::Add(sum, hn::IfThenElseZero(mask, v));
#endif
}

template <class Vector, class Mask>
HWY_INLINE Vector max_if(Mask mask, Vector most, Vector v) {
  return hn::IfThenElse(mask, hn::Max(most, v), most);
}

// The first of kCount numbers after all have been added to it, by halving.
template <std::ptrdiff_t kCount, class Number>
HWY_INLINE Number halved(Number* numbers) {
  for (std::ptrdiff_t w = kCount / 2; w > 0; w /= 2) {
    for (std::ptrdiff_t l = 0; l < w; ++l) numbers[l] += numbers[l + w];
  }
  return numbers[0];
}
// A total over lanes, in all of them.
HWY_INLINE VF spread_total(VF v) {
  HWY_ALIGN float lanes[kWidth];
  hn::Store(v, DF(), lanes);
  return hn::Set(DF(), halved<kWidth>(lanes));
}
HWY_INLINE Wide spread_total(const Wide& v) {
  HWY_ALIGN double lanes[kWidth];
  store_lanes(v, lanes);
  const V total = hn::Set(D(), halved<kWidth>(lanes));
  return wide([&](std::ptrdiff_t) HWY_ATTR { return total; });
}

/// Sums of vectors of floats, and of doubles.
template <int kFloats, int kDoubles = 0>
struct Sums {
  HWY_INLINE Sums() {
    for (VF& v : sum) v = hn::Zero(DF());
    for (Wide& v : wide_sum) v = wide([](std::ptrdiff_t) HWY_ATTR { return hn::Zero(D()); });
  }
  HWY_INLINE Sums& operator+=(const Sums& other) {
    for (int i = 0; i < kFloats; ++i) sum[i] = add(sum[i], other.sum[i]);
    for (int i = 0; i < kDoubles; ++i) wide_sum[i] = add(wide_sum[i], other.wide_sum[i]);
    return *this;
  }

  std::array<VF, kFloats> sum;
  std::array<Wide, kDoubles> wide_sum;
};

/// Entries of up to kWidth rows of n elements, if kTile: entry j * kWidth + l is element j of row
/// l. Else those of one row, and up to the end of the last vector its padding. Numbers of a row,
/// its sums too, are in its lane of a tile, and in all lanes if it is alone.
template <bool kTile>
class Entries {
 public:
  explicit Entries(std::ptrdiff_t n)
      : n_(n), count_(kTile ? n * kWidth : (n + kWidth - 1) / kWidth * kWidth) {}

  float* room(Arena& arena) const { return arena.take<float>(count_).data(); }

  /// to = sign * rows, padded.
  template <class T>
  HWY_INLINE void fill(const T* const* rows, const float* sign, float padding, float* to) const {
    const DF d;
    const VF turn = hn::LoadU(d, sign);
    if constexpr (kTile) {
      interleave(d, rows, n_, [&](std::ptrdiff_t j, VF v) HWY_ATTR {
        hn::StoreU(hn::Mul(turn, v), d, to + j * kWidth);
      });
    } else {
      std::ptrdiff_t e = 0;
      for (; e + kWidth <= n_; e += kWidth) {
        hn::StoreU(hn::Mul(turn, load_elements(d, rows[0] + e)), d, to + e);
      }
      for (; e < n_; ++e) to[e] = sign[0] * to_work(rows[0][e]);
      pad(to, padding);
    }
  }
  void pad(float* entries, float value) const {
    if constexpr (!kTile) std::fill(entries + n_, entries + count_, value);
  }

  /// rows = value(e), for vectors of entries from e on; rows without a place are left out.
  template <class Value, class T>
  HWY_INLINE void bring_home(Value value, std::span<T* const> rows, Arena& arena) const {
    const DF d;
    if constexpr (kTile) {
      T* nowhere = arena.take<T>(n_).data();
      T* to[kWidth];
      for (std::size_t l = 0; l < kWidth; ++l)
        to[l] = l < rows.size() && rows[l] ? rows[l] : nowhere;
      separate(d, n_, [&](std::ptrdiff_t j) HWY_ATTR { return value(j * kWidth); }, to);
    } else if (rows[0]) {
      std::ptrdiff_t e = 0;
      for (; e + kWidth <= n_; e += kWidth) store_elements(d, value(e), rows[0] + e);
      if (e == n_) return;
      T last[kWidth];
      store_elements(d, value(e), last);
      std::copy_n(last, n_ - e, rows[0] + e);
    }
  }

  /// body(e) for vectors of entries.
  template <class Body>
  HWY_INLINE void for_each_vector(Body body) const {
    const std::ptrdiff_t count = count_;
    for (std::ptrdiff_t e = 0; e < count; e += kWidth) body(e);
  }

  /// The sums of what body(sums, e) adds for vectors of entries.
  template <class Part, class Body>
  HWY_INLINE Part add_up(Body body) const {
    // Long chains of equal terms drift.
    constexpr std::ptrdiff_t kBlock = 32 * kWidth;
    if constexpr (kTile) {
      static_assert(kWidth % 2 == 0 || kWidth == 1);
      constexpr std::ptrdiff_t kTogether = std::min<std::ptrdiff_t>(kWidth, 2);
      constexpr std::ptrdiff_t kApart = kWidth / kTogether;  // places that are halved first
      Part parts[kApart];
      for (std::ptrdiff_t place = 0; place < kApart; ++place) {
        Part one, two, more_one, more_two;
        for (std::ptrdiff_t begin = 0; begin < n_; begin += kBlock) {
          if (begin > 0) {
            more_one += one;
            more_two += two;
            one = two = Part();
          }
          const std::ptrdiff_t end = std::min(n_, begin + kBlock);
          std::ptrdiff_t j = begin + place;
          for (; j + kApart < end; j += kWidth) {
            body(one, j * kWidth);
            if constexpr (kTogether == 2) body(two, (j + kApart) * kWidth);
          }
          if (j < end) body(one, j * kWidth);
        }
        if (n_ > kBlock) {
          one += more_one;
          two += more_two;
        }
        parts[place] = one;
        if constexpr (kTogether == 2) parts[place] += two;
      }
      return halved<kApart>(parts);
    } else {
      Part all;
      for (std::ptrdiff_t begin = 0; begin < count_; begin += kBlock) {
        const std::ptrdiff_t end = std::min(count_, begin + kBlock);
        Part one;
        for (std::ptrdiff_t e = begin; e < end; e += kWidth) body(one, e);
        all += one;
      }
      for (VF& v : all.sum) v = spread_total(v);
      for (Wide& v : all.wide_sum) v = spread_total(v);
      return all;
    }
  }

  /// The count, the largest or the smallest over a row, as far as lanes are not rows of their own.
  static HWY_INLINE VF count(VF v) {
    if constexpr (kTile) return v;
    return hn::SumOfLanes(DF(), v);  // of whole numbers: exact in any order
  }
  static HWY_INLINE VF largest(VF v) {
    if constexpr (kTile) return v;
    return hn::MaxOfLanes(DF(), v);
  }
  static HWY_INLINE VF smallest(VF v) {
    if constexpr (kTile) return v;
    return hn::MinOfLanes(DF(), v);
  }

 private:
  std::ptrdiff_t n_, count_;
};

/// Tells the rows of solved lanes their thresholds; `to` is where their masks go, and false returned if
/// none does.
template <class T>
HWY_INLINE bool tell(std::span<Lane<T>> rows, MF solved, const Wide& b, const Wide& offset,
                     T** to) {
  HWY_ALIGN double anchors[kWidth], offsets[kWidth];
  HWY_ALIGN float is_solved[kWidth];
  store_lanes(b, anchors);
  store_lanes(offset, offsets);
  hn::Store(hn::IfThenElseZero(solved, hn::Set(DF(), 1.0f)), DF(), is_solved);
  bool masks = false;
  for (std::size_t l = 0; l < rows.size(); ++l) {
    to[l] = nullptr;
    if (is_solved[l] == 0) continue;
    rows[l].solved = true;
    rows[l].b = {anchors[l], offsets[l]};
    to[l] = rows[l].p;
    masks |= to[l] != nullptr;
  }
  return masks;
}

/// solve(entries, part) for up to kWidth rows of n elements, together or one by one. A tile costs
/// the same for one row as for all, and takes as many steps as the hardest of them; a row alone has
/// a cost of its own, as of 200 elements.
template <class Row, class Solve>
HWY_INLINE void for_each_layout(std::span<Row> rows, std::ptrdiff_t n, Layout layout, Solve solve) {
  const bool fits = std::ssize(rows) * (n + 200) > kWidth * n;
  if (layout == Layout::tile || (layout == Layout::shorter && fits)) {
    return solve(Entries<true>(n), rows);
  }
  for (Row& row : rows) solve(Entries<false>(n), std::span<Row>(&row, 1));
}

}  // namespace lapsum::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
