// Highway compiles everything inside HWY_NAMESPACE once per instruction set. Rows are sorted in lanes of
// float; then those that fit into lanes of double are taken at a time. An array of these has a vector
// per position: entry j * lanes + l belongs to row l.
#include "cpu/primitives/tile.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <utility>

#include "cpu/primitives/prefetch.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/primitives/tile.cpp"
#include <hwy/foreach_target.h>
// clang-format off: these must follow foreach_target.h
#include <hwy/highway.h>
#include "cpu/primitives/decay-inl.h"
#include "cpu/primitives/gather-inl.h"
#include "cpu/primitives/interleave-inl.h"
#include "cpu/primitives/intervals-inl.h"
#include "cpu/primitives/sorted_tile-inl.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace lapsum::cpu::HWY_NAMESPACE {

static_assert(hn::MaxLanes(DF()) <= kMostTileRows);
using DI = hn::RebindToSigned<D>;
using VI = hn::Vec<DI>;

// What is finite stays finite.
HWY_INLINE VF narrow(V v) {
  constexpr double kMax = std::numeric_limits<float>::max();
  return hn::DemoteTo(F(), hn::Min(hn::Max(v, hn::Set(D(), -kMax)), hn::Set(D(), kMax)));
}

// Some rows of a tile, one per lane, or a single row. Steps from value to value take a vector of rows,
// or one number; all other work takes whole vectors of entries. Entry by entry the instructions are
// the same in both, and so are the bits.
template <bool kSingle>
class Kernel {
  using S = std::conditional_t<kSingle, hn::CappedTag<double, 1>, D>;

  static HWY_INLINE std::ptrdiff_t rows() { return kSingle ? 1 : lanes(); }

  // Entries for positions [-1, n], rounded up to a whole vector.
  static HWY_INLINE std::ptrdiff_t size(std::ptrdiff_t n) { return (n + 2) * rows() + lanes(); }
  class Column {
   public:
    explicit Column(double* begin) : data_(begin + rows()) {}
    Column(std::ptrdiff_t n, Arena& arena) : Column(arena.take<double>(size(n)).data()) {}

    double* at(std::ptrdiff_t e) const { return data_ + e; }
    HWY_INLINE V operator[](std::ptrdiff_t e) const { return hn::LoadU(D(), data_ + e); }
    HWY_INLINE void set(std::ptrdiff_t e, V v) const { hn::StoreU(v, D(), data_ + e); }
    HWY_INLINE void fill(std::ptrdiff_t position, double v) const {
      hn::StoreU(hn::Set(S(), v), S(), data_ + position * rows());
    }
    HWY_INLINE V gather(const std::int64_t* entries) const {
      return HWY_NAMESPACE::gather(D(), data_, entries);
    }

   private:
    double* data_;
  };

  static HWY_INLINE VI entry(VI position) {
    if constexpr (kSingle) return position;
    const DI d;
    return hn::Add(hn::ShiftLeftSame(position, std::countr_zero(hn::Lanes(d))), hn::Iota(d, 0));
  }

  // The positions of the entries from e on.
  static HWY_INLINE V positions(std::ptrdiff_t e) {
    if constexpr (kSingle) return hn::Iota(D(), static_cast<double>(e));
    return hn::Set(D(), static_cast<double>(e / rows()));
  }

  // body(e) for vectors of entries; the last vector may run over the end.
  template <class Body>
  static HWY_INLINE void for_each_vector(std::ptrdiff_t n, Body body) {
    for (std::ptrdiff_t e = 0; e < n * rows(); e += lanes()) body(e);
  }

  // body(e) for the positions from the first to the last, their numbers beginning at e.
  template <class Body>
  static HWY_INLINE void for_each_step(std::ptrdiff_t n, Body body) {
    for (std::ptrdiff_t j = 0; j < n; ++j) body(j * rows());
  }

  static HWY_INLINE hn::Vec<S> step(const double* at) { return hn::LoadU(S(), at); }

  static HWY_INLINE V per_row(const double* numbers) {
    return kSingle ? hn::Set(D(), *numbers) : hn::LoadU(D(), numbers);
  }

