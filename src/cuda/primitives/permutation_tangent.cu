// With Y_t = sum_j v_j F((b_t - r_j) / alpha) at the roots b_t, (P v)_i = Y_{i+1} - Y_i; with h_t =
// u_{t-1} - u_t, (P^T u)_j = const + sum_t h_t F((b_t - r_j) / alpha). Both come from the bilinear
// form u^T P v = sum_t h_t Y_t, whose derivatives are kernel sums between roots and elements:
//   dY_t = peak (K_v(b_t) db_t - K_{v dr}(b_t) - Z_v(b_t) dalpha),
//   db_t = <q_t, dr> + <q_t, z_t> dalpha.
#include "cuda/primitives/permutation_tangent.h"

#include "cuda/primitives/for_each.h"

namespace lapsum::gpu {
namespace {

// out += Y'_i - Y'_{i-1} at position i, y being Y' without peak and scale.
struct AddDifferences {
  Cuts cuts;
  const double* y;
  std::ptrdiff_t repeat;
  double* out;
  __device__ double at_root(std::ptrdiff_t row, std::ptrdiff_t t) const {
    const std::ptrdiff_t own = shared_row(row, repeat);
    const std::ptrdiff_t m = cuts.roots.points.m;
    if (t < 0 || t + 1 >= cuts.sorted.facts[own].finite) return 0;
    return cuts.roots.points.at[own * m + t].scale * y[row * m + t];
  }
  __device__ void operator()(std::ptrdiff_t row, std::ptrdiff_t j) const {
    const RowFacts& facts = cuts.sorted.facts[shared_row(row, repeat)];
    const std::ptrdiff_t t = j - facts.below;
    out[row * cuts.sorted.n + j] += facts.peak * (at_root(row, t) - at_root(row, t - 1));
  }
};

struct AddSeen {
  SortedRows sorted;
  PermutationTangent tangent;
  Scans<1> seen;
  Scans<0> moved;
  std::ptrdiff_t repeat;
  double* out;
  __device__ void operator()(std::ptrdiff_t row, std::ptrdiff_t j) const {
    const std::ptrdiff_t own = shared_row(row, repeat);
    const RowFacts& facts = sorted.facts[own];
    const std::ptrdiff_t i = row * sorted.n + j;
    const double even = seen.right[0][i] + seen.left[0][i];
    const double odd = seen.left[1][i] - seen.right[1][i];  // roots right of r_j have z > 0
    const bool finite = j >= facts.below && j < facts.end();
    const double sum = moved.right[0][i] + moved.left[0][i] -
                       tangent.dr[own * sorted.n + j] * even - tangent.dalpha[own] * odd;
    out[i] += facts.peak * (finite ? sum : 0);
  }
};

}  // namespace

PermutationTangent make_tangent(Queue& queue, const Permutation& p, const double* dr,
                                const double* dalpha) {
  const SortedRows& sorted = p.cuts.sorted;
  const Points& points = p.cuts.roots.points;
  double* const db = queue.take<double>(sorted.rows * points.m);
  const Queue::Scope scope(queue);
  gather(queue, scan_both<0>(queue, sorted.gaps(), dr), sorted.n, points, {}, db);
  gather(queue, scan_both<1>(queue, sorted.gaps(), nullptr), sorted.n, points,
         {.odd = true, .row_factor = dalpha, .add = true}, db);
  return {dr, dalpha, db};
}

void add_tangent(Queue& queue, const Permutation& p, const PermutationTangent& tangent,
                 const double* v, std::ptrdiff_t repeat, double* out) {
  const Queue::Scope scope(queue);
  const SortedRows& sorted = p.cuts.sorted;
  const Points& points = p.cuts.roots.points;
  const std::ptrdiff_t rows = sorted.rows * repeat;
  double* const y = queue.take<double>(rows * points.m);
  const double* const weighted = multiply(queue, sorted, tangent.dr, v, repeat);
  const auto add = [&](const auto& scans, const Term& term) {
    gather(queue, scans, sorted.n, points, term, y, repeat);
  };
  add(scan_both<0>(queue, sorted.gaps(repeat), v), {.point_factor = tangent.db});
  add(scan_both<0>(queue, sorted.gaps(repeat), weighted), {.scale = -1, .add = true});
  add(scan_both<1>(queue, sorted.gaps(repeat), v),
      {.odd = true, .scale = -1, .row_factor = tangent.dalpha, .add = true});
  for_each(queue, rows, sorted.n, AddDifferences{p.cuts, y, repeat, out});
}

void add_tangent_transpose(Queue& queue, const Permutation& p, const PermutationTangent& tangent,
                           const double* u, std::ptrdiff_t repeat, double* out) {
  const Queue::Scope scope(queue);
  const SortedRows& sorted = p.cuts.sorted;
  const Points& points = p.cuts.roots.points;
  const double* const h = differences(queue, p, u, nullptr, repeat);
  const double* const moving = differences(queue, p, u, tangent.db, repeat);
  const Scans<1> seen = spread<1>(queue, sorted, points, p.runs, h, repeat);
  const Scans<0> moved = spread<0>(queue, sorted, points, p.runs, moving, repeat);
  for_each(queue, sorted.rows * repeat, sorted.n,
           AddSeen{sorted, tangent, seen, moved, repeat, out});
}

}  // namespace lapsum::gpu
