// Parts are cut at keys of a sample. What every chunk brings to every part is counted first, so that
// chunks can be moved by all threads at once. Highway compiles what is inside HWY_NAMESPACE once per
// instruction set.
#include "cpu/primitives/partition.h"

#include <algorithm>
#include <array>
#include <bit>

#include "cpu/primitives/parallel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/primitives/partition.cpp"
#include <hwy/foreach_target.h>
// clang-format off: these must follow foreach_target.h
#include <hwy/highway.h>
#include "cpu/primitives/compress-inl.h"
// clang-format on

#ifndef LAPSUM_PARTITION_ONCE
#define LAPSUM_PARTITION_ONCE
namespace lapsum::cpu {

// Where some keys of a part go: there is exactly room for them.
template <class Key>
struct PlaceInPart {
  Key* begin;
  Key* end;
};

}  // namespace lapsum::cpu
#endif

HWY_BEFORE_NAMESPACE();
namespace lapsum::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// counts[p] = how many of the n keys are not below cuts[p].
template <class Key>
HWY_INLINE void count_in(const Key* keys, std::ptrdiff_t n, std::span<const Key> cuts,
                         std::ptrdiff_t* counts) {
  const hn::ScalableTag<Key> d;
  const auto lanes = static_cast<std::ptrdiff_t>(hn::Lanes(d));
  for (std::size_t p = 0; p < cuts.size(); ++p) {
    const auto cut = hn::Set(d, cuts[p]);
    std::ptrdiff_t below = 0;
    std::ptrdiff_t i = 0;
    for (; i + lanes <= n; i += lanes) {
      below += static_cast<std::ptrdiff_t>(hn::CountTrue(d, hn::Lt(hn::LoadU(d, keys + i), cut)));
    }
    for (; i < n; ++i) below += keys[i] < cuts[p] ? 1 : 0;
    counts[p] = n - below;
  }
}

// Moves the keys of part p, which are not below cuts[p - 1] but below cuts[p], to places[p]. Nothing
// is written behind its end, where another thread may write.
template <class Key>
HWY_INLINE void move_in(const Key* keys, std::ptrdiff_t n, std::span<const Key> cuts,
                        std::span<const PlaceInPart<Key>> places) {
  const hn::ScalableTag<Key> d;
  const auto lanes = static_cast<std::ptrdiff_t>(hn::Lanes(d));
  for (std::size_t p = 0; p < places.size(); ++p) {
    const bool has_low = p > 0;
    const bool has_high = p < cuts.size();
    const auto low = hn::Set(d, has_low ? cuts[p - 1] : Key{0});
    const auto high = hn::Set(d, has_high ? cuts[p] : Key{0});
    auto [to, end] = places[p];
    std::ptrdiff_t i = 0;
    for (; i + lanes <= n; i += lanes) {
      const auto v = hn::LoadU(d, keys + i);
      auto chosen = hn::Not(hn::Lt(v, low));
      if (has_high) chosen = hn::And(chosen, hn::Lt(v, high));
      const auto count = static_cast<std::ptrdiff_t>(hn::CountTrue(d, chosen));
      const auto front = compress(d, v, chosen);
      if (end - to >= lanes) {
        hn::StoreU(front, d, to);
      } else {
        HWY_ALIGN Key last[hn::MaxLanes(d)];
        hn::Store(front, d, last);
        std::copy_n(last, count, to);
      }
      to += count;
    }
    for (; i < n; ++i) {
      if ((!has_low || keys[i] >= cuts[p - 1]) && (!has_high || keys[i] < cuts[p])) *to++ = keys[i];
    }
  }
}

template <class T>
HWY_INLINE Taken take_in(const T* x, std::ptrdiff_t n, T sign, T low, T high, T* values,
                         std::uint32_t* names) {
  const hn::ScalableTag<T> d;
  const hn::Rebind<std::uint32_t, decltype(d)> dn;
  const auto lanes = static_cast<std::ptrdiff_t>(hn::Lanes(d));
  static_assert(hn::MaxLanes(d) <= kTakenRoom);
  const auto turn = hn::Set(d, sign), from = hn::Set(d, low), to = hn::Set(d, high);
  auto name = hn::Iota(dn, 0);
  Taken taken{0, 0};
  std::ptrdiff_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    const auto v = hn::LoadU(d, x + i);
    const auto r = hn::Mul(turn, v);
    const std::uint32_t below = bits_of(d, hn::Lt(r, from));
    const std::uint32_t chosen = bits_of(d, hn::Lt(r, to)) & ~below;
    hn::StoreU(compress(d, v, chosen), d, values + taken.count);
    hn::StoreU(compress(dn, name, chosen), dn, names + taken.count);
    taken.below += std::popcount(below);
    taken.count += std::popcount(chosen);
    name = hn::Add(name, hn::Set(dn, static_cast<std::uint32_t>(lanes)));
  }
  for (; i < n; ++i) {
    const T r = sign * x[i];
    values[taken.count] = x[i];
    names[taken.count] = static_cast<std::uint32_t>(i);
    taken.below += r < low ? 1 : 0;
    taken.count += r >= low && r < high ? 1 : 0;
  }
  return taken;
}

Taken take_float(const float* x, std::ptrdiff_t n, float sign, float low, float high, float* values,
                 std::uint32_t* names) {
  return take_in(x, n, sign, low, high, values, names);
}
Taken take_double(const double* x, std::ptrdiff_t n, double sign, double low, double high,
                  double* values, std::uint32_t* names) {
  return take_in(x, n, sign, low, high, values, names);
}