  // Numbers of rows as they stand, one after the other, from rows like those of the tile and back.
  static HWY_INLINE Column read(const float* const* from, std::ptrdiff_t n, Arena& arena) {
    const Column to(n, arena);
    if constexpr (kSingle) {
      std::copy_n(from[0], n, to.at(0));
      to.set(n, hn::Zero(D()));  // whole vectors are read
    } else {
      interleave(F(), from, n, [to](std::ptrdiff_t j, VF v) HWY_ATTR {
        to.set(j * rows(), hn::PromoteTo(D(), v));
      });
    }
    return to;
  }
  static HWY_INLINE void write(const float* entries, std::ptrdiff_t n, float* const* to) {
    if constexpr (kSingle) {
      std::copy_n(entries, n, to[0]);
    } else {
      separate(
          F(), n, [&](std::ptrdiff_t j) HWY_ATTR { return hn::LoadU(F(), entries + j * rows()); },
          to);
    }
  }

  // Sorted rows from `first` on: the decays from each value to the next, and the values where they are
  // wanted.
  struct Sorted {
    std::ptrdiff_t n, first;
    const SortedTile& rows_of;
    V sign, alpha;
    Column r, keep;

    Sorted(const Tile& tile, const SortedTile& sorted, std::ptrdiff_t first, bool with_values,
           Arena& arena)
        : n(tile.n),
          first(first),
          rows_of(sorted),
          sign(per_row(tile.sign.data() + first)),
          alpha(per_row(tile.alpha.data() + first)),
          r(n, arena),
          keep(n, arena) {
      fill(with_values);
    }

    // Numbers of elements, in the order of their values.
    Column find(const Tile::From& from, Arena& arena) const {
      const Column to(n, arena);
      const float* const* row = from.data() + first;
      for (std::ptrdiff_t j = 0; j < n; ++j) {
        const std::int32_t* element = rows_of.order + entry_of(j * rows());
        for (std::ptrdiff_t l = 0; l < rows(); ++l) *to.at(j * rows() + l) = row[l][element[l]];
      }
      if constexpr (kSingle) to.set(n, hn::Zero(D()));  // whole vectors are read
      return to;
    }
    // Numbers of the values from e on to where they were. Stores stand one by one: of a loop compilers
    // make an instruction that scatters, which takes twice as long.
    HWY_INLINE void bring_home(VF v, std::ptrdiff_t e, const Tile::To& to) const {
      HWY_ALIGN float values[kMaxLanes];
      hn::Store(v, F(), values);
      const std::int32_t* element = rows_of.order + entry_of(e);
      float* const* row = to.data() + first;
      if constexpr (kSingle) {
        for (std::ptrdiff_t l = 0; l < HWY_MIN(n - e, lanes()); ++l) row[0][element[l]] = values[l];
      } else {
        [&]<std::size_t... kLane>(std::index_sequence<kLane...>) HWY_ATTR {
          ((row[kLane][element[kLane]] = values[kLane]), ...);
        }(std::make_index_sequence<kMaxLanes>());
      }
    }

    // Asks for the lines of memory that this will write.
    void expect(const Tile::To& to) const {
      constexpr std::ptrdiff_t kLine = kCacheLine / sizeof(float);
      for (std::ptrdiff_t l = 0; l < rows(); ++l) {
        const float* row = to[static_cast<std::size_t>(first + l)];
        for (std::ptrdiff_t j = 0; j < n; j += kLine) expect_write(row + j);
      }
    }

   private:
    // Where entries from e on stand in the sorted tile.
    HWY_INLINE std::ptrdiff_t entry_of(std::ptrdiff_t e) const {
      return kSingle ? e : e / rows() * rows_of.rows + first;
    }
    HWY_INLINE V value(std::ptrdiff_t e) const {
      return hn::PromoteTo(D(), hn::LoadU(F(), rows_of.values + entry_of(e)));
    }

