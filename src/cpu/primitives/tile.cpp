// Highway compiles everything inside HWY_NAMESPACE once per instruction set. An array of a tile has
// a vector per position: entry j * lanes + l belongs to row l.
#include "cpu/primitives/tile.h"

#include <algorithm>
#include <bit>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/primitives/tile.cpp"
#include <hwy/foreach_target.h>
// clang-format off: these must follow foreach_target.h
#include <hwy/highway.h>
#include "cpu/primitives/decay-inl.h"
#include "cpu/primitives/gather-inl.h"
#include "cpu/primitives/interleave-inl.h"
#include "cpu/primitives/intervals-inl.h"
#include "cpu/primitives/network-inl.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace lapsum::cpu::HWY_NAMESPACE {

// Vectors run through the entries of a tile, whatever their row.
static_assert(kMaxLanes <= kMostTileRows);
using DI = hn::RebindToSigned<D>;
using DU = hn::RebindToUnsigned<D>;
using F = hn::Rebind<float, D>;
using FI = hn::RebindToSigned<F>;
using FU = hn::RebindToUnsigned<F>;
using VI = hn::Vec<DI>;
using VF = hn::Vec<F>;

HWY_INLINE std::ptrdiff_t lanes() { return static_cast<std::ptrdiff_t>(hn::Lanes(D())); }

// What is finite stays finite.
HWY_INLINE VF narrow(V v) {
  constexpr double kMax = std::numeric_limits<float>::max();
  return hn::DemoteTo(F(), hn::Min(hn::Max(v, hn::Set(D(), -kMax)), hn::Set(D(), kMax)));
}

// A tile of one row per lane, or of a single row. Steps from value to value take a vector of rows,
// or one number; all other work takes whole vectors of entries. Entry by entry the instructions are
// the same in both, and so are the bits.
template <bool kSingle>
class Kernel {
  template <class Number>
  using Step = std::conditional_t<kSingle, hn::CappedTag<Number, 1>, hn::Rebind<Number, D>>;
  using S = Step<double>;

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
    HWY_INLINE V gather(VI entries) const { return HWY_NAMESPACE::gather(D(), data_, entries); }

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

  // body(e, step) for the positions from the first to the last, step being the numbers of one.
  template <class Body>
  static HWY_INLINE void for_each_step(std::ptrdiff_t n, Body body) {
    for (std::ptrdiff_t j = 0; j < n; ++j) body(j * rows());
  }

  static HWY_INLINE hn::Vec<S> step(const double* at) { return hn::LoadU(S(), at); }

  // body(e, v) for vectors of entries of rows like those of the tile, for some of them twice.
  template <class Body>
  static HWY_INLINE void read(const Tile::From& from, std::ptrdiff_t n, Body body) {
    if constexpr (kSingle) {
      const auto at = [&](const float* x, std::ptrdiff_t e, auto...)
                          HWY_ATTR { body(e, hn::LoadU(F(), x)); };
      HWY_NAMESPACE::for_each_vector(from[0], n, 0.0f, at, at);
    } else {
      interleave(F(), from.data(), n,
                 [&](std::ptrdiff_t j, VF v) HWY_ATTR { body(j * rows(), v); });
    }
  }
  static HWY_INLINE Column read(const Tile::From& from, std::ptrdiff_t n, Arena& arena) {
    const Column to(n, arena);
    read(from, n, [&](std::ptrdiff_t e, VF v) HWY_ATTR { to.set(e, hn::PromoteTo(D(), v)); });
    return to;
  }
  // Entries, one after the other, to such rows.
  static HWY_INLINE void write(const float* entries, std::ptrdiff_t n, const Tile::To& to) {
    if constexpr (kSingle) {
      std::copy_n(entries, n, to[0]);
    } else {
      separate(
          F(), n, [&](std::ptrdiff_t j) HWY_ATTR { return hn::LoadU(F(), entries + j * rows()); },
          to.data());
    }
  }

