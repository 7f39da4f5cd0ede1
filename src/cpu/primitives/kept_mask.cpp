// A first pass keeps the decays of the row, seen from where its threshold should be. Elements in a
// bracket around that place solve for it; their masks are made anew, those of all others from their
// decays. If alpha is small against the bracket, the others have no part in it: they are chosen or
// not, in the first pass.
#include "cpu/primitives/kept_mask.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <span>
#include <type_traits>
#include <vector>

#include "cpu/primitives/bracket.h"
#include "cpu/primitives/density.h"
#include "cpu/primitives/kept_decays.h"
#include "cpu/primitives/parallel.h"
#include "cpu/primitives/row.h"
#include "cpu/primitives/threshold.h"
#include "instantiate.h"

namespace lapsum::cpu {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

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
        chunks_(n),
        most_(chunks_.length / 4),
        places_(arena.take<Place<T>>(chunks_.count() * (most_ + kMostKeptLanes))),
        parts_(static_cast<std::size_t>(chunks_.count())),
        threads_(threads) {}

  // What lies outside, and the values inside; none if those are many.
  std::optional<KeptDecays> keep() {
    // Half types have no room for decays where p will be: those of a long row are made twice.
    if (kIsHalf<T> && chunks_.count() == 1) decays_ = arena_.take<Work<T>>(n_).data();
    return pass([&](std::ptrdiff_t begin, std::ptrdiff_t count) {
      return with_decays(begin, [&](Work<T>* decays) { return keep(begin, count, decays); });
    });
  }
  std::optional<KeptDecays> choose() {
    return pass([&](std::ptrdiff_t begin, std::ptrdiff_t count) {
      return mask_sides(x_ + begin, count, sign_, from_, p_ + begin, places(begin), most_);
    });
  }

  std::span<const Work<T>> inside() const { return inside_; }

  // The mask at b, with moved = (b - center) / alpha.
  void fill_from_decays(const Threshold& b, double moved) {
    fill(b, [&](std::ptrdiff_t begin, std::ptrdiff_t count) {
      with_decays(begin, [&](Work<T>* decays) {
        if (kIsHalf<T> && !decays_) keep(begin, count, decays);
        mask_from_decays(decays, count, from_, moved, p_ + begin);
      });
    });
  }
  void fill_anew(const Threshold& b) {
    fill(b, [&](std::ptrdiff_t begin, std::ptrdiff_t count) {
      cdf_at(x_ + begin, count, sign_, b, from_.alpha, p_ + begin);
    });
  }
  // The masks of the elements inside, instead of their values; body(begin, count) does the others.
  template <class Body>
  void fill(const Threshold& b, Body&& body) {
    for_each_chunk(n_, threads_, [&](std::ptrdiff_t begin, std::ptrdiff_t end) {
      body(begin, end - begin);
      Work<T>* masks = inside_.data() + first_[at(begin)];
      cdf_at(masks, parts_[at(begin)].inside, 1, b, from_.alpha, masks);
      for_each_inside(begin, [&](std::ptrdiff_t i, std::ptrdiff_t at) {
        p_[at] = Element<T>::round(inside_[i]);
      });
    });
  }

 private:
  KeptDecays keep(std::ptrdiff_t begin, std::ptrdiff_t count, Work<T>* decays) {
    return keep_decays(x_ + begin, count, sign_, from_, decays, places(begin), most_);
  }

  template <class Body>
  auto with_decays(std::ptrdiff_t begin, Body&& body) {
    if constexpr (kIsHalf<T>) {
      if (decays_) return body(decays_);
      Work<T> own[kChunk];
      return body(own);
    } else {
      return body(p_ + begin);
    }
  }

  template <class Part>
  std::optional<KeptDecays> pass(Part&& part) {
    for_each_chunk(n_, threads_, [&](std::ptrdiff_t begin, std::ptrdiff_t end) {
      parts_[at(begin)] = part(begin, end - begin);
    });
    KeptDecays all;
    for (const KeptDecays& of : parts_) {
      if (of.inside > most_) return std::nullopt;
      first_.push_back(all.inside);
      all += of;
    }
    inside_ = arena_.take<Work<T>>(all.inside);
    const auto turn = static_cast<Work<T>>(sign_);
    for (std::ptrdiff_t c = 0; c < chunks_.count(); ++c) {
      for_each_inside(chunks_.begin(c), [&](std::ptrdiff_t i, std::ptrdiff_t at) {
        inside_[i] = turn * to_work(x_[at]);
      });
    }
    return all;
  }

  std::size_t at(std::ptrdiff_t begin) const { return static_cast<std::size_t>(chunks_.at(begin)); }
  Place<T>* places(std::ptrdiff_t begin) const {
    return places_.data() + chunks_.at(begin) * (most_ + kMostKeptLanes);
  }

  // body(i, at) for the elements inside of a chunk: the i-th is that at `at`.
  template <class Body>
  void for_each_inside(std::ptrdiff_t begin, Body&& body) const {
    const std::ptrdiff_t first = first_[at(begin)], count = parts_[at(begin)].inside;
    const Place<T>* from = places(begin);
    for (std::ptrdiff_t i = 0; i < count; ++i) body(first + i, begin + from[i]);
  }

  const T* x_;
  std::ptrdiff_t n_;
  double sign_;
  Outlook from_;
  T* p_;
  Arena& arena_;
  Chunks chunks_;
  std::ptrdiff_t most_;  // inside of a chunk
  std::span<Place<T>> places_;
  Work<T>* decays_ = nullptr;
  std::span<Work<T>> inside_;
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
  Outlook from{aimed->lo, aimed->hi, std::clamp(aimed->root, aimed->lo, aimed->hi), alpha};
  const double rate = std::numbers::log2e / alpha;
  const double to_lo = (from.center - from.lo) * rate, to_hi = (from.hi - from.center) * rate;
  const auto within = [](double octaves, double most) {
    return std::isinf(octaves) || octaves < most;
  };
  const bool apart = std::min(to_lo, to_hi) > kFarDecay<T>;
  if (apart) {
    // A root next to an end would see what lies beyond it.
    const double seen = kFarDecay<T> / rate;
    from.lo = narrow<Work<T>>(from.lo - seen);
    from.hi = narrow<Work<T>>(from.hi + seen);
  }
  KeptRow<T> row(x, n, sign, from, p, arena, threads);

  if (apart) {
    const std::optional<KeptDecays> sides = row.choose();
    if (!sides) return std::nullopt;
    const auto b = solve_inside(row.inside(), {-kInf, 0, kInf, 0}, static_cast<double>(sides->left),
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
  const std::optional<KeptDecays> sides = row.keep();
  if (!sides) return std::nullopt;
  const auto at_end = [&](double sum, double end) {
    return sum > 0 ? sum * std::exp(std::abs(end - from.center) / alpha) : 0;
  };
  const math::Interval ends{from.lo, at_end(sides->left_sum, from.lo), from.hi,
                            at_end(sides->right_sum, from.hi)};
  const auto b =
      solve_inside(row.inside(), ends, static_cast<double>(sides->left), k, alpha, arena);
  if (!b) return std::nullopt;
  const double moved = ((b->anchor - from.center) + b->offset) / alpha;
  if (sides->share_of_equals(std::exp(moved)) > kEquals) return std::nullopt;
  if (std::abs(moved) <= kMostMoved) {
    row.fill_from_decays(*b, moved);
  } else {
    row.fill_anew(*b);
  }
  return b;
}

LAPSUM_INSTANTIATE_FOUR(mask_keeping_decays)

}  // namespace lapsum::cpu
