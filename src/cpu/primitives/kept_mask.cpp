// A first pass keeps the decays of the row, seen from where its threshold should be. Elements in a
// bracket around that place solve for it; their masks are made anew, those of all others from their
// decays. If alpha is small against the bracket, the others have no part in it: they are chosen or
// not, in the first pass.
#include "cpu/primitives/kept_mask.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <type_traits>
#include <vector>

#include "cpu/primitives/bracket.h"
#include "cpu/primitives/density.h"
#include "cpu/primitives/kept_decays.h"
#include "cpu/primitives/parallel.h"
#include "cpu/primitives/threshold.h"
#include "instantiate.h"

namespace lapsum::cpu {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kLog2e = 1.4426950408889634074;

// How far the ends of the bracket may be, in octaves: for floats, so that decays beyond them count; for
// doubles, so that the roundings of distances do not.
template <class T>
constexpr double kMostEnd = std::is_same_v<Work<T>, float> ? 40 : 16;
// If the roundings of one decay in seven are the same, sums are off by 2^-24 / 7, and the threshold by as
// much of alpha: little against the rounding of a mask.
constexpr double kEquals = 1.0 / 49;

template <class T>
class KeptRow {
 public:
  KeptRow(const T* x, std::ptrdiff_t n, double sign, const Outlook& from, T* p, Arena& arena,
          int threads)
      : x_(x),
        n_(n),
        sign_(sign),
        from_(from),
        p_(p),
        arena_(arena),
        places_(arena.take<Place<T>>(n)),
        chunks_(n),
        parts_(static_cast<std::size_t>(chunks_.count())),
        threads_(threads) {}

  KeptDecays keep() {
    // Decays wait where p will be, if they are of its type.
    if constexpr (kIsHalf<T>) {
      decays_ = arena_.take<Work<T>>(n_).data();
    } else {
      decays_ = p_;
    }
    return pass([&](std::ptrdiff_t begin, std::ptrdiff_t count) {
      return keep_decays(x_ + begin, count, sign_, from_, decays_ + begin, &places_[begin]);
    });
  }
  KeptDecays choose() {
    return pass([&](std::ptrdiff_t begin, std::ptrdiff_t count) {
      return mask_sides(x_ + begin, count, sign_, from_, p_ + begin, &places_[begin]);
    });
  }

  std::span<const Work<T>> inside() const { return inside_; }
  const Work<T>* decays() const { return decays_; }

  // The masks of the elements inside, instead of their values; body(begin, count) does the others.
  template <class Body>
  void fill(const Threshold& b, Body&& body) {
    for_each_chunk(n_, threads_, [&](std::ptrdiff_t begin, std::ptrdiff_t end) {
      body(begin, end - begin);
      Work<T>* masks = inside_.data() + first_[at(begin)];
      cdf_at(masks, parts_[at(begin)].inside, 1, b, from_.alpha, masks);
      for_each_inside(chunks_.at(begin), [&](std::ptrdiff_t i, std::ptrdiff_t at) {
        p_[at] = Element<T>::round(inside_[i]);
      });
    });
  }

 private:
  template <class Part>
  KeptDecays pass(Part&& part) {
    for_each_chunk(n_, threads_, [&](std::ptrdiff_t begin, std::ptrdiff_t end) {
      parts_[at(begin)] = part(begin, end - begin);
    });
    KeptDecays all;
    for (const KeptDecays& of : parts_) {
      first_.push_back(all.inside);
      all.left += of.left;
      all.inside += of.inside;
      all.left_sum += of.left_sum;
      all.right_sum += of.right_sum;
    }
    inside_ = arena_.take<Work<T>>(all.inside);
    const auto turn = static_cast<Work<T>>(sign_);
    for (std::ptrdiff_t c = 0; c < chunks_.count(); ++c) {
      for_each_inside(
          c, [&](std::ptrdiff_t i, std::ptrdiff_t at) { inside_[i] = turn * to_work(x_[at]); });
    }
    return all;
  }

  std::size_t at(std::ptrdiff_t begin) const { return static_cast<std::size_t>(chunks_.at(begin)); }