    void fill(bool with_values) {
      const D d;
      r.fill(-1, 0);
      const V most = hn::Set(d, std::numeric_limits<double>::max());
      const V rate = hn::Min(hn::Div(hn::Set(d, kLog2e), alpha), most);
      const Decay<double, 0> decay;  // keeps are multiplied: a float's polynomial would not do
      for_each_vector(n, [&](std::ptrdiff_t e) HWY_ATTR {
        const V at = value(e);
        const V t = hn::Mul(hn::Max(hn::Sub(value(e + rows()), at), hn::Zero(d)), rate);
        if (with_values) r.set(e, at);
        keep.set(e, decay(d, hn::Min(t, hn::Set(d, decay.kZero))));
      });
      r.fill(n, 0);
      keep.fill(-1, 0);
      keep.fill(n - 1, 0);
    }
  };

  // Their decayed sums of ones.
  struct Sums {
    std::ptrdiff_t apart;  // of the columns
    Column before, behind;

    Sums(const Sorted& at, Arena& arena)
        : apart(size(at.n)),
          before(arena.take<double>(2 * apart).data()),
          behind(before.at(-rows()) + apart) {
      const std::ptrdiff_t n = at.n;
      const Column keep = at.keep, to_right = before, to_left = behind;
      before.fill(-1, 0);
      const auto one = hn::Set(S(), 1.0);
      auto right = hn::Zero(S());
      auto left = hn::Zero(S());
      for_each_step(n, [=, &right, &left](std::ptrdiff_t e) HWY_ATTR {
        const std::ptrdiff_t back = (n - 1) * rows() - e;
        right = hn::MulAdd(right, step(keep.at(e - rows())), one);
        left = hn::MulAdd(left, step(keep.at(back)), one);
        hn::StoreU(right, S(), to_right.at(e));
        hn::StoreU(left, S(), to_left.at(back));
      });
      behind.fill(n, 0);
    }
  };

  // A few vectors, which stay in the nearest cache.
  static constexpr std::ptrdiff_t kStripVectors = 16;
  template <class T>
  struct Strip {
    HWY_INLINE auto operator[](std::ptrdiff_t i) const { return hn::Load(Tag(), data + i); }
    HWY_INLINE void set(std::ptrdiff_t i, hn::Vec<hn::Rebind<T, D>> v) {
      hn::Store(v, Tag(), data + i);
    }

    using Tag = hn::Rebind<T, D>;
    HWY_ALIGN T data[kStripVectors * kMaxLanes];
  };

  // What levels take of memory: how many values lie left of each, the product of the sums on both sides of
  // every interval, and, where it is asked for, how many levels lie left of each value, as an entry.
  // lefts[e] is not looked at again once the strip of e has been handed out.
  struct LevelRoom {
    Column lefts, products;
    std::int64_t* levels_left = nullptr;
  };

  // The interval of the level of each entry of a strip and its root, as in intervals.cpp. Indices go
  // through memory: what gathers loads them one by one.
  struct LevelRoots {
    Strip<std::int64_t> before, behind;  // entries of the values around it
    Strip<double> excess;                // of the level over the number of values before it
    Strip<double> product;
    Strip<double> m;  // the square root

    HWY_INLINE hn::Mask<D> to_right(std::ptrdiff_t i) const {
      return hn::Gt(excess[i], hn::Zero(D()));
    }
    HWY_INLINE V sum(std::ptrdiff_t i) const { return hn::Add(m[i], hn::Abs(excess[i])); }
  };

  // body(i) for the vectors of a strip.
  template <class Body>
  static HWY_INLINE void for_each_in_strip(std::ptrdiff_t length, Body body) {
    for (std::ptrdiff_t i = 0; i < length; i += lanes()) body(i);
  }
  // body(begin, length) for the strips of all entries.
  template <class Body>
  static HWY_INLINE void for_each_strip(std::ptrdiff_t n, Body body) {
    const std::ptrdiff_t end = n * rows(), step = kStripVectors * lanes();
    for (std::ptrdiff_t begin = 0; begin < end; begin += step) {
      body(begin, HWY_MIN(end - begin, step));
    }
  }