  // Numbers to be sorted hold a key of 32 bits above an index of 30. They are compared as doubles, for
  // which there are more units: with this bit set, and keys of finite floats, none is odd or denormal.
  static constexpr std::uint64_t kNormal = std::uint64_t{1} << 62;
  static constexpr int kIndexBits = 30;
  static constexpr std::uint64_t kIndexMask = (std::uint64_t{1} << kIndexBits) - 1;
  static constexpr std::uint64_t kBehindAll = kNormal | std::uint64_t{0xff800000} << kIndexBits;

  // A sorted tile with the decayed sums of ones.
  struct Sorted {
    std::ptrdiff_t n;
    V sign, alpha;
    double* order;  // bits: the index of each value in its row, in the lower ones; or null
    Column r, keep;
    std::ptrdiff_t apart;  // of the next two
    Column before, behind;

    Sorted(const Tile& tile, Arena& arena, bool with_order = true)
        : n(tile.n),
          sign(per_row(tile.sign)),
          alpha(per_row(tile.alpha)),
          order(with_order ? keys<double>(arena) : nullptr),
          r(n, arena),
          keep(n, arena),
          apart(size(n)),
          before(arena.take<double>(2 * apart).data()),
          behind(before.at(-rows()) + apart) {
      if (with_order) {
        sort(tile.x);
      } else {
        sort_values(tile.x, keys<float>(arena));
      }
      scan();
    }

    // Of a column in the order of the tile, the entries of the values from e on.
    HWY_INLINE V find(const Column& from, std::ptrdiff_t e) const {
      const auto index = hn::And(bits(e), hn::Set(DU(), kIndexMask));
      return from.gather(entry(hn::BitCast(DI(), index)));
    }
    // Numbers of the values from e on to where they were.
    HWY_INLINE void bring_home(VF v, std::ptrdiff_t e, const Tile::To& to) const {
      HWY_ALIGN float values[kMostTileRows];
      hn::Store(v, F(), values);
      const std::ptrdiff_t count = HWY_MIN(n * rows() - e, lanes());
      for (std::ptrdiff_t l = 0; l < count; ++l) {
        const auto index = std::bit_cast<std::uint64_t>(order[e + l]) & kIndexMask;
        to[kSingle ? 0 : l][index] = values[l];
      }
    }

   private:
    HWY_INLINE hn::Vec<DU> bits(std::ptrdiff_t e) const {
      return hn::BitCast(DU(), hn::LoadU(D(), order + e));
    }

    static HWY_INLINE V per_row(const Tile::PerLane& numbers) {
      return kSingle ? hn::Set(D(), numbers[0]) : hn::LoadU(D(), numbers.data());
    }

    template <class Number>
    Number* keys(Arena& arena) const {
      return arena.take<Number>(whole_groups(n) * rows() + lanes()).data();
    }

    // The values alone take half the room.
    void sort_values(const Tile::From& x, float* values) {
      const F d;
      const VF factor = hn::DemoteTo(d, sign);
      read(x, n, [&](std::ptrdiff_t e, VF given) HWY_ATTR {
        hn::StoreU(hn::MulAdd(factor, given, hn::Zero(d)), d, values + e);  // -0 + 0 is +0
      });
      const std::ptrdiff_t whole = whole_groups(n);
      std::fill(values + n * rows(), values + whole * rows(),
                std::numeric_limits<float>::infinity());
      sort_lanes(Step<float>(), values, whole);
      for_each_vector(n, [&](std::ptrdiff_t e)
                             HWY_ATTR { r.set(e, hn::PromoteTo(D(), hn::LoadU(d, values + e))); });
    }

