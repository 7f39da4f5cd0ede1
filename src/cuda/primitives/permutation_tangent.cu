// With Y_t = sum_j v_j F((b_t - r_j) / alpha) at the roots b_t, (P v)_i = Y_{i+1} - Y_i; with h_t =
// u_{t-1} - u_t, (P^T u)_j = const + sum_t h_t F((b_t - r_j) / alpha). Both come from the bilinear
// form u^T P v = sum_t h_t Y_t, whose derivatives are kernel sums between roots and elements:
//   dY_t = peak (K_v(b_t) db_t - K_{v dr}(b_t) - Z_v(b_t) dalpha),
//   db_t = <q_t, dr> + <q_t, z_t> dalpha.
#include "cuda/primitives/for_each.h"
#include "cuda/primitives/permutation_tangent.h"
#include "cuda/primitives/sum_rows.h"

namespace lapsum::gpu {
namespace {

// h_t at the roots, times their scale, from u at the positions.
struct Differences {
  Cuts cuts;
  const double* u;
  const double* factor;  // per root, or null
  std::ptrdiff_t repeat;
  double* h;
  __device__ void operator()(std::ptrdiff_t row, std::ptrdiff_t t) const {
    const std::ptrdiff_t own = row / repeat;
    const RowFacts& facts = cuts.sorted.facts[own];
    const std::ptrdiff_t m = cuts.roots.points.m;
    const double* const at = u + row * cuts.sorted.n + facts.below + t;
    const double scale =
        cuts.roots.points.at[own * m + t].scale * (factor ? factor[own * m + t] : 1);
    h[row * m + t] = t + 1 < facts.finite ? (at[0] - at[1]) * scale : 0;
  }
};

// out += the sum over the columns of a row.
struct AddColumns {
  const double* parts;
  std::ptrdiff_t m, repeat;
  double* out;
  __device__ void operator()(std::ptrdiff_t row, std::ptrdiff_t t) const {
    double sum = 0;
    for (std::ptrdiff_t c = 0; c < repeat; ++c) sum += parts[(row * repeat + c) * m + t];
    out[row * m + t] += sum;
  }
};

// gr -= v (right + left), over the columns of a row.
struct SubtractSeen {
  SortedRows sorted;
  const double* v;
  Scans<0> seen;
  std::ptrdiff_t repeat;
  double* gr;
  __device__ void operator()(std::ptrdiff_t row, std::ptrdiff_t j) const {
    const RowFacts& facts = sorted.facts[row];
    if (j < facts.below || j >= facts.end()) return;
    double sum = 0;
    for (std::ptrdiff_t c = 0; c < repeat; ++c) {
      const std::ptrdiff_t i = (row * repeat + c) * sorted.n + j;
      sum += v[i] * (seen.right[0][i] + seen.left[0][i]);
    }
    gr[row * sorted.n + j] -= sum;
  }
};

struct EndForm {
  SortedRows sorted;
  Scans<0> seen;
  double* gr;
  __device__ void operator()(std::ptrdiff_t row, std::ptrdiff_t j) const {
    const std::ptrdiff_t i = row * sorted.n + j;
    gr[i] = sorted.facts[row].peak * (gr[i] + seen.right[0][i] + seen.left[0][i]);
  }
};

struct AddRows {
  const double* sums;
  double sign;
  double* out;
  __device__ void operator()(std::ptrdiff_t row, std::ptrdiff_t) const {
    out[row] += sign * sums[row];
  }
};

// out += Y'_i - Y'_{i-1} at position i, y being Y' without peak and scale.
struct AddDifferences {
  Cuts cuts;
  const double* y;
  std::ptrdiff_t repeat;
  double* out;
  __device__ double at_root(std::ptrdiff_t row, std::ptrdiff_t t) const {
    const std::ptrdiff_t own = row / repeat;
    const std::ptrdiff_t m = cuts.roots.points.m;
    if (t < 0 || t + 1 >= cuts.sorted.facts[own].finite) return 0;
    return cuts.roots.points.at[own * m + t].scale * y[row * m + t];
  }
  __device__ void operator()(std::ptrdiff_t row, std::ptrdiff_t j) const {
    const RowFacts& facts = cuts.sorted.facts[row / repeat];
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
    const std::ptrdiff_t own = row / repeat;
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

double* differences(Queue& queue, const Permutation& p, const double* u, const double* factor,
                    std::ptrdiff_t repeat) {
  double* const h = queue.take<double>(p.cuts.sorted.rows * repeat * p.runs.m);
  for_each(queue, p.cuts.sorted.rows * repeat, p.runs.m, Differences{p.cuts, u, factor, repeat, h});
  return h;
}

// galpha += sign * the sums over the roots of a row, of all its columns.
void add_to_alpha(Queue& queue, const Permutation& p, const double* parts, std::ptrdiff_t repeat,
                  double sign, double* galpha) {
  double* const sums = queue.take<double>(p.cuts.sorted.rows);
  sum_rows(queue, parts, p.cuts.sorted.rows, repeat * p.runs.m, sums);
  for_each(queue, p.cuts.sorted.rows, 1, AddRows{sums, sign, galpha});
}

}  // namespace

FormGradient begin_form(Queue& queue, const Permutation& p, double* galpha) {
  const SortedRows& sorted = p.cuts.sorted;
  const FormGradient form{queue.take<double>(sorted.rows * sorted.n), galpha,
                          queue.take<double>(sorted.rows * p.runs.m)};
  fill(queue, sorted, sorted.n, 0, form.gr);
  fill(queue, sorted, p.runs.m, 0, form.at_roots);
  if (galpha) fill(queue, sorted, 1, 0, galpha);
  return form;
}

void add_form(Queue& queue, const Permutation& p, const double* u, const double* v,
              std::ptrdiff_t repeat, const FormGradient& form) {
  const Queue::Scope scope(queue);
  const SortedRows& sorted = p.cuts.sorted;
  const Points& points = p.cuts.roots.points;
  const double* const h = differences(queue, p, u, nullptr, repeat);
  double* const parts = queue.take<double>(sorted.rows * repeat * points.m);
  {
    const Queue::Scope inner(queue);
    gather(queue, scan_both<0>(queue, sorted.gaps(repeat), v), sorted.n, points, {.factor = h},
           parts, repeat);
    for_each(queue, sorted.rows, points.m, AddColumns{parts, points.m, repeat, form.at_roots});
  }
  if (form.galpha) {
    const Queue::Scope inner(queue);
    gather(queue, scan_both<1>(queue, sorted.gaps(repeat), v), sorted.n, points,
           {.odd = true, .factor = h}, parts, repeat);
    add_to_alpha(queue, p, parts, repeat, -1, form.galpha);
  }
  for_each(queue, sorted.rows, sorted.n,
           SubtractSeen{sorted, v, spread<0>(queue, sorted, points, p.runs, h, repeat), repeat,
                        form.gr});
}

void end_form(Queue& queue, const Permutation& p, const FormGradient& form) {
  const Queue::Scope scope(queue);
  const SortedRows& sorted = p.cuts.sorted;
  const Points& points = p.cuts.roots.points;
  for_each(queue, sorted.rows, sorted.n,
           EndForm{sorted, spread<0>(queue, sorted, points, p.runs, form.at_roots), form.gr});
  if (!form.galpha) return;
  double* const parts = queue.take<double>(sorted.rows * points.m);
  gather(queue, scan_both<1>(queue, sorted.gaps(), nullptr), sorted.n, points,
         {.odd = true, .factor = form.at_roots}, parts);
  add_to_alpha(queue, p, parts, 1, 1, form.galpha);
  row_factors(queue, sorted, {.peak = true}, 1, form.galpha, form.galpha);
}

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
