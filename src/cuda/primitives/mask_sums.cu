// Three launches: the least distance in every tile, the sums over it, and what items make of them.
#include "cuda/primitives/mask_sums.h"

#include "cuda/instantiate.h"
#include "cuda/primitives/team.h"

namespace lapsum::gpu {
namespace {

struct Least {
  double value;
  __device__ Least& operator+=(const Least& other) {
    value = fmin(value, other.value);
    return *this;
  }
};

// The sum of what the tiles of one item hold, by the threads of a team.
template <class Team, class Value>
__device__ Value over_tiles(const Value* parts, std::ptrdiff_t tiles, Value sum) {
  for (std::ptrdiff_t t = rank_in_team<Team>(); t < tiles; t += Team::kSize) sum += parts[t];
  return Team::reduce(sum);
}

template <class T, class Team>
__global__ void __launch_bounds__(kTeamThreads<Team>)
    nearest_kernel(Rows<const T> x, Items items, Tiling tiling, Least* nearest) {
  for_each_piece<Team>(items.count() * tiling.tiles, [&](std::ptrdiff_t piece) {
    const std::ptrdiff_t item = piece / tiling.tiles;
    const View view = items.view(item);
    Least least{INFINITY};
    if (isfinite(view.b.anchor)) {
      for_each_in_tile<Team>(tiling, piece % tiling.tiles, [&](std::ptrdiff_t i) {
        least += Least{view.see(element(x, items, item, i, view)).distance};
      });
    }
    least = Team::reduce(least);
    if (rank_in_team<Team>() == 0) nearest[piece] = least;
  });
}

// What an element adds to the sums: with weight e at a finite threshold, or if it is at -inf at an
// infinite one. `kThreads` share a processor: as many as registers allow without spills.
template <class T>
struct VjpTerms {
  static constexpr int kThreads = 640;
  Rows<const T> g;

  __device__ void add(MaskSums& sums, const Items& items, std::ptrdiff_t item, std::ptrdiff_t i,
                      const View&, const Seen& seen, double e) const {
    const double ug = seen.slope(items.curve, e) * to_double(g[item][i]);
    sums += MaskSums{e, ug, e * seen.z, ug * seen.z};
  }
  __device__ void add_saturated(MaskSums& sums, std::ptrdiff_t item, std::ptrdiff_t i) const {
    sums += MaskSums{1, to_double(g[item][i]), 0, 0};
  }
};

template <class T>
struct JvpTerms {
  static constexpr int kThreads = 1024;
  Tangent<T> along;

  __device__ void add(MaskSums& sums, const Items& items, std::ptrdiff_t item, std::ptrdiff_t i,
                      const View& view, const Seen& seen, double e) const {
    sums += MaskSums{e, e * along.pull(items, item, i, view, seen.z), 0, 0};
  }
  __device__ void add_saturated(MaskSums& sums, std::ptrdiff_t, std::ptrdiff_t) const {
    sums += MaskSums{1, 0, 0, 0};
  }
};

template <class T, class Team, class Terms>
__global__ void __launch_bounds__(kTeamThreads<Team>, Terms::kThreads / kTeamThreads<Team>)
    sums_kernel(Rows<const T> x, Items items, Tiling tiling, Terms terms, const Least* nearest,
                MaskSums* sums) {
  for_each_piece<Team>(items.count() * tiling.tiles, [&](std::ptrdiff_t piece) {
    const std::ptrdiff_t item = piece / tiling.tiles;
    const View view = items.view(item);
    MaskSums sum{0, 0, 0, 0};
    if (isfinite(view.b.anchor)) {
      const Least least =
          over_tiles<Team>(nearest + item * tiling.tiles, tiling.tiles, Least{INFINITY});
      for_each_in_tile<Team>(tiling, piece % tiling.tiles, [&](std::ptrdiff_t i) {
        const Seen seen = view.see(element(x, items, item, i, view));
        terms.add(sum, items, item, i, view, seen, exp(least.value - seen.distance));
      });
    } else if (view.b.anchor < 0) {
      for_each_in_tile<Team>(tiling, piece % tiling.tiles, [&](std::ptrdiff_t i) {
        if (element(x, items, item, i, view) == -INFINITY) terms.add_saturated(sum, item, i);
      });
    }
    sum = Team::reduce(sum);
    if (rank_in_team<Team>() == 0) sums[piece] = sum;
  });
}

// What the tiles of an item hold together.
struct TileSums {
  std::ptrdiff_t count;
  const Least* nearest;
  const MaskSums* sums;

  __device__ MaskSums sum(std::ptrdiff_t item) const {
    return over_tiles<Warp>(sums + item * count, count, MaskSums{0, 0, 0, 0});
  }
  __device__ double least(std::ptrdiff_t item) const {
    return over_tiles<Warp>(nearest + item * count, count, Least{INFINITY}).value;
  }
};

// Pull without its mean, and d out / dk over u / total: two factors, so that neither underflows
// before its time.
struct Factors {
  Pull pull;
  double per_level;

