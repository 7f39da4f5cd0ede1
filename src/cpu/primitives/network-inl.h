// A sorting network on vectors: the numbers of each lane are sorted by themselves, without a branch.
// Included once per instruction set, after hwy/highway.h.
#if defined(LAPSUM_NETWORK_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef LAPSUM_NETWORK_INL_H
#undef LAPSUM_NETWORK_INL_H
#else
#define LAPSUM_NETWORK_INL_H
#endif

#include <bit>
#include <cstddef>

HWY_BEFORE_NAMESPACE();
namespace lapsum::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

constexpr std::ptrdiff_t kGroup = 8;

template <class D>
inline constexpr std::ptrdiff_t kBytes = hn::MaxLanes(D()) * sizeof(hn::TFromD<D>);

/// The next length that sort_lanes takes.
constexpr std::ptrdiff_t whole_groups(std::ptrdiff_t n) {
  return (n + kGroup - 1) / kGroup * kGroup;
}

template <class V>
HWY_INLINE void exchange(V& a, V& b) {
  const V low = hn::Min(a, b);
  b = hn::Max(a, b);
  a = low;
}

// The exchanges stand one by one: a loop over them would keep its vectors in memory.
template <class D>
HWY_INLINE void sort_group(D d, hn::TFromD<D>* keys) {
  const auto w = static_cast<std::ptrdiff_t>(hn::Lanes(d));
  auto a = hn::LoadU(d, keys), b = hn::LoadU(d, keys + w);
  auto c = hn::LoadU(d, keys + 2 * w), e = hn::LoadU(d, keys + 3 * w);
  auto f = hn::LoadU(d, keys + 4 * w), g = hn::LoadU(d, keys + 5 * w);
  auto h = hn::LoadU(d, keys + 6 * w), i = hn::LoadU(d, keys + 7 * w);
  exchange(a, b), exchange(c, e), exchange(f, g), exchange(h, i);
  exchange(a, c), exchange(b, e), exchange(f, h), exchange(g, i);
  exchange(b, c), exchange(g, h), exchange(a, f), exchange(e, i);
  exchange(b, g), exchange(c, h), exchange(c, f), exchange(e, g);
  exchange(b, c), exchange(e, f), exchange(g, h);
  hn::StoreU(a, d, keys), hn::StoreU(b, d, keys + w);
  hn::StoreU(c, d, keys + 2 * w), hn::StoreU(e, d, keys + 3 * w);
  hn::StoreU(f, d, keys + 4 * w), hn::StoreU(g, d, keys + 5 * w);
  hn::StoreU(h, d, keys + 6 * w), hn::StoreU(i, d, keys + 7 * w);
}

/// Neighbouring vectors.
template <class D, std::ptrdiff_t kCount>
struct Some {
  using T = hn::TFromD<D>;

  explicit HWY_INLINE Some(const T* from) {
    for (std::ptrdiff_t c = 0; c < kCount; ++c) v[c] = hn::LoadU(D(), from + c * lanes());
  }
  HWY_INLINE void store(T* to) const {
    for (std::ptrdiff_t c = 0; c < kCount; ++c) hn::StoreU(v[c], D(), to + c * lanes());
  }
  static HWY_INLINE std::ptrdiff_t lanes() { return static_cast<std::ptrdiff_t>(hn::Lanes(D())); }

  hn::Vec<D> v[kCount];
};
template <class D, std::ptrdiff_t kCount>
HWY_INLINE void exchange(Some<D, kCount>& a, Some<D, kCount>& b) {
  for (std::ptrdiff_t c = 0; c < kCount; ++c) exchange(a.v[c], b.v[c]);
}

// Rounds of Batcher's odd-even merge, two at a time: what both exchange is loaded and stored once.
// Each takes kCount vectors from `at` on together with those at multiples of a step from there.
template <class D, std::ptrdiff_t kCount>
struct Rounds {
  using T = hn::TFromD<D>;
  using S = Some<D, kCount>;

  /// The first round, of one step.
  static HWY_INLINE void first(T* at, std::ptrdiff_t step) {
    S a(at), b(at + step);
    exchange(a, b);
    a.store(at);
    b.store(at + step);
  }

  /// The first two, of two steps and one; the last of four may be beyond the end.
  static HWY_INLINE void first_two(T* at, std::ptrdiff_t step, bool has_last) {
    S a(at), b(at + step), c(at + 2 * step);
    exchange(a, c);
    if (has_last) {
      S e(at + 3 * step);
      exchange(b, e);
      e.store(at + 3 * step);
    }
    exchange(b, c);
    a.store(at);
    b.store(at + step);
    c.store(at + 2 * step);
  }