  // body(begin, length, roots) for strips of the levels t + 1/2. What is done with a strip goes in short
  // loops: in a single one each number would be waited for.
  template <class Body>
  static HWY_INLINE void for_each_level(const Sorted& at, const Sums& sums, const LevelRoom& room,
                                        Body body) {
    const D d;
    const DI di;
    const std::ptrdiff_t n = at.n;
    const Column lefts = room.lefts, products = room.products;
    std::int64_t* const levels_left = room.levels_left;
    const Column before = sums.before, behind = sums.behind, keep = at.keep;
    const V half = hn::Set(d, 0.5);
    const V size = hn::Set(d, static_cast<double>(n));
    // Every value marks the first level beyond it; marks ascend, so the last one counts.
    for (std::ptrdiff_t t = 0; t <= n; ++t) lefts.fill(t, 0);
    // Lanes beyond the row gather by these too.
    lefts.set((n + 1) * rows(), hn::Zero(d));
    if (levels_left) hn::StoreU(hn::Zero(di), di, levels_left + n * rows());
    products.fill(-1, 0);
    // Roundings may have put values that all but tie into the wrong order.
    V ascending = hn::Zero(d);
    std::int64_t top = 0;
    for_each_strip(n, [=, &ascending, &top](std::ptrdiff_t begin, std::ptrdiff_t length) HWY_ATTR {
      Strip<std::int64_t> first;
      for_each_in_strip(length, [=, &first, &ascending](std::ptrdiff_t i) HWY_ATTR {
        const std::ptrdiff_t e = begin + i;
        const V next = hn::Add(positions(e), hn::Set(d, 1.0));
        const V left = before[e];
        const V lag = hn::Floor(hn::Mul(half, hn::Sub(behind[e], left)));
        const V level = hn::Min(hn::Max(hn::Add(next, lag), hn::Zero(d)), size);
        if constexpr (!kSingle) ascending = hn::Max(level, ascending);
        first.set(i, entry(to_integers(kSingle ? level : ascending)));
        products.set(e, hn::Mul(hn::Mul(left, behind[e + rows()]), keep[e]));
      });
      if constexpr (kSingle) {
        for (std::ptrdiff_t i = 0; i < length; ++i) {
          top = first.data[i] = HWY_MAX(first.data[i], top);
        }
      }
      for (std::ptrdiff_t i = 0; i < length; i += rows()) {
        const auto next = static_cast<double>((begin + i) / rows() + 1);
        for (std::ptrdiff_t l = 0; l < rows(); ++l) *lefts.at(first.data[i + l]) = next;
      }
      if (levels_left) std::copy_n(first.data, length, levels_left + begin);
    });
    if constexpr (kSingle) {
      double most = 0;
      for (std::ptrdiff_t t = 0; t < n; ++t) most = *lefts.at(t) = HWY_MAX(most, *lefts.at(t));
    }
    V most = hn::Zero(d);
    LevelRoots roots;
    for_each_strip(n, [&, lefts, products](std::ptrdiff_t begin, std::ptrdiff_t length) HWY_ATTR {
      for_each_in_strip(length, [=, &most, &roots](std::ptrdiff_t i) HWY_ATTR {
        most = kSingle ? lefts[begin + i] : hn::Max(most, lefts[begin + i]);
        const V count = hn::Min(most, size);
        const VI to_right = entry(to_integers(count));
        roots.behind.set(i, to_right);
        roots.before.set(i, hn::Sub(to_right, hn::Set(di, std::int64_t{rows()})));
        roots.excess.set(i, hn::Sub(hn::Add(positions(begin + i), half), count));
      });
      for_each_in_strip(length, [=, &roots](std::ptrdiff_t i) HWY_ATTR {
        const V excess = roots.excess[i];
        const V product = products.gather(roots.before.data + i);
        roots.product.set(i, product);
        roots.m.set(i, square_root<float>(hn::MulAdd(excess, excess, product)));
      });
      body(begin, length, roots);
    });
  }

 public:
  // work(kernel, rows) for the rows of a sorted tile from `first` on.
  template <class Work>
  static HWY_INLINE void take(const Tile& tile, const SortedTile& sorted, std::ptrdiff_t first,
                              bool with_values, Arena& arena, Work work) {
    const Arena::Scope scope(arena);
    work(Kernel(), Sorted(tile, sorted, first, with_values, arena));
  }

