#include "cpu/primitives/radix_sort.h"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <utility>

#include "cpu/primitives/parallel.h"
#include "cpu/primitives/prefetch.h"

namespace lapsum::cpu {
namespace {

// From this length on a look at the row costs less than to fail on it.
constexpr std::ptrdiff_t kLook = 512;

// How many bits there are in each of the two digits of an element: sixteen steps for every element, or
// too many elements fall into one.
int digit_bits(std::ptrdiff_t n) {
  int bits = 8;
  while (bits < 11 && std::ptrdiff_t{1} << (2 * bits) < 16 * n) ++bits;
  return bits;
}

void to_begins(std::span<Index> counts) {
  Index sum = 0;
  for (Index& count : counts) sum += std::exchange(count, sum);
}

// The chance that two elements differ but share the eight highest of their `bits` bits, from a look at
// few of them. Ties do no harm: they come in their order.
template <class T>
double crowding(const T* x, std::ptrdiff_t n, const Digits<T>& digits, int bits) {
  constexpr std::ptrdiff_t kMostLooks = 256;
  const std::ptrdiff_t looks = std::clamp<std::ptrdiff_t>(n / 16, 32, kMostLooks);
  std::array<T, kMostLooks> values;
  std::array<std::uint32_t, kMostLooks> at;
  for (std::ptrdiff_t i = 0; i < looks; ++i) values[i] = x[i * (n / looks)];
  digits.of(values.data(), looks, at.data());
  std::array<T, 256> first;
  std::array<std::uint16_t, 256> count{};
  double pairs = 0;
  for (std::ptrdiff_t i = 0; i < looks; ++i) {
    const std::uint32_t bin = at[i] >> std::max(0, bits - 8);
    if (count[bin] == 0) {
      first[bin] = values[i];
      count[bin] = 1;
    } else if (values[i] != first[bin]) {
      pairs += count[bin]++;
    }
  }
  return 2 * pairs / static_cast<double>(looks * looks);
}

// Both passes: room.digits holds the elements by their numbers of 2 * bits bits then.
template <int bits>
void sort_digits(std::ptrdiff_t n, const RadixRoom& room) {
  constexpr std::uint32_t kSize = std::uint32_t{1} << bits;
  constexpr int kIndexBits = 32 - bits;  // n is below 2^21: the high digit travels above the index
  std::array<Index, kSize> low{};
  std::array<Index, kSize> high{};
  std::uint32_t* digits = room.digits.data();
  std::uint32_t* packed = room.packed.data();
  for (std::ptrdiff_t i = 0; i < n; ++i) {
    ++low[digits[i] % kSize];
    ++high[digits[i] / kSize];
  }
  to_begins(low);
  to_begins(high);
  for (std::ptrdiff_t i = 0; i < n; ++i) {
    const std::uint32_t digit = digits[i];
    packed[low[digit % kSize]++] = digit / kSize << kIndexBits | static_cast<std::uint32_t>(i);
  }
  for (std::ptrdiff_t i = 0; i < n; ++i) {
    const std::uint32_t both = packed[i];
    digits[high[both >> kIndexBits]++] = both & ((std::uint32_t{1} << kIndexBits) - 1);
  }
}

void sort_digits(std::ptrdiff_t n, int bits, const RadixRoom& room) {
  switch (bits) {
    case 8:
      return sort_digits<8>(n, room);
    case 9:
      return sort_digits<9>(n, room);
    case 10:
      return sort_digits<10>(n, room);
    default:
      return sort_digits<11>(n, room);
  }
}

// Writes the elements in their order, moving each before the greater ones that it follows: all of
// them have its digits. False if that would become long.
template <class T, class Name>
bool insert_all(const T* x, std::ptrdiff_t n, T sign, const std::uint32_t* elements, Name&& name,
                double* sorted, Index* order) {
  std::ptrdiff_t moves = n;
  double last = -std::numeric_limits<double>::infinity();
  for (std::ptrdiff_t i = 0; i < n; ++i) {
    const std::uint32_t element = elements[i];
    const double value = static_cast<double>(sign * x[element]) + 0.0;  // -0 + 0 is +0
    std::ptrdiff_t j = i;
    if (value < last) {
      for (; j > 0 && value < sorted[j - 1]; --j) {
        sorted[j] = sorted[j - 1];
        order[j] = order[j - 1];
      }
      moves -= i - j;
      if (moves < 0) return false;
    } else {
      last = value;
    }
    sorted[j] = value;
    order[j] = name(element);
  }
  return true;
}

}  // namespace

template <class T>
bool radix_sort(const T* x, std::ptrdiff_t n, bool negate, const Index* names, double* sorted,
                Index* order, const RadixRoom& room) {
  if (n == 0) return true;
  const int bits = digit_bits(n);
  const Digits<T> digits(extent(x, n), negate, (std::uint32_t{1} << (2 * bits)) - 1);
  if (!digits.exist()) return false;
  // Elements that share all their bits are moved one by one: about one in each step at most.
  const auto steps = static_cast<double>(std::uint32_t{1} << (2 * bits - 8));
  if (n >= kLook && crowding(x, n, digits, 2 * bits) * static_cast<double>(n) > steps) return false;
  digits.of(x, n, room.digits.data());
  sort_digits(n, bits, room);
  const std::uint32_t* elements = room.digits.data();
  const T sign = negate ? T(-1) : T(1);
  if (!names) {
    return insert_all(x, n, sign, elements, [](Index i) { return i; }, sorted, order);
  }
  std::copy_n(names, n, room.packed.begin());
  const auto name = [&](Index i) { return room.packed[i]; };
  if (insert_all(x, n, sign, elements, name, sorted, order)) return true;
  if (names == order) std::copy_n(room.packed.begin(), n, order);
  return false;
}

template <class T>
Buckets<T> cut_by_value(const T* x, std::ptrdiff_t n, bool negate, Index* order, Arena& arena,
                        int threads) {
  constexpr std::ptrdiff_t kSize = 1 << 13;
  const auto chunk_extent = [&](std::ptrdiff_t begin, std::ptrdiff_t end) {
    return extent(x + begin, end - begin);
  };
  const int bits =
      std::clamp(static_cast<int>(std::bit_width(static_cast<std::size_t>(n / kSize))), 6, 10);
  const std::ptrdiff_t count = std::ptrdiff_t{1} << bits;
  const Digits<T> digits(sum_chunks<Extent<T>>(n, threads, chunk_extent), negate,
                         static_cast<std::uint32_t>(count - 1));
  if (!digits.exist() || crowding(x, n, digits, bits) > 0.1) return {};
  std::span<T> values = arena.take<T>(n);
  std::span<std::ptrdiff_t> begins = arena.take<std::ptrdiff_t>(count + 1);

  // Each thread has a part of the row, and in every bucket a place for what its part brings there.
  const std::ptrdiff_t parts = threads;
  std::span<Index> places = arena.take<Index>(parts * count);
  std::fill(places.begin(), places.end(), Index{0});
  const auto in_blocks = [&](std::ptrdiff_t part, auto&& body) {
    constexpr std::ptrdiff_t kBlock = 1024;
    std::array<std::uint32_t, kBlock> block;
    const std::ptrdiff_t end = n * (part + 1) / parts;
    for (std::ptrdiff_t i = n * part / parts; i < end; i += kBlock) {
      const std::ptrdiff_t size = std::min(kBlock, end - i);
      digits.of(x + i, size, block.data());
      for (std::ptrdiff_t l = 0; l < size; ++l) body(i + l, block[l]);
    }
  };
  parallel_for(parts, threads, [&](std::ptrdiff_t part, int) {
    Index* at = &places[part * count];
    in_blocks(part, [&](std::ptrdiff_t, std::uint32_t b) { ++at[b]; });
  });
  Index sum = 0;
  for (std::ptrdiff_t b = 0; b < count; ++b) {
    begins[b] = sum;
    for (std::ptrdiff_t part = 0; part < parts; ++part) {
      sum += std::exchange(places[part * count + b], sum);
    }
    if (sum - begins[b] > n / 2) return {};
  }
  begins[count] = n;
  parallel_for(parts, threads, [&](std::ptrdiff_t part, int) {
    Index* at = &places[part * count];
    in_blocks(part, [&](std::ptrdiff_t i, std::uint32_t b) {
      const Index place = at[b]++;
      expect_write(&values[place] + kCacheLine / sizeof(T));
      expect_write(&order[place] + kCacheLine / sizeof(Index));
      values[place] = x[i];
      order[place] = static_cast<Index>(i);
    });
  });
  return {begins, values};
}

template bool radix_sort(const float*, std::ptrdiff_t, bool, const Index*, double*, Index*,
                         const RadixRoom&);
template bool radix_sort(const double*, std::ptrdiff_t, bool, const Index*, double*, Index*,
                         const RadixRoom&);
template Buckets<float> cut_by_value(const float*, std::ptrdiff_t, bool, Index*, Arena&, int);
template Buckets<double> cut_by_value(const double*, std::ptrdiff_t, bool, Index*, Arena&, int);

}  // namespace lapsum::cpu
