// The form is sum_t h_t Y_t at the roots, Y_t = sum_j v_j F((b_t - r_j) / alpha), up to a term that
// depends on u and v alone: see permutation_tangent.cu for the derivatives of Y_t.
#include "cuda/primitives/permutation_form.h"

#include "cuda/primitives/for_each.h"
#include "cuda/primitives/sum_rows.h"

namespace lapsum::gpu {
namespace {

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

}  // namespace lapsum::gpu