  static void rank(const Sorted& at, const Tile::To& rank, Arena& arena) {
    const V half = hn::Set(D(), 0.5);
    at.expect(rank);
    const Sums sums(at, arena);
    for_each_vector(at.n, [&](std::ptrdiff_t e) HWY_ATTR {
      const V lag = hn::Sub(sums.behind[e], sums.before[e]);
      const V value = hn::MulAdd(half, lag, positions(e));
      at.bring_home(hn::DemoteTo(F(), value), e, rank);
    });
  }

  // (Jv)_j = (v_j K_1(r_j) - K_v(r_j)) / (2 alpha), as in soft_rank.cpp.
  static void rank_vjp(const Sorted& at, const Tile::From& g, const Tile::To& gx, Arena& arena) {
    const D d;
    const std::ptrdiff_t n = at.n;
    const Column v = at.find(g, arena), keep = at.keep;
    const Column from_left(n, arena), from_right(n, arena);  // what each side adds
    const auto zero = hn::Zero(S()), one = hn::Set(S(), 1.0);
    at.expect(gx);
    auto right = zero, left = zero, right_ones = zero, left_ones = zero;
    for_each_step(n, [=, &right, &left, &right_ones, &left_ones](std::ptrdiff_t e) HWY_ATTR {
      const std::ptrdiff_t back = (n - 1) * rows() - e;
      const auto before = step(keep.at(e - rows())), behind = step(keep.at(back));
      right = hn::MulAdd(right, before, step(v.at(e)));
      left = hn::MulAdd(left, behind, step(v.at(back)));
      right_ones = hn::MulAdd(right_ones, before, one);
      left_ones = hn::MulAdd(left_ones, behind, one);
      hn::StoreU(hn::MulSub(step(v.at(e)), right_ones, right), S(), from_left.at(e));
      hn::StoreU(hn::MulSub(step(v.at(back)), left_ones, left), S(), from_right.at(back));
    });
    const V peak = hn::Min(hn::Div(hn::Set(d, 0.5), at.alpha), hn::Set(d, 1e300));
    for_each_vector(n, [&](std::ptrdiff_t e) HWY_ATTR {
      const V both = hn::Add(from_left[e], from_right[e]);
      const V value = hn::Mul(at.sign, hn::Mul(peak, both));
      at.bring_home(narrow(value), e, gx);
    });
  }

  static void sort(const Sorted& at, const Tile::To& sorted, Arena& arena) {
    float* const entries = arena.take<float>(at.n * rows() + lanes()).data();
    const Sums summed(at, arena);
    const Column r = at.r, sums = summed.before;
    const V sign = at.sign, alpha = at.alpha;
    const VI apart = hn::Set(DI(), std::int64_t{summed.apart});
    const auto place = [=](std::ptrdiff_t begin, std::ptrdiff_t length,
                           const LevelRoots& roots) HWY_ATTR {
      Strip<std::int64_t> near, near_sum;
      Strip<double> away;
      for_each_in_strip(length, [&](std::ptrdiff_t i) HWY_ATTR {
        const VI before = roots.before[i], behind = roots.behind[i];
        const auto to_right = hn::RebindMask(DI(), roots.to_right(i));
        near.set(i, hn::IfThenElse(to_right, behind, before));
        near_sum.set(i, hn::IfThenElse(to_right, hn::Add(behind, apart), before));
      });
      for_each_in_strip(length, [&](std::ptrdiff_t i) HWY_ATTR {
        away.set(i, log_ratio<float>(roots.sum(i), sums.gather(near_sum.data + i)));
      });
      for_each_in_strip(length, [&](std::ptrdiff_t i) HWY_ATTR {
        const V unit = hn::IfThenElse(roots.to_right(i), alpha, hn::Neg(alpha));
        const V b = hn::MulAdd(unit, away[i], r.gather(near.data + i));
        hn::StoreU(narrow(hn::Mul(sign, b)), F(), entries + begin + i);
      });
    };
    for_each_level(at, summed, {Column(at.n, arena), Column(at.n, arena)}, place);
    write(entries, at.n, sorted.data() + at.first);
  }