  /// Any other two, for `count` numbers, three or more: in fours, from the third on.
  static HWY_INLINE void next_two(T* at, std::ptrdiff_t step, std::ptrdiff_t count) {
    T* to = at + step;
    S last(to);
    for (count -= 2; count >= 4; count -= 4) {
      S a(to + step), b(to + 2 * step), c(to + 3 * step), e(to + 4 * step);
      exchange(a, c);
      exchange(b, e);
      exchange(last, a);
      exchange(b, c);
      last.store(to);
      a.store(to + step);
      b.store(to + 2 * step);
      c.store(to + 3 * step);
      last = e;
      to += 4 * step;
    }
    if (count > 0) {
      S a(to + step);
      if (count == 3) {
        S b(to + 2 * step), c(to + 3 * step);
        exchange(a, c);
        exchange(b, c);
        b.store(to + 2 * step);
        c.store(to + 3 * step);
      }
      exchange(last, a);
      a.store(to + step);
    }
    last.store(to);
  }
};

/// Merges the first p of `length` vectors with the others, which are at most p. Vectors beyond them
/// would hold what is behind all: exchanges with these would not move anything.
template <class D>
HWY_INLINE void merge_odd_even(D d, hn::TFromD<D>* keys, std::ptrdiff_t p, std::ptrdiff_t length) {
  if (length <= p) return;
  // Vectors of a line of the cache; the steps of the rounds that take so many are multiples of 4.
  constexpr std::ptrdiff_t kInLine = kBytes<D> >= 64 ? 1 : kBytes<D> >= 32 ? 2 : 4;
  using One = Rounds<D, 1>;
  using Line = Rounds<D, kInLine>;
  const auto w = static_cast<std::ptrdiff_t>(hn::Lanes(d));
  std::ptrdiff_t last = p;  // the step of the last round
  if (std::countr_zero(static_cast<std::size_t>(p)) % 2 == 0) {
    for (std::ptrdiff_t t = 0; t < length - p; ++t) One::first(keys + t * w, p * w);
  } else {
    last = p / 2;
    for (std::ptrdiff_t t = 0; t < HWY_MIN(last, length - p); ++t) {
      One::first_two(keys + t * w, last * w, t + 3 * last < length);
    }
  }
  while (last > 1) {
    last /= 4;
    const std::ptrdiff_t whole = length / last, more = length % last;
    if (last == 1) {
      One::next_two(keys, w, length);
    } else {
      for (std::ptrdiff_t t = 0; t < last; t += kInLine) {
        Line::next_two(keys + t * w, last * w, whole + (t < more));
      }
    }
  }
}

// Two rounds of a bitonic merge on four places of which the last may be beyond the end, where they
// would hold what is behind all.
template <int kThere, class V>
HWY_INLINE void clean_four(V& a, V& b, V& c, V& e) {
  if constexpr (kThere > 2) exchange(a, c);
  if constexpr (kThere > 3) exchange(b, e);
  if constexpr (kThere > 1) exchange(a, b);
  if constexpr (kThere > 3) exchange(c, e);
}

// Its last three rounds, on vectors that follow each other.
template <class D>
HWY_INLINE void clean_group(D d, hn::TFromD<D>* keys) {
  const auto w = static_cast<std::ptrdiff_t>(hn::Lanes(d));
  auto a = hn::LoadU(d, keys), b = hn::LoadU(d, keys + w);
  auto c = hn::LoadU(d, keys + 2 * w), e = hn::LoadU(d, keys + 3 * w);
  auto f = hn::LoadU(d, keys + 4 * w), g = hn::LoadU(d, keys + 5 * w);
  auto h = hn::LoadU(d, keys + 6 * w), i = hn::LoadU(d, keys + 7 * w);
  exchange(a, f), exchange(b, g), exchange(c, h), exchange(e, i);
  clean_four<4>(a, b, c, e);
  clean_four<4>(f, g, h, i);
  hn::StoreU(a, d, keys), hn::StoreU(b, d, keys + w);
  hn::StoreU(c, d, keys + 2 * w), hn::StoreU(e, d, keys + 3 * w);
  hn::StoreU(f, d, keys + 4 * w), hn::StoreU(g, d, keys + 5 * w);
  hn::StoreU(h, d, keys + 6 * w), hn::StoreU(i, d, keys + 7 * w);
}

// body.operator()<kThere>(t) for the places t of a quarter of `size`; of the four at t, a quarter
// apart, kThere are among `count`.
template <class Body>
HWY_INLINE void for_each_in_quarter(std::ptrdiff_t size, std::ptrdiff_t count, Body body) {
  const std::ptrdiff_t quarter = size / 4, more = count % quarter;
  const auto run = [&](std::ptrdiff_t there, std::ptrdiff_t begin, std::ptrdiff_t end) HWY_ATTR {
    const auto all = [&]<int kThere>() HWY_ATTR {
      for (std::ptrdiff_t t = begin; t < end; ++t) body.template operator()<kThere>(t);
    };
    if (there == 4) return all.template operator()<4>();
    if (there == 3) return all.template operator()<3>();
    if (there == 2) return all.template operator()<2>();
    if (there == 1) return all.template operator()<1>();
    all.template operator()<0>();
  };
  run(count / quarter + 1, 0, more);
  run(count / quarter, more, quarter);
}

