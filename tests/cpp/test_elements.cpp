// Elements of half types, one at a time against their definition, and in vectors of every
// instruction set against that.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "cpu/primitives/element.h"
#include "guarded.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "test_elements.cpp"
#include <hwy/foreach_target.h>
// clang-format off: these must follow foreach_target.h
#include <hwy/highway.h>
#include "cpu/primitives/elements-inl.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace lapsum::cpu::HWY_NAMESPACE {

// Whole vectors only; returns how many elements there are in them. Lanes of double ask for as many
// floats as they are.
template <class D, class T>
HWY_INLINE std::ptrdiff_t load_in(D d, const T* x, std::ptrdiff_t n, float* to) {
  const auto lanes = static_cast<std::ptrdiff_t>(hn::Lanes(d));
  std::ptrdiff_t i = 0;
  for (; i + lanes <= n; i += lanes) hn::StoreU(load_elements(d, x + i), d, to + i);
  return i;
}
template <class D, class T>
HWY_INLINE std::ptrdiff_t store_in(D d, const float* x, std::ptrdiff_t n, bool exact, T* to) {
  const auto lanes = static_cast<std::ptrdiff_t>(hn::Lanes(d));
  std::ptrdiff_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    const auto v = hn::LoadU(d, x + i);
    if (exact) {
      store_exact(d, v, to + i);
    } else {
      store_elements(d, v, to + i);
    }
  }
  return i;
}

using Whole = hn::ScalableTag<float>;
using Part = hn::Rebind<float, hn::ScalableTag<double>>;

#define LAPSUM_ELEMENTS_OF(T)                                                                \
  std::ptrdiff_t load_##T(const T* x, std::ptrdiff_t n, bool part, float* to) {              \
    return part ? load_in(Part(), x, n, to) : load_in(Whole(), x, n, to);                    \
  }                                                                                          \
  std::ptrdiff_t store_##T(const float* x, std::ptrdiff_t n, bool part, bool exact, T* to) { \
    return part ? store_in(Part(), x, n, exact, to) : store_in(Whole(), x, n, exact, to);    \
  }
LAPSUM_ELEMENTS_OF(Half)
LAPSUM_ELEMENTS_OF(Bfloat16)
#undef LAPSUM_ELEMENTS_OF

}  // namespace lapsum::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "targets.h"  // brings highway.h: not before foreach_target.h