  __device__ Factors(const Items& items, const View& view, double nearest)
      : pull{nearest, 2 * view.orientation.peak(), 0, 0}, per_level(1) {
    const double scale = exp(-nearest);
    if (items.curve == Curve::cdf) {
      pull.height *= 0.5 * scale;
    } else {
      per_level = fmin(2 / scale, 1e300);
    }
  }
};

// A warp for a row, which goes through its levels.
__global__ void __launch_bounds__(kTeamThreads<Warp>)
    vjp_kernel(Items items, TileSums tiles, double largest, Pull* pulls, double* gk,
               double* galpha) {
  for_each_piece<Warp>(items.rows, [&](std::ptrdiff_t row) {
    const bool leads = rank_in_team<Warp>() == 0;
    double row_galpha = 0;
    for (std::ptrdiff_t item = row * items.levels; item < (row + 1) * items.levels; ++item) {
      const View view = items.view(item);
      const MaskSums sums = tiles.sum(item);
      Factors factors(items, view, tiles.least(item));
      double level = 0;
      if (view.is_nan()) {
        factors.pull.height = level = row_galpha = NAN;
      } else if (view.is_saturated()) {
        const double slope = view.saturated_slope(items.curve, sums.total);
        level = slope > 0 ? slope * sums.first : 0;
      } else {
        factors.pull.mean = sums.first / sums.total;
        level = factors.per_level * factors.pull.mean;
        if (factors.pull.height > 0) {
          row_galpha += factors.pull.height * (sums.first * (sums.z / sums.total) - sums.second);
        }
      }
      if (leads) pulls[item] = factors.pull;
      if (leads && gk) gk[item] = level > largest ? largest : level < -largest ? -largest : level;
    }
    const double sign = Orientation(items.alpha.at(row), items.order).alpha_sign;
    if (leads && galpha) galpha[row] = sign * row_galpha;
  });
}

__global__ void __launch_bounds__(kTeamThreads<Warp>)
    jvp_kernel(Items items, TileSums tiles, const double* dk, Pull* pulls) {
  for_each_piece<Warp>(items.count(), [&](std::ptrdiff_t item) {
    const View view = items.view(item);
    const MaskSums sums = tiles.sum(item);
    const double level = dk ? dk[item] : 0;
    Factors factors(items, view, tiles.least(item));
    if (view.is_nan()) {
      factors.pull.height = NAN;
    } else if (view.is_saturated()) {
      factors.pull.lift = view.saturated_slope(items.curve, sums.total) * level;
    } else {
      factors.pull.mean = sums.first / sums.total;
      factors.pull.lift = level == 0 ? 0 : factors.per_level * (level / sums.total);
    }
    if (rank_in_team<Warp>() == 0) pulls[item] = factors.pull;
  });
}

template <class T, class Terms>
TileSums sum_tiles(Queue& queue, Rows<const T> x, const Items& items, const Terms& terms,
                   const Tiling& tiling) {
  const std::ptrdiff_t pieces = items.rows * items.levels * tiling.tiles;
  Least* const nearest = queue.take<Least>(pieces);
  MaskSums* const sums = queue.take<MaskSums>(pieces);
  run_teams(queue, nearest_kernel<T, Warp>, nearest_kernel<T, Block>, tiling, pieces, x, items,
            tiling, nearest);
  run_teams(queue, sums_kernel<T, Warp, Terms>, sums_kernel<T, Block, Terms>, tiling, pieces, x,
            items, tiling, terms, nearest, sums);
  return {tiling.tiles, nearest, sums};
}

}  // namespace

template <class T>
Pull* sum_vjp(Queue& queue, Rows<const T> x, const Items& items, Rows<const T> g, double* gk,
              double* galpha, const Tiling& tiling) {
  Pull* const pulls = queue.take<Pull>(items.rows * items.levels);
  const Queue::Scope scope(queue);
  const TileSums tiles = sum_tiles(queue, x, items, VjpTerms<T>{g}, tiling);
  // d out / dk grows without bound; it is a double, but should fit what k may be in.
  const double largest = sizeof(T) == sizeof(double) ? DBL_MAX : FLT_MAX;
  run_teams<Warp>(queue, vjp_kernel, items.rows, items, tiles, largest, pulls, gk, galpha);
  return pulls;
}

template <class T>
Pull* sum_jvp(Queue& queue, Rows<const T> x, const Items& items, const Tangent<T>& along,
              const Tiling& tiling) {
  Pull* const pulls = queue.take<Pull>(items.rows * items.levels);
  const Queue::Scope scope(queue);
  const TileSums tiles = sum_tiles(queue, x, items, JvpTerms<T>{along}, tiling);
  run_teams<Warp>(queue, jvp_kernel, items.rows * items.levels, items, tiles, along.dk, pulls);
  return pulls;
}

LAPSUM_INSTANTIATE_CUDA(sum_vjp)
LAPSUM_INSTANTIATE_CUDA(sum_jvp)

}  // namespace lapsum::gpu