#define LAPSUM_PARTITION_OF(bits)                                                        \
  void count_##bits(const std::uint##bits##_t* keys, std::ptrdiff_t n,                   \
                    std::span<const std::uint##bits##_t> cuts, std::ptrdiff_t* counts) { \
    count_in(keys, n, cuts, counts);                                                     \
  }                                                                                      \
  void move_##bits(const std::uint##bits##_t* keys, std::ptrdiff_t n,                    \
                   std::span<const std::uint##bits##_t> cuts,                            \
                   std::span<const PlaceInPart<std::uint##bits##_t>> places) {           \
    move_in(keys, n, cuts, places);                                                      \
  }
LAPSUM_PARTITION_OF(32)
LAPSUM_PARTITION_OF(64)
#undef LAPSUM_PARTITION_OF

}  // namespace lapsum::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lapsum::cpu {
namespace {

#define LAPSUM_PARTITION_OF(bits)                                                 \
  HWY_EXPORT(count_##bits);                                                       \
  HWY_EXPORT(move_##bits);                                                        \
  void count(const std::uint##bits##_t* keys, std::ptrdiff_t n,                   \
             std::span<const std::uint##bits##_t> cuts, std::ptrdiff_t* counts) { \
    HWY_DYNAMIC_DISPATCH(count_##bits)(keys, n, cuts, counts);                    \
  }                                                                               \
  void move(const std::uint##bits##_t* keys, std::ptrdiff_t n,                    \
            std::span<const std::uint##bits##_t> cuts,                            \
            std::span<const PlaceInPart<std::uint##bits##_t>> places) {           \
    HWY_DYNAMIC_DISPATCH(move_##bits)(keys, n, cuts, places);                     \
  }
LAPSUM_PARTITION_OF(32)
LAPSUM_PARTITION_OF(64)
#undef LAPSUM_PARTITION_OF

constexpr int kMostParts = 8;

// Fills `cuts` with keys that cut them into parts: quantiles of a sample, one of every so many, not
// always the same one, for rows may have periods.
template <class Key>
std::span<const Key> cut(std::span<const Key> keys, std::span<Key> cuts) {
  constexpr std::ptrdiff_t kLooks = 128;  // in every part: it is longer or shorter by a tenth
  std::array<Key, kMostParts * kLooks> looks;
  const std::ptrdiff_t parts = std::ssize(cuts) + 1;
  const std::ptrdiff_t size = std::min(std::ssize(keys), parts * kLooks);
  for (std::ptrdiff_t i = 0; i < size; ++i) {
    const std::ptrdiff_t step = std::ssize(keys) / size;
    const auto turn = static_cast<std::uint32_t>(i) * 2654435769u;
    looks[i] = keys[i * step + static_cast<std::ptrdiff_t>(turn >> 8) % step];
  }
  std::sort(looks.begin(), looks.begin() + size);
  for (std::ptrdiff_t p = 1; p < parts; ++p) cuts[p - 1] = size > 0 ? looks[p * size / parts] : 0;
  return cuts;
}

}  // namespace

template <class Key>
std::span<const std::ptrdiff_t> part_by_value(std::span<const Key> keys, int parts, Key* to,
                                              Arena& arena, int threads) {
  const std::ptrdiff_t n = std::ssize(keys);
  parts = std::clamp(parts, 1, kMostParts);
  std::array<Key, kMostParts> at;
  const std::span<const Key> cuts = cut(keys, std::span(at).first(parts - 1));

  std::span<std::ptrdiff_t> begins = arena.take<std::ptrdiff_t>(parts + 1);
  const Arena::Scope scope(arena);
  const Chunks chunks(n);
  std::span<std::ptrdiff_t> counts = arena.take<std::ptrdiff_t>(chunks.count() * parts);
  std::span<PlaceInPart<Key>> places = arena.take<PlaceInPart<Key>>(chunks.count() * parts);
  for_each_chunk(n, threads, [&](std::ptrdiff_t begin, std::ptrdiff_t end) {
    std::ptrdiff_t* from = &counts[chunks.at(begin) * parts];
    from[0] = end - begin;
    count(&keys[begin], end - begin, cuts, from + 1);
    for (int p = 1; p < parts; ++p) from[p - 1] -= from[p];
  });
  std::ptrdiff_t sum = 0;
  for (int p = 0; p < parts; ++p) {
    begins[p] = sum;
    for (std::ptrdiff_t c = 0; c < chunks.count(); ++c) {
      const std::ptrdiff_t size = counts[c * parts + p];
      places[c * parts + p] = {to + sum, to + sum + size};
      sum += size;
    }
  }
  begins[parts] = n;
  for_each_chunk(n, threads, [&](std::ptrdiff_t begin, std::ptrdiff_t end) {
    move(&keys[begin], end - begin, cuts, places.subspan(chunks.at(begin) * parts, parts));
  });
  return begins;
}

template std::span<const std::ptrdiff_t> part_by_value(std::span<const std::uint32_t>, int,
                                                       std::uint32_t*, Arena&, int);
template std::span<const std::ptrdiff_t> part_by_value(std::span<const std::uint64_t>, int,
                                                       std::uint64_t*, Arena&, int);

HWY_EXPORT(take_float);
HWY_EXPORT(take_double);

template <>
Taken take_between(const float* x, std::ptrdiff_t n, float sign, float low, float high,
                   float* values, std::uint32_t* names) {
  return HWY_DYNAMIC_DISPATCH(take_float)(x, n, sign, low, high, values, names);
}
template <>
Taken take_between(const double* x, std::ptrdiff_t n, double sign, double low, double high,
                   double* values, std::uint32_t* names) {
  return HWY_DYNAMIC_DISPATCH(take_double)(x, n, sign, low, high, values, names);
}

}  // namespace lapsum::cpu
#endif  // HWY_ONCE