  // body(i, at) for the elements inside of a chunk: the i-th is that at `at`.
  template <class Body>
  void for_each_inside(std::ptrdiff_t chunk, Body&& body) const {
    const auto c = static_cast<std::size_t>(chunk);
    const std::ptrdiff_t begin = chunks_.begin(chunk);
    const Place<T>* places = &places_[begin];
    for (std::ptrdiff_t i = 0; i < parts_[c].inside; ++i) body(first_[c] + i, begin + places[i]);
  }

  const T* x_;
  std::ptrdiff_t n_;
  double sign_;
  Outlook from_;
  T* p_;
  Arena& arena_;
  Work<T>* decays_ = nullptr;
  std::span<Place<T>> places_;
  std::span<Work<T>> inside_;
  Chunks chunks_;
  std::vector<KeptDecays> parts_;
  std::vector<std::ptrdiff_t> first_;
  int threads_;
};

}  // namespace

template <class T>
std::optional<Threshold> mask_keeping_decays(const T* x, std::ptrdiff_t n, double sign, double k,
                                             double alpha, T* p, Arena& arena, int threads) {
  if (!(k > 0 && k < static_cast<double>(n)) || !is_plain(alpha)) return std::nullopt;
  const Arena::Scope scope(arena);
  const std::optional<Bracket> aimed = aim_threshold(x, n, sign, k, alpha, arena);
  if (!aimed) return std::nullopt;
  const Outlook from{aimed->lo, aimed->hi, std::clamp(aimed->root, aimed->lo, aimed->hi), alpha};
  const double rate = kLog2e / alpha;
  const double to_lo = (from.center - from.lo) * rate, to_hi = (from.hi - from.center) * rate;
  const auto within = [](double octaves, double most) {
    return std::isinf(octaves) || octaves < most;
  };
  KeptRow<T> row(x, n, sign, from, p, arena, threads);

  if (std::min(to_lo, to_hi) > kFarDecay<T>) {
    const KeptDecays sides = row.choose();
    const auto b = solve_inside(row.inside(), {-kInf, 0, kInf, 0}, static_cast<double>(sides.left),
                                k, alpha, arena);
    if (!b) return std::nullopt;
    // On a plateau the nearest elements count, however far they are.
    double nearest = kInf;
    const double root = b->anchor + b->offset;
    for (const Work<T> r : row.inside()) nearest = std::min(nearest, std::abs(r - root));
    if (!((std::min(root - from.lo, from.hi - root) - nearest) * rate > kFarDecay<T>)) {
      return std::nullopt;
    }
    row.fill(*b, [](auto, auto) {});
    return b;
  }

  if (!within(to_lo, kMostEnd<T>) || !within(to_hi, kMostEnd<T>) || !can_keep_decays<T>(from)) {
    return std::nullopt;
  }
  const KeptDecays sides = row.keep();
  const auto at_end = [&](double sum, double end) {
    return sum > 0 ? sum * std::exp(std::abs(end - from.center) / alpha) : 0;
  };
  const math::Interval ends{from.lo, at_end(sides.left_sum, from.lo), from.hi,
                            at_end(sides.right_sum, from.hi)};
  const auto b = solve_inside(row.inside(), ends, static_cast<double>(sides.left), k, alpha, arena);
  if (!b) return std::nullopt;
  const double moved = ((b->anchor - from.center) + b->offset) / alpha;
  const bool near = std::abs(moved) <= kMostMoved;
  if constexpr (std::is_same_v<Work<T>, float>) {
    const double reach = 80;  // of floats
    if (share_of_equals(row.decays(), n, std::clamp(moved, -reach, reach)) > kEquals)
      return std::nullopt;
  }
  row.fill(*b, [&](std::ptrdiff_t begin, std::ptrdiff_t count) {
    if (near) {
      mask_from_decays(row.decays() + begin, count, from, moved, p + begin);
    } else {
      cdf_at(x + begin, count, sign, *b, alpha, p + begin);
    }
  });
  return b;
}

LAPSUM_INSTANTIATE_FOUR(mask_keeping_decays)

}  // namespace lapsum::cpu
