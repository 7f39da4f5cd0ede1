// A sorting network on vectors: the numbers of each lane are sorted by themselves, without a branch.
// Included once per instruction set, after hwy/highway.h.
#if defined(LAPSUM_NETWORK_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef LAPSUM_NETWORK_INL_H
#undef LAPSUM_NETWORK_INL_H
#else
#define LAPSUM_NETWORK_INL_H
#endif

#include <cstddef>

HWY_BEFORE_NAMESPACE();
namespace lapsum::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

constexpr std::ptrdiff_t kGroup = 8;

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

template <class D>
HWY_INLINE void sort_group(D d, hn::TFromD<D>* keys) {
  constexpr int kPairs[][2] = {{0, 1}, {2, 3}, {4, 5}, {6, 7}, {0, 2}, {1, 3}, {4, 6},
                               {5, 7}, {1, 2}, {5, 6}, {0, 4}, {1, 5}, {2, 6}, {3, 7},
                               {2, 4}, {3, 5}, {1, 2}, {3, 4}, {5, 6}};
  const auto w = static_cast<std::ptrdiff_t>(hn::Lanes(d));
  hn::Vec<D> v[kGroup];
  for (std::ptrdiff_t i = 0; i < kGroup; ++i) v[i] = hn::LoadU(d, keys + i * w);
  for (const auto& [i, j] : kPairs) exchange(v[i], v[j]);
  for (std::ptrdiff_t i = 0; i < kGroup; ++i) hn::StoreU(v[i], d, keys + i * w);
}

// The last two rounds of a merge, of distances 2 and 1, in one go.
template <class D>
HWY_INLINE void finish_merge(D d, hn::TFromD<D>* keys, std::ptrdiff_t begin, std::ptrdiff_t end) {
  const auto w = static_cast<std::ptrdiff_t>(hn::Lanes(d));
  const auto at = [&](std::ptrdiff_t i) HWY_ATTR { return hn::LoadU(d, keys + i * w); };
  const auto put = [&](auto v, std::ptrdiff_t i) HWY_ATTR { hn::StoreU(v, d, keys + i * w); };
  auto last = at(begin + 1);
  std::ptrdiff_t i = begin + 2;
  for (; i + 4 <= end; i += 4) {
    auto a = at(i), b = at(i + 1), c = at(i + 2), e = at(i + 3);
    exchange(a, c);
    exchange(b, e);
    exchange(last, a);
    exchange(b, c);
    put(last, i - 1);
    put(a, i);
    put(b, i + 1);
    put(c, i + 2);
    last = e;
  }
  auto a = at(i);
  exchange(last, a);
  put(last, i - 1);
  put(a, i);
}

/// Sorts n vectors, n being a multiple of kGroup: by Batcher's odd-even merges.
template <class D>
HWY_INLINE void sort_lanes(D d, hn::TFromD<D>* keys, std::ptrdiff_t n) {
  const auto w = static_cast<std::ptrdiff_t>(hn::Lanes(d));
  for (std::ptrdiff_t i = 0; i < n; i += kGroup) sort_group(d, keys + i * w);
  for (std::ptrdiff_t p = kGroup; p < n; p *= 2) {
    for (std::ptrdiff_t k = p; k > 2; k /= 2) {
      const std::ptrdiff_t last = n - k;  // exchanges beyond n would not move anything
      for (std::ptrdiff_t block = 0; block < last; block += 2 * p) {
        for (std::ptrdiff_t j = block + k % p; j + k < block + 2 * p && j < last; j += 2 * k) {
          const std::ptrdiff_t end = HWY_MIN(j + k, last);
          for (std::ptrdiff_t i = j; i < end; ++i) {
            auto a = hn::LoadU(d, keys + i * w), b = hn::LoadU(d, keys + (i + k) * w);
            exchange(a, b);
            hn::StoreU(a, d, keys + i * w);
            hn::StoreU(b, d, keys + (i + k) * w);
          }
        }
      }
    }
    for (std::ptrdiff_t block = 0; block < n; block += 2 * p) {
      finish_merge(d, keys, block, HWY_MIN(block + 2 * p, n));
    }
  }
}

}  // namespace lapsum::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
