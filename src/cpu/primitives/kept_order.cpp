// The gather is scalar, for its instruction is slow on many machines; Highway compiles what is inside
// HWY_NAMESPACE once per instruction set.
#include "cpu/primitives/kept_order.h"

#include "cpu/primitives/parallel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/primitives/kept_order.cpp"
#include <hwy/foreach_target.h>
// clang-format off: this must follow foreach_target.h
#include <hwy/highway.h>
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace lapsum::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::ScalableTag<double>;
using DI = hn::RebindToSigned<D>;
using DU = hn::RebindToUnsigned<D>;
using FU = hn::Rebind<Index, D>;

HWY_INLINE hn::Vec<DI> elements(const Index* order) {
  return hn::BitCast(DI(), hn::PromoteTo(DU(), hn::LoadU(FU(), order)));
}

// Whether all elements are below n.
bool lie_in_row(const Index* order, std::ptrdiff_t count, std::ptrdiff_t n) {
  const auto lanes = static_cast<std::ptrdiff_t>(hn::Lanes(D()));
  const auto end = hn::Set(DI(), n);
  auto inside = hn::Eq(end, end);
  std::ptrdiff_t p = 0;
  for (; p + lanes <= count; p += lanes) inside = hn::And(inside, hn::Lt(elements(order + p), end));
  bool all = hn::AllTrue(DI(), inside);
  for (; p < count; ++p) all &= static_cast<std::ptrdiff_t>(order[p]) < n;
  return all;
}

// Whether each of `count` values is above the one before it, or equal and a later element.
bool ascend(const double* sorted, const Index* order, std::ptrdiff_t count) {
  const D d;
  const auto lanes = static_cast<std::ptrdiff_t>(hn::Lanes(d));
  auto ordered = hn::Eq(hn::Zero(d), hn::Zero(d));
  std::ptrdiff_t p = 1;
  for (; p + lanes <= count; p += lanes) {
    const auto before = hn::LoadU(d, sorted + p - 1);
    const auto value = hn::LoadU(d, sorted + p);
    const auto later = hn::RebindMask(d, hn::Lt(elements(order + p - 1), elements(order + p)));
    ordered =
        hn::And(ordered, hn::Or(hn::Lt(before, value), hn::And(hn::Eq(before, value), later)));
  }
  bool all = hn::AllTrue(d, ordered);
  for (; p < count; ++p) {
    all &= sorted[p - 1] < sorted[p] || (sorted[p - 1] == sorted[p] && order[p - 1] < order[p]);
  }
  return all;
}

// Fills sorted[begin, end); false, and some of it left out, where the order is wrong.
template <class T>
HWY_INLINE bool gather(const T* x, std::ptrdiff_t n, bool negate, const Index* order,
                       std::ptrdiff_t begin, std::ptrdiff_t end, double* sorted) {
  constexpr std::ptrdiff_t kPart = 512;  // stays in the nearest cache between the looks at it
  const double sign = negate ? -1 : 1;
  for (std::ptrdiff_t first = begin; first < end; first += kPart) {
    const std::ptrdiff_t last = std::min(end, first + kPart);
    if (!lie_in_row(order + first, last - first, n)) return false;
    for (std::ptrdiff_t p = first; p < last; ++p) {
      sorted[p] = sign * static_cast<double>(x[order[p]]) + 0.0;  // -0 + 0 is +0
    }
    const std::ptrdiff_t before = std::max(begin, first - 1);
    if (!ascend(sorted + before, order + before, last - before)) return false;
  }
  return true;
}

bool gather_floats(const float* x, std::ptrdiff_t n, bool negate, const Index* order,
                   std::ptrdiff_t begin, std::ptrdiff_t end, double* sorted) {
  return gather(x, n, negate, order, begin, end, sorted);
}

bool gather_doubles(const double* x, std::ptrdiff_t n, bool negate, const Index* order,
                    std::ptrdiff_t begin, std::ptrdiff_t end, double* sorted) {
  return gather(x, n, negate, order, begin, end, sorted);
}

}  // namespace lapsum::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lapsum::cpu {
HWY_EXPORT(ascend);
HWY_EXPORT(gather_floats);
HWY_EXPORT(gather_doubles);

namespace {

bool gather(const float* x, std::ptrdiff_t n, bool negate, const Index* order, std::ptrdiff_t begin,
            std::ptrdiff_t end, double* sorted) {
  return HWY_DYNAMIC_DISPATCH(gather_floats)(x, n, negate, order, begin, end, sorted);
}

bool gather(const double* x, std::ptrdiff_t n, bool negate, const Index* order,
            std::ptrdiff_t begin, std::ptrdiff_t end, double* sorted) {
  return HWY_DYNAMIC_DISPATCH(gather_doubles)(x, n, negate, order, begin, end, sorted);
}

}  // namespace

template <class T>
void gather_sorted(const T* x, std::ptrdiff_t n, bool negate, const Index* order, double* sorted,
                   int threads) {
  const int wrong = sum_chunks<int>(n, threads, [&](std::ptrdiff_t begin, std::ptrdiff_t end) {
    return gather(x, n, negate, order, begin, end, sorted) ? 0 : 1;
  });
  bool right = wrong == 0;
  const Chunks chunks(n);
  for (std::ptrdiff_t c = 1; right && c < chunks.count(); ++c) {
    const std::ptrdiff_t p = chunks.begin(c);
    right = HWY_DYNAMIC_DISPATCH(ascend)(sorted + p - 1, order + p - 1, 2);
  }
  if (!right) throw WrongArgsort();
}

template void gather_sorted(const float*, std::ptrdiff_t, bool, const Index*, double*, int);
template void gather_sorted(const double*, std::ptrdiff_t, bool, const Index*, double*, int);

}  // namespace lapsum::cpu
#endif  // HWY_ONCE
