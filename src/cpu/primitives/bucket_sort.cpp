// Equal steps of the values are counted, and neighbouring ones joined to buckets of about one length.
#include "cpu/primitives/bucket_sort.h"

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>
#include <span>

#include "cpu/primitives/digits.h"
#include "cpu/primitives/tile.h"

namespace lapsum::cpu {
namespace {

// About how many elements a bucket holds: few enough to be joined of whole steps within kTileLength.
constexpr std::ptrdiff_t kBucket = 3 * kTileLength / 4;

// A row is counted and moved in parts that take turns, each with counters of its own: one that has just
// been written would be waited for.
constexpr std::ptrdiff_t kParts = 4;

// body(i, part) for the elements of a row; those of a part in their order.
template <class Body>
void for_each_in_turn(std::ptrdiff_t n, Body&& body) {
  const std::ptrdiff_t length = n / kParts;
  for (std::ptrdiff_t i = 0; i < length; ++i) {
    for (std::ptrdiff_t part = 0; part < kParts; ++part) body(part * length + i, part);
  }
  for (std::ptrdiff_t i = kParts * length; i < n; ++i) body(i, kParts - 1);
}

// How a row is cut: which bucket each step belongs to, and how many elements of each part a bucket has.
struct Cut {
  std::span<std::uint8_t> bucket_of;
  std::span<std::array<std::ptrdiff_t, kParts>> sizes;
  std::ptrdiff_t longest = 0;

  Cut(std::span<const std::array<Index, kParts>> counts, std::ptrdiff_t n, std::ptrdiff_t buckets,
      Arena& arena)
      : bucket_of(arena.take<std::uint8_t>(std::ssize(counts))),
        sizes(arena.take<std::array<std::ptrdiff_t, kParts>>(buckets)) {
    std::fill(sizes.begin(), sizes.end(), std::array<std::ptrdiff_t, kParts>{});
    std::ptrdiff_t b = 0, seen = 0;
    for (std::size_t step = 0; step < counts.size(); ++step) {
      bucket_of[step] = static_cast<std::uint8_t>(b);
      for (std::size_t part = 0; part < kParts; ++part) {
        sizes[b][part] += counts[step][part];
        seen += counts[step][part];
      }
      if (b + 1 < buckets && seen * buckets >= (b + 1) * n) ++b;
    }
    for (b = 0; b < buckets; ++b) longest = std::max(longest, size(b));
  }

  std::ptrdiff_t size(std::ptrdiff_t b) const {
    return std::accumulate(sizes[b].begin(), sizes[b].end(), std::ptrdiff_t{0});
  }
};

}  // namespace

bool bucket_sort(const float* x, std::ptrdiff_t n, bool negate, double* sorted, Index* order,
                 Arena& arena) {
  if (n == 0) return true;
  const Arena::Scope scope(arena);
  const std::ptrdiff_t steps =
      std::clamp<std::ptrdiff_t>(std::bit_ceil(static_cast<std::size_t>(n / 8)), 256, 4096);
  const Digits<float> digits(extent(x, n), negate, static_cast<std::uint32_t>(steps - 1));
  if (!digits.exist()) return false;
  std::uint32_t* const step_of = arena.take<std::uint32_t>(n).data();
  digits.of(x, n, step_of);
  const auto counts = arena.take<std::array<Index, kParts>>(steps);
  std::fill(counts.begin(), counts.end(), std::array<Index, kParts>{});
  for_each_in_turn(n, [counts = counts.data(), step_of](std::ptrdiff_t i, std::ptrdiff_t part) {
    ++counts[step_of[i]][static_cast<std::size_t>(part)];
  });

  const std::ptrdiff_t width = tile_rows();
  const std::ptrdiff_t buckets = (n + kBucket * width - 1) / (kBucket * width) * width;
  const Cut cut(counts, n, buckets, arena);
  if (cut.longest > kTileLength) return false;
  const std::ptrdiff_t room = cut.longest;
  float* const values = arena.take<float>(buckets * room).data();
  Index* const elements = arena.take<Index>(buckets * room).data();
  const auto next = arena.take<std::array<Index, kParts>>(buckets);
  for (std::ptrdiff_t b = 0; b < buckets; ++b) {
    std::ptrdiff_t place = b * room;
    for (std::size_t part = 0; part < kParts; ++part) {
      next[b][part] = static_cast<Index>(place);
      place += cut.sizes[b][part];
    }
  }
  for_each_in_turn(n, [=, next = next.data(), bucket_of = cut.bucket_of.data()](
                          std::ptrdiff_t i, std::ptrdiff_t part) {
    const Index place = next[bucket_of[step_of[i]]][static_cast<std::size_t>(part)]++;
    values[place] = x[i];
    elements[place] = static_cast<Index>(i);
  });

  std::ptrdiff_t begin = 0;
  for (std::ptrdiff_t first = 0; first < buckets; first += width) {
    const Arena::Scope inner(arena);
    Tile tile{};
    tile.rows = width;
    tile.n = 1;
    for (std::ptrdiff_t l = 0; l < width; ++l) tile.n = std::max(tile.n, cut.size(first + l));
    tile.sign.fill(negate ? -1 : 1);
    for (std::ptrdiff_t l = 0; l < width; ++l) {
      // What is behind all in its bucket stays there.
      float* const row = values + (first + l) * room;
      const std::ptrdiff_t size = cut.size(first + l);
      const Extent<float> all = size > 0 ? extent(row, size) : Extent<float>{0, 0, true};
      std::fill(row + size, row + tile.n, negate ? all.least : all.greatest);
      tile.x[l] = row;
    }
    const SortedRows rows = sort_rows(tile, arena);
    for (std::ptrdiff_t l = 0; l < width; ++l) {
      const Index* const element_of = elements + (first + l) * room;
      const std::ptrdiff_t size = cut.size(first + l);
      for (std::ptrdiff_t j = 0; j < size; ++j) {
        sorted[begin + j] = rows.values[j * rows.width + l];
        order[begin + j] = element_of[rows.order[j * rows.width + l]];
      }
      begin += size;
    }
  }
  return true;
}

}  // namespace lapsum::cpu