namespace lapsum::cpu {
namespace {

HWY_EXPORT(load_Half);
HWY_EXPORT(load_Bfloat16);
HWY_EXPORT(store_Half);
HWY_EXPORT(store_Bfloat16);

std::ptrdiff_t load(const Half* x, std::ptrdiff_t n, bool part, float* to) {
  return HWY_DYNAMIC_DISPATCH(load_Half)(x, n, part, to);
}
std::ptrdiff_t load(const Bfloat16* x, std::ptrdiff_t n, bool part, float* to) {
  return HWY_DYNAMIC_DISPATCH(load_Bfloat16)(x, n, part, to);
}
std::ptrdiff_t store(const float* x, std::ptrdiff_t n, bool part, bool exact, Half* to) {
  return HWY_DYNAMIC_DISPATCH(store_Half)(x, n, part, exact, to);
}
std::ptrdiff_t store(const float* x, std::ptrdiff_t n, bool part, bool exact, Bfloat16* to) {
  return HWY_DYNAMIC_DISPATCH(store_Bfloat16)(x, n, part, exact, to);
}

// Fields of a binary format of 16 bits.
template <class T>
struct Format;
template <>
struct Format<Half> {
  static constexpr int kMantissa = 10, kBias = 15;
};
template <>
struct Format<Bfloat16> {
  static constexpr int kMantissa = 7, kBias = 127;
};

template <class T>
double define(T x) {
  constexpr int kMantissa = Format<T>::kMantissa, kBias = Format<T>::kBias;
  const int exponent = (x.bits & 0x7fff) >> kMantissa;
  const int mantissa = x.bits & ((1 << kMantissa) - 1);
  const double sign = x.bits & 0x8000 ? -1 : 1;
  if (exponent == 2 * kBias + 1) return mantissa ? NAN : sign * INFINITY;
  const int whole = exponent ? mantissa + (1 << kMantissa) : mantissa;
  return sign * std::ldexp(whole, std::max(exponent, 1) - kBias - kMantissa);
}

template <class T>
std::vector<T> all_numbers() {
  std::vector<T> out;
  for (int bits = 0; bits < 0x10000; ++bits) out.push_back({static_cast<std::uint16_t>(bits)});
  return out;
}

// Floats next to every number of T and to what lies half way to the next, of both signs.
template <class T>
std::vector<float> hard_floats() {
  std::vector<float> out = {0.0f, -0.0f, 1e-45f, 3.4e38f, -3.4e38f, INFINITY, -INFINITY, NAN};
  for (int bits = 0; bits < 0x7fff; ++bits) {
    const T low{static_cast<std::uint16_t>(bits)}, high{static_cast<std::uint16_t>(bits + 1)};
    if (!std::isfinite(define(low))) break;
    const double next = std::isfinite(define(high))
                            ? define(high)
                            : 2 * define(low) - define(T{static_cast<std::uint16_t>(bits - 1)});
    const auto middle = static_cast<float>(0.5 * (define(low) + next));
    for (const float v : {static_cast<float>(define(low)), middle}) {
      for (const float near : {v, std::nextafter(v, -INFINITY), std::nextafter(v, INFINITY)}) {
        out.push_back(near);
        out.push_back(-near);
      }
    }
  }
  return out;
}

// The nearest number of T, of two the even one, by search.
template <class T>
T nearest(float v) {
  const double size = std::abs(static_cast<double>(v));
  const std::uint16_t sign = std::signbit(v) ? 0x8000 : 0;
  int low = 0, high = (2 * Format<T>::kBias + 1) << Format<T>::kMantissa;  // up to infinity
  const auto at = [&](int bits) {
    const T x{static_cast<std::uint16_t>(bits)};
    if (std::isfinite(define(x))) return define(x);
    return 2 * define(T{static_cast<std::uint16_t>(bits - 1)}) -
           define(T{static_cast<std::uint16_t>(bits - 2)});
  };
  if (size >= at(high)) return {static_cast<std::uint16_t>(sign | high)};
  while (high - low > 1) (at((low + high) / 2) <= size ? low : high) = (low + high) / 2;
  const double below = size - at(low), above = at(high) - size;
  const bool up = above < below || (above == below && low % 2 == 1);
  return {static_cast<std::uint16_t>(sign | (up ? high : low))};
}

template <class T>
bool is_nan(T x) {
  return std::isnan(define(x));
}

template <class T>
class Elements : public testing::Test {};
using Types = testing::Types<Half, Bfloat16>;
TYPED_TEST_SUITE(Elements, Types);

TYPED_TEST(Elements, are_what_their_bits_say) {
  for (const TypeParam x : all_numbers<TypeParam>()) {
    const double want = define(x);
    if (std::isnan(want)) {
      ASSERT_TRUE(std::isnan(to_work(x))) << x.bits;
    } else {
      ASSERT_EQ(to_double(x), want) << x.bits;
      ASSERT_EQ(std::signbit(to_work(x)), std::signbit(want)) << x.bits;
    }
  }
  EXPECT_EQ(Element<TypeParam>::kMax,
            to_double(Element<TypeParam>::round(Element<TypeParam>::kMax)));
  EXPECT_TRUE(std::isinf(to_work(Element<TypeParam>::round(1.01 * Element<TypeParam>::kMax))));
}

TYPED_TEST(Elements, are_rounded_to_nearest_even) {
  for (const float v : hard_floats<TypeParam>()) {
    const TypeParam got = Element<TypeParam>::round(v);
    if (std::isnan(v)) {
      ASSERT_TRUE(is_nan(got));
    } else {
      ASSERT_EQ(got.bits, nearest<TypeParam>(v).bits) << v;
    }
  }
}

TYPED_TEST(Elements, in_vectors_are_the_same) {
  const std::vector<TypeParam> numbers = all_numbers<TypeParam>();
  const std::vector<float> floats = hard_floats<TypeParam>();
  std::vector<float> exact;
  for (const TypeParam x : numbers) exact.push_back(to_work(x));
  test::for_each_target([&] {
    for (const bool part : {false, true}) {
      test::Guarded<TypeParam> from(numbers), to(std::ssize(floats)), back(from.size());
      test::Guarded<float> wide(from.size()), given(floats), known(exact);
      ASSERT_EQ(load(from.data(), from.size(), part, wide.data()), from.size());
      ASSERT_EQ(store(known.data(), known.size(), part, true, back.data()), from.size());
      for (std::ptrdiff_t i = 0; i < from.size(); ++i) {
        const float want = to_work(from[i]);
        if (std::isnan(want)) {
          ASSERT_TRUE(std::isnan(wide[i]) && is_nan(back[i])) << i;
        } else {
          ASSERT_EQ(std::bit_cast<std::uint32_t>(wide[i]), std::bit_cast<std::uint32_t>(want)) << i;
          ASSERT_EQ(back[i].bits, from[i].bits) << i;
        }
      }
      const std::ptrdiff_t done = store(given.data(), given.size(), part, false, to.data());
      ASSERT_GT(done, given.size() - 64);
      for (std::ptrdiff_t i = 0; i < done; ++i) {
        if (std::isnan(given[i])) {
          ASSERT_TRUE(is_nan(to[i])) << i;
        } else {
          ASSERT_EQ(to[i].bits, Element<TypeParam>::round(given[i]).bits) << given[i];
        }
      }
    }
  });
}

}  // namespace
}  // namespace lapsum::cpu
#endif  // HWY_ONCE