    // Keys of the order of sign * x, above the index, which tells ties apart.
    void sort(const Tile::From& x) {
      const FU d;
      const auto high = hn::Set(d, 0x80000000u);
      const VF factor = hn::DemoteTo(F(), sign);
      read(x, n, [&](std::ptrdiff_t e, VF given) HWY_ATTR {
        const VF v = hn::Mul(factor, given);
        const auto bits = hn::BitCast(d, hn::Add(v, hn::Zero(F())));  // -0 + 0 is +0
        const auto negative = hn::BitCast(d, hn::ShiftRight<31>(hn::BitCast(FI(), bits)));
        const auto key = hn::PromoteTo(DU(), hn::Xor(bits, hn::Or(negative, high)));
        const auto index = hn::BitCast(DU(), to_integers(positions(e)));
        const auto placed = hn::Or(hn::ShiftLeft<kIndexBits>(key), hn::Set(DU(), kNormal));
        hn::StoreU(hn::BitCast(D(), hn::Or(placed, index)), D(), order + e);
      });
      const std::ptrdiff_t whole = whole_groups(n);
      std::fill(order + n * rows(), order + whole * rows(), std::bit_cast<double>(kBehindAll));
      sort_lanes(S(), order, whole);
      if constexpr (kSingle) {  // so that indices beyond the end are in the row too
        hn::StoreU(hn::Zero(D()), D(), order + n);
      }
      for_each_vector(n, [&](std::ptrdiff_t e) HWY_ATTR {
        const auto key = hn::TruncateTo(d, hn::ShiftRight<kIndexBits>(bits(e)));
        const auto negative = hn::BitCast(d, hn::ShiftRight<31>(hn::BitCast(FI(), key)));
        const auto bits = hn::Xor(key, hn::Or(hn::Not(negative), high));
        r.set(e, hn::PromoteTo(D(), hn::BitCast(F(), bits)));
      });
    }

    void scan() {
      const D d;
      r.fill(-1, 0);
      r.fill(n, 0);
      const V most = hn::Set(d, std::numeric_limits<double>::max());
      const V rate = hn::Min(hn::Div(hn::Set(d, kLog2e), alpha), most);
      const Decay<double, 0> decay;  // keeps are multiplied: a float's polynomial would not do
      for_each_vector(n, [&](std::ptrdiff_t e) HWY_ATTR {
        const V gap = hn::Sub(hn::LoadU(d, r.at(e + rows())), r[e]);
        const V t = hn::Mul(hn::Max(gap, hn::Zero(d)), rate);
        keep.set(e, decay(d, hn::Min(t, hn::Set(d, decay.kZero))));
      });
      keep.fill(-1, 0);
      keep.fill(n - 1, 0);
      before.fill(-1, 0);
      const auto one = hn::Set(S(), 1.0);
      auto right = hn::Zero(S());
      auto left = hn::Zero(S());
      for_each_step(n, [&](std::ptrdiff_t e) HWY_ATTR {
        const std::ptrdiff_t back = (n - 1) * rows() - e;
        right = hn::MulAdd(right, step(keep.at(e - rows())), one);
        left = hn::MulAdd(left, step(keep.at(back)), one);
        hn::StoreU(right, S(), before.at(e));
        hn::StoreU(left, S(), behind.at(back));
      });
      behind.fill(n, 0);
    }
  };

  // The interval of the level of every entry and its root, as in intervals.cpp.
  struct LevelRoots {
    VI before, behind;  // entries of the values around it
    hn::Mask<D> to_right;
    V product, sum, m;

    HWY_INLINE V near_sum(const Sorted& at) const {
      const VI apart = hn::Set(DI(), std::int64_t{at.apart});
      return at.before.gather(near(hn::Add(behind, apart)));
    }
    HWY_INLINE V near_value(const Sorted& at) const { return at.r.gather(near(behind)); }

   private:
    HWY_INLINE VI near(VI to_the_right) const {
      return hn::IfThenElse(hn::RebindMask(DI(), to_right), to_the_right, before);
    }
  };

  // A few vectors, which stay in the nearest cache.
  struct Strip {
    static constexpr std::ptrdiff_t kVectors = 16;

    HWY_INLINE V operator[](std::ptrdiff_t i) const { return hn::LoadU(D(), data + i); }
    HWY_INLINE void set(std::ptrdiff_t i, V v) { hn::StoreU(v, D(), data + i); }