  // A level between two values, d beyond the number of those on its left, has the shares (m - d) / 2m of
  // the left side and (m + d) / 2m of the right one, whose sums of decays are divided out once for all
  // levels of the interval. What these bring is a difference of sums over all levels up to a value.
  static void sort_vjp(const Sorted& at, const Tile::From& g, const Tile::To& gx, Arena& arena) {
    const D d;
    const std::ptrdiff_t n = at.n;
    const Column u = read(g.data() + at.first, n, arena), keep = at.keep;
    at.expect(gx);
    const Sums sums(at, arena);
    const Column before = sums.before, behind = sums.behind;
    const LevelRoom room{Column(n, arena), Column(n, arena),
                         arena.take<std::int64_t>(size(n)).data()};
    // Toward the right and the left, of the levels before each one; where u and the lefts were.
    const Column right_up_to = u, left_up_to = room.lefts;
    auto right = hn::Zero(S()), left = hn::Zero(S());
    const auto share = [=, &right, &left](std::ptrdiff_t begin, std::ptrdiff_t length,
                                          const LevelRoots& roots) HWY_ATTR {
      Strip<double> to_right, to_left;
      for_each_in_strip(length, [=, &roots, &to_right, &to_left](std::ptrdiff_t i) HWY_ATTR {
        const V given = u[begin + i];
        const V far = hn::Mul(given, far_share<float>(roots.m[i], roots.sum(i), roots.product[i]));
        const V near = hn::Sub(given, far);
        const auto is_right = roots.to_right(i);
        to_right.set(i, hn::IfThenElse(is_right, near, far));
        to_left.set(i, hn::IfThenElse(is_right, far, near));
      });
      auto so_far_right = right, so_far_left = left;
      for (std::ptrdiff_t i = 0; i < length; i += rows()) {
        hn::StoreU(so_far_right, S(), right_up_to.at(begin + i));
        hn::StoreU(so_far_left, S(), left_up_to.at(begin + i));
        so_far_right = hn::Add(so_far_right, step(to_right.data + i));
        so_far_left = hn::Add(so_far_left, step(to_left.data + i));
      }
      right = so_far_right;
      left = so_far_left;
    };
    for_each_level(at, sums, room, share);
    hn::StoreU(right, S(), right_up_to.at(n * rows()));
    hn::StoreU(left, S(), left_up_to.at(n * rows()));

    // The same at the values.
    const Column right_at = room.products, left_at(n, arena);
    const std::int64_t* const levels_left = room.levels_left;
    for_each_vector(n, [=](std::ptrdiff_t e) HWY_ATTR {
      const V to_right = right_up_to.gather(levels_left + e);
      const V to_left = left_up_to.gather(levels_left + e);
      right_at.set(e, to_right);
      left_at.set(e, to_left);
    });
    right_at.fill(-1, 0);
    hn::StoreU(left, S(), left_at.at(n * rows()));
    for_each_vector(n, [=](std::ptrdiff_t e) HWY_ATTR {
      const V seen = before[e], left_behind = behind[e];
      const V part = quotient<float>(hn::Set(d, 1.0), hn::Mul(seen, left_behind));
      const V from_left = hn::Sub(right_at[e], right_at[e - rows()]);
      const V from_right = hn::Sub(left_at[e + rows()], left_at[e]);
      behind.set(e, hn::Mul(from_left, hn::Mul(part, seen)));
      before.set(e, hn::Mul(from_right, hn::Mul(part, left_behind)));
    });
    auto from_left = hn::Zero(S()), from_right = hn::Zero(S());
    for_each_step(n, [=, &from_left, &from_right](std::ptrdiff_t e) HWY_ATTR {
      const std::ptrdiff_t back = (n - 1) * rows() - e;
      from_left = hn::MulAdd(from_left, step(keep.at(e - rows())), step(behind.at(e)));
      from_right = hn::MulAdd(from_right, step(keep.at(back)), step(before.at(back)));
      hn::StoreU(from_left, S(), behind.at(e));
      hn::StoreU(from_right, S(), before.at(back));
    });
    for_each_vector(n, [&](std::ptrdiff_t e) HWY_ATTR {
      at.bring_home(narrow(hn::Add(behind[e], before[e])), e, gx);
    });
  }
};