// Sorts a bitonic sequence of `size` vectors of which `count` are there. Quarters are done one after
// the other.
template <class D>
void clean_lanes(D d, hn::TFromD<D>* keys, std::ptrdiff_t size, std::ptrdiff_t count) {
  if (count <= 0) return;
  if (size == kGroup) return clean_group(d, keys);
  const auto w = static_cast<std::ptrdiff_t>(hn::Lanes(d));
  if (size == 2 * kGroup) {
    if (count > kGroup) {
      for (std::ptrdiff_t t = 0; t < kGroup; ++t) Rounds<D, 1>::first(keys + t * w, kGroup * w);
      clean_group(d, keys + kGroup * w);
    }
    return clean_group(d, keys);
  }
  const std::ptrdiff_t quarter = size / 4, step = quarter * w;
  for_each_in_quarter(size, count, [=]<int kThere>(std::ptrdiff_t t) HWY_ATTR {
    if constexpr (kThere > 1) {
      hn::TFromD<D>* const at = keys + t * w;
      auto a = hn::LoadU(d, at), b = hn::LoadU(d, at + step), c = a, e = a;
      if constexpr (kThere > 2) c = hn::LoadU(d, at + 2 * step);
      if constexpr (kThere > 3) e = hn::LoadU(d, at + 3 * step);
      clean_four<kThere>(a, b, c, e);
      hn::StoreU(a, d, at), hn::StoreU(b, d, at + step);
      if constexpr (kThere > 2) hn::StoreU(c, d, at + 2 * step);
      if constexpr (kThere > 3) hn::StoreU(e, d, at + 3 * step);
    }
  });
  for (int i = 0; i < 4; ++i) {
    clean_lanes(d, keys + i * step, quarter, HWY_MIN(count - i * quarter, quarter));
  }
}

/// The same by a bitonic merge, for p from 32 on: some exchanges more, but after its first three rounds,
/// which are done together, eighths of all vectors are on their own, and none waits for others.
template <class D>
HWY_INLINE void merge_bitonic(D d, hn::TFromD<D>* keys, std::ptrdiff_t p, std::ptrdiff_t length) {
  const auto w = static_cast<std::ptrdiff_t>(hn::Lanes(d));
  const std::ptrdiff_t quarter = p / 4, step = quarter * w;
  for_each_in_quarter(p, length - p, [=]<int kThere>(std::ptrdiff_t t) HWY_ATTR {
    hn::TFromD<D>* const low = keys + (quarter - 1 - t) * w;
    hn::TFromD<D>* const high = keys + (p + t) * w;
    auto a = hn::LoadU(d, low), b = hn::LoadU(d, low + step);
    auto c = hn::LoadU(d, low + 2 * step), e = hn::LoadU(d, low + 3 * step);
    auto f = a, g = a, h = a, i = a;
    if constexpr (kThere > 0) f = hn::LoadU(d, high), exchange(e, f);
    if constexpr (kThere > 1) g = hn::LoadU(d, high + step), exchange(c, g);
    if constexpr (kThere > 2) h = hn::LoadU(d, high + 2 * step), exchange(b, h);
    if constexpr (kThere > 3) i = hn::LoadU(d, high + 3 * step), exchange(a, i);
    clean_four<4>(a, b, c, e);
    clean_four<kThere>(f, g, h, i);
    hn::StoreU(a, d, low), hn::StoreU(b, d, low + step);
    hn::StoreU(c, d, low + 2 * step), hn::StoreU(e, d, low + 3 * step);
    if constexpr (kThere > 0) hn::StoreU(f, d, high);
    if constexpr (kThere > 1) hn::StoreU(g, d, high + step);
    if constexpr (kThere > 2) hn::StoreU(h, d, high + 2 * step);
    if constexpr (kThere > 3) hn::StoreU(i, d, high + 3 * step);
  });
  for (std::ptrdiff_t at = 0; at < length; at += quarter) {
    clean_lanes(d, keys + at * w, quarter, HWY_MIN(length - at, quarter));
  }
}

/// Sorts n vectors, n being a multiple of kGroup. Parts are sorted one after the other, so that those
/// which the nearest cache holds stay there for most of their rounds. Where a vector fills a line of the
/// cache, the strides of the odd-even merge meet in few places of it: for 1000 vectors of 512 bits it
/// takes 1.5 ns per element and the other 1.1; with 256 bits 2.4 and 2.7.
template <class D>
void sort_lanes(D d, hn::TFromD<D>* keys, std::ptrdiff_t n) {
  const auto w = static_cast<std::ptrdiff_t>(hn::Lanes(d));
  if (n <= kGroup) {
    if (n == kGroup) sort_group(d, keys);
    return;
  }
  const auto p = static_cast<std::ptrdiff_t>(std::bit_floor(static_cast<std::size_t>(n - 1)));
  sort_lanes(d, keys, p);
  sort_lanes(d, keys + p * w, n - p);
  if (kBytes<D> >= 64 && p >= 32) {
    merge_bitonic(d, keys, p, n);
  } else {
    merge_odd_even(d, keys, p, n);
  }
}

}  // namespace lapsum::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