    HWY_ALIGN double data[kVectors * kMostTileRows];
  };

  // body(e, roots) for the levels t + 1/2, and after(length) for every strip of them. Roots of a strip
  // are begun before the first is used: a loop of all that is to be done would wait for each.
  template <class Body, class After>
  static HWY_INLINE void for_each_level(const Sorted& at, Arena& arena, Body body, After after) {
    const D d;
    const Column lefts(at.n, arena);  // how many values lie left of each level
    const Column products(at.n, arena);
    const V half = hn::Set(d, 0.5);
    const V size = hn::Set(d, static_cast<double>(at.n));
    // Every value marks the first level beyond it; marks ascend, so the last one counts.
    for (std::ptrdiff_t t = 0; t <= at.n; ++t) lefts.fill(t, 0);
    lefts.set((at.n + 1) * rows(), hn::Zero(d));  // lanes beyond the row gather by it too
    products.fill(-1, 0);
    for_each_vector(at.n, [&](std::ptrdiff_t e) HWY_ATTR {
      const V next = hn::Add(positions(e), hn::Set(d, 1.0));
      const V before = at.before[e];
      const V lag = hn::Floor(hn::Mul(half, hn::Sub(at.behind[e], before)));
      const V first = hn::Min(hn::Max(hn::Add(next, lag), hn::Zero(d)), size);
      mark(lefts, entry(to_integers(first)), next, at.n * rows() - e);
      products.set(e, hn::Mul(hn::Mul(before, at.behind[e + rows()]), at.keep[e]));
    });
    if constexpr (kSingle) {
      double most = 0;
      for (std::ptrdiff_t t = 0; t < at.n; ++t) most = *lefts.at(t) = HWY_MAX(most, *lefts.at(t));
    }
    V most = hn::Zero(d);
    Strip excesses, m, product, entries;
    const std::ptrdiff_t end = at.n * rows();
    for (std::ptrdiff_t begin = 0; begin < end; begin += Strip::kVectors * lanes()) {
      const std::ptrdiff_t length = HWY_MIN(end - begin, Strip::kVectors * lanes());
      for (std::ptrdiff_t i = 0; i < length; i += lanes()) {
        most = kSingle ? lefts[begin + i] : hn::Max(most, lefts[begin + i]);
        const V count = hn::Min(most, size);
        const VI behind = entry(to_integers(count));
        const V excess = hn::Sub(hn::Add(positions(begin + i), half), count);
        const V between = products.gather(hn::Sub(behind, hn::Set(DI(), std::int64_t{rows()})));
        entries.set(i, hn::BitCast(d, behind));
        excesses.set(i, excess);
        product.set(i, between);
        m.set(i, hn::Sqrt(hn::MulAdd(excess, excess, between)));
      }
      for (std::ptrdiff_t i = 0; i < length; i += lanes()) {
        const V excess = excesses[i];
        const VI behind = hn::BitCast(DI(), entries[i]);
        const VI before = hn::Sub(behind, hn::Set(DI(), std::int64_t{rows()}));
        body(begin + i, LevelRoots{before, behind, hn::Gt(excess, hn::Zero(d)), product[i],
                                   hn::Add(m[i], hn::Abs(excess)), m[i]});
      }
      after(length);
    }
  }

  // to[entries] = v, for `count` of them.
  static HWY_INLINE void mark(const Column& to, VI entries, V v, std::ptrdiff_t count) {
    if constexpr (!kSingle) return hn::ScatterIndex(v, D(), to.at(0), entries);
    HWY_ALIGN double values[kMostTileRows];
    HWY_ALIGN std::int64_t at[kMostTileRows];
    hn::Store(v, D(), values);
    hn::Store(entries, DI(), at);
    for (std::ptrdiff_t l = 0; l < HWY_MIN(count, lanes()); ++l) *to.at(at[l]) = values[l];
  }