// work(kernel, rows) for the rows of a tile, those that fit into lanes of double at a time.
template <class Work>
HWY_INLINE void for_each_part(const Tile& tile, const SortedTile& sorted, bool with_values,
                              Arena& arena, Work work) {
  if (tile.rows == 1) return Kernel<true>::take(tile, sorted, 0, with_values, arena, work);
  for (std::ptrdiff_t first = 0; first < tile.rows; first += lanes()) {
    Kernel<false>::take(tile, sorted, first, with_values, arena, work);
  }
}

SortedRows sort_rows_all(const Tile& tile, Arena& arena) {
  const SortedTile sorted(tile, true, {}, arena);
  return {sorted.rows, sorted.values, sorted.order};
}

int tile_rows_all() { return static_cast<int>(float_lanes()); }

void rank_tile_all(const Tile& tile, const Tile::To& rank, const Tile::Keep& keep, Arena& arena) {
  const SortedTile rows_of(tile, true, {}, arena);
  rows_of.keep_order(tile, keep, arena);
  for_each_part(tile, rows_of, false, arena,
                [&](auto kernel, const auto& rows) HWY_ATTR { kernel.rank(rows, rank, arena); });
}

void rank_tile_vjp_all(const Tile& tile, const Tile::From& g, const Tile::To& gx,
                       const Tile::Kept& kept, Arena& arena) {
  const SortedTile rows_of(tile, true, kept, arena);
  for_each_part(tile, rows_of, false, arena, [&](auto kernel, const auto& rows) HWY_ATTR {
    kernel.rank_vjp(rows, g, gx, arena);
  });
}

void sort_tile_all(const Tile& tile, const Tile::To& sorted, const Tile::Keep& keep, Arena& arena) {
  const SortedTile rows_of(tile, has_any(keep), {}, arena);
  rows_of.keep_order(tile, keep, arena);
  for_each_part(tile, rows_of, true, arena,
                [&](auto kernel, const auto& rows) HWY_ATTR { kernel.sort(rows, sorted, arena); });
}

void sort_tile_vjp_all(const Tile& tile, const Tile::From& g, const Tile::To& gx,
                       const Tile::Kept& kept, Arena& arena) {
  const SortedTile rows_of(tile, true, kept, arena);
  for_each_part(tile, rows_of, false, arena, [&](auto kernel, const auto& rows) HWY_ATTR {
    kernel.sort_vjp(rows, g, gx, arena);
  });
}

}  // namespace lapsum::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lapsum::cpu {
HWY_EXPORT(tile_rows_all);
HWY_EXPORT(sort_rows_all);
HWY_EXPORT(rank_tile_all);
HWY_EXPORT(rank_tile_vjp_all);
HWY_EXPORT(sort_tile_all);
HWY_EXPORT(sort_tile_vjp_all);

int tile_rows() { return HWY_DYNAMIC_DISPATCH(tile_rows_all)(); }

SortedRows sort_rows(const Tile& tile, Arena& arena) {
  return HWY_DYNAMIC_DISPATCH(sort_rows_all)(tile, arena);
}

void rank_tile(const Tile& tile, const Tile::To& rank, const Tile::Keep& keep, Arena& arena) {
  HWY_DYNAMIC_DISPATCH(rank_tile_all)(tile, rank, keep, arena);
}

void rank_tile_vjp(const Tile& tile, const Tile::From& g, const Tile::To& gx,
                   const Tile::Kept& kept, Arena& arena) {
  HWY_DYNAMIC_DISPATCH(rank_tile_vjp_all)(tile, g, gx, kept, arena);
}

void sort_tile(const Tile& tile, const Tile::To& sorted, const Tile::Keep& keep, Arena& arena) {
  HWY_DYNAMIC_DISPATCH(sort_tile_all)(tile, sorted, keep, arena);
}

void sort_tile_vjp(const Tile& tile, const Tile::From& g, const Tile::To& gx,
                   const Tile::Kept& kept, Arena& arena) {
  HWY_DYNAMIC_DISPATCH(sort_tile_vjp_all)(tile, g, gx, kept, arena);
}

}  // namespace lapsum::cpu
#endif  // HWY_ONCE