 public:
  static void rank(const Tile& tile, const Tile::To& rank, Arena& arena) {
    const Sorted at(tile, arena);
    const V half = hn::Set(D(), 0.5);
    for_each_vector(tile.n, [&](std::ptrdiff_t e) HWY_ATTR {
      const V lag = hn::Sub(at.behind[e], at.before[e]);
      const V value = hn::MulAdd(half, lag, positions(e));
      at.bring_home(hn::DemoteTo(F(), value), e, rank);
    });
  }

  // (Jv)_j = (v_j K_1(r_j) - K_v(r_j)) / (2 alpha), as in soft_rank.cpp.
  static void rank_vjp(const Tile& tile, const Tile::From& g, const Tile::To& gx, Arena& arena) {
    const D d;
    const Sorted at(tile, arena);
    const Column given = read(g, tile.n, arena);
    const Column v(tile.n, arena);
    const Column sums_right(tile.n, arena);
    const Column sums_left(tile.n, arena);
    for_each_vector(tile.n, [&](std::ptrdiff_t e) HWY_ATTR { v.set(e, at.find(given, e)); });
    auto right = hn::Zero(S());
    auto left = hn::Zero(S());
    for_each_step(tile.n, [&](std::ptrdiff_t e) HWY_ATTR {
      const std::ptrdiff_t back = (tile.n - 1) * rows() - e;
      right = hn::MulAdd(right, step(at.keep.at(e - rows())), step(v.at(e)));
      left = hn::MulAdd(left, step(at.keep.at(back)), step(v.at(back)));
      hn::StoreU(right, S(), sums_right.at(e));
      hn::StoreU(left, S(), sums_left.at(back));
    });
    const V peak = hn::Min(hn::Div(hn::Set(d, 0.5), at.alpha), hn::Set(d, 1e300));
    for_each_vector(tile.n, [&](std::ptrdiff_t e) HWY_ATTR {
      const V both = hn::Add(hn::MulSub(v[e], at.before[e], sums_right[e]),
                             hn::MulSub(v[e], at.behind[e], sums_left[e]));
      const V value = hn::Mul(at.sign, hn::Mul(peak, both));
      at.bring_home(narrow(value), e, gx);
    });
  }

  static void sort(const Tile& tile, const Tile::To& sorted, Arena& arena) {
    const Sorted at(tile, arena, false);
    float* const entries = arena.take<float>(tile.n * rows() + lanes()).data();
    const auto place = [&](std::ptrdiff_t e, const LevelRoots& root) HWY_ATTR {
      const V unit = hn::IfThenElse(root.to_right, at.alpha, hn::Neg(at.alpha));
      const V b = hn::MulAdd(unit, log_ratio(root.sum, root.near_sum(at)), root.near_value(at));
      hn::StoreU(narrow(hn::Mul(at.sign, b)), F(), entries + e);
    };
    for_each_level(at, arena, place, [](std::ptrdiff_t) {});
    write(entries, tile.n, sorted);
  }

  static void sort_vjp(const Tile& tile, const Tile::From& g, const Tile::To& gx, Arena& arena) {
    const std::ptrdiff_t n = tile.n;
    const Sorted at(tile, arena);
    const Column u = read(g, n, arena);
    const Column to_left(n, arena);
    const Column to_right(n, arena);
    for (std::ptrdiff_t j = -1; j <= n; ++j) {
      to_left.fill(j, 0);
      to_right.fill(j, 0);
    }
    Strip left, right, behind;
    const auto share = [&](std::ptrdiff_t e, const LevelRoots& root) HWY_ATTR {
      const std::ptrdiff_t i = e % (Strip::kVectors * lanes());
      const V left_sum = at.before.gather(root.before);
      const V right_sum = at.behind.gather(root.behind);
      const V near_sum = hn::IfThenElse(root.to_right, right_sum, left_sum);
      const V far_sum = hn::IfThenElse(root.to_right, left_sum, right_sum);
      const V twice = hn::Add(root.m, root.m);
      const auto [near, far] = root_shares(twice, root.sum, near_sum, far_sum, root.product);
      left.set(i, hn::Mul(u[e], hn::IfThenElse(root.to_right, far, near)));
      right.set(i, hn::Mul(u[e], hn::IfThenElse(root.to_right, near, far)));
      behind.set(i, hn::BitCast(D(), root.behind));
    };
    const auto spread = [&](std::ptrdiff_t length) HWY_ATTR {
      for (std::ptrdiff_t i = 0; i < length; ++i) {
        const auto e = static_cast<std::ptrdiff_t>(std::bit_cast<std::int64_t>(behind.data[i]));
        *to_left.at(e - rows()) += left.data[i];
        *to_right.at(e) += right.data[i];
      }
    };
    for_each_level(at, arena, share, spread);
    auto from_left = hn::Zero(S());
    auto from_right = hn::Zero(S());
    for_each_step(n, [&](std::ptrdiff_t e) HWY_ATTR {
      const std::ptrdiff_t back = (n - 1) * rows() - e;
      from_left = hn::MulAdd(from_left, step(at.keep.at(e - rows())), step(to_right.at(e)));
      from_right = hn::MulAdd(from_right, step(at.keep.at(back)), step(to_left.at(back)));
      hn::StoreU(from_left, S(), to_right.at(e));
      hn::StoreU(from_right, S(), to_left.at(back));
    });
    for_each_vector(n, [&](std::ptrdiff_t e) HWY_ATTR {
      at.bring_home(narrow(hn::Add(to_right[e], to_left[e])), e, gx);
    });
  }
};

int tile_rows_all() { return static_cast<int>(lanes()); }

void rank_tile_all(const Tile& tile, const Tile::To& rank, Arena& arena) {
  const auto run = tile.rows == 1 ? Kernel<true>::rank : Kernel<false>::rank;
  run(tile, rank, arena);
}

void rank_tile_vjp_all(const Tile& tile, const Tile::From& g, const Tile::To& gx, Arena& arena) {
  const auto run = tile.rows == 1 ? Kernel<true>::rank_vjp : Kernel<false>::rank_vjp;
  run(tile, g, gx, arena);
}

void sort_tile_all(const Tile& tile, const Tile::To& sorted, Arena& arena) {
  const auto run = tile.rows == 1 ? Kernel<true>::sort : Kernel<false>::sort;
  run(tile, sorted, arena);
}

void sort_tile_vjp_all(const Tile& tile, const Tile::From& g, const Tile::To& gx, Arena& arena) {
  const auto run = tile.rows == 1 ? Kernel<true>::sort_vjp : Kernel<false>::sort_vjp;
  run(tile, g, gx, arena);
}

}  // namespace lapsum::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lapsum::cpu {
HWY_EXPORT(tile_rows_all);
HWY_EXPORT(rank_tile_all);
HWY_EXPORT(rank_tile_vjp_all);
HWY_EXPORT(sort_tile_all);
HWY_EXPORT(sort_tile_vjp_all);

int tile_rows() { return HWY_DYNAMIC_DISPATCH(tile_rows_all)(); }

void rank_tile(const Tile& tile, const Tile::To& rank, Arena& arena) {
  HWY_DYNAMIC_DISPATCH(rank_tile_all)(tile, rank, arena);
}

void rank_tile_vjp(const Tile& tile, const Tile::From& g, const Tile::To& gx, Arena& arena) {
  HWY_DYNAMIC_DISPATCH(rank_tile_vjp_all)(tile, g, gx, arena);
}

void sort_tile(const Tile& tile, const Tile::To& sorted, Arena& arena) {
  HWY_DYNAMIC_DISPATCH(sort_tile_all)(tile, sorted, arena);
}

void sort_tile_vjp(const Tile& tile, const Tile::From& g, const Tile::To& gx, Arena& arena) {
  HWY_DYNAMIC_DISPATCH(sort_tile_vjp_all)(tile, g, gx, arena);
}

}  // namespace lapsum::cpu
#endif  // HWY_ONCE
