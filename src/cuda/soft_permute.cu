// Columns of values go through the operator of their row, many at once; derivatives in x and alpha
// are those of the bilinear form that the columns make with the gradients.
#include "cuda/soft_permute.h"

#include "cuda/instantiate.h"
#include "cuda/primitives/columns.h"
#include "cuda/primitives/permutation_form.h"
#include "cuda/primitives/permutation_tangent.h"
#include "cuda/primitives/slabs.h"
#include "cuda/primitives/sum_rows.h"

namespace lapsum::gpu {
namespace {

// body(columns) for columns that are worked on together.
template <class Body>
void for_each_columns(Queue& queue, std::ptrdiff_t entries, std::ptrdiff_t all, Body&& body) {
  const std::ptrdiff_t at_once =
      std::max<std::ptrdiff_t>(1, kSlab / std::max<std::ptrdiff_t>(entries, 1));
  for (std::ptrdiff_t first = 0; first < all; first += at_once) {
    const Queue::Scope scope(queue);
    body(Columns{all, first, std::min(at_once, all - first)});
    if (!queue.runs()) return;  // the first ones are the most
  }
}

struct Spoil {
  const double* v;
  std::ptrdiff_t n;
  double* out;
  __device__ void operator()(std::ptrdiff_t row, std::ptrdiff_t j) const {
    out[row * n + j] = 0 * v[row * n + j];
  }
};
struct AddSpoilt {
  const double* sums;
  std::ptrdiff_t n;
  double* out;
  __device__ void operator()(std::ptrdiff_t row, std::ptrdiff_t j) const {
    out[row * n + j] += sums[row];
  }
};

struct Zero {
  SortedRows sorted;
  std::ptrdiff_t repeat;
  double* out;
  __device__ void operator()(std::ptrdiff_t row, std::ptrdiff_t j) const {
    out[row * sorted.n + j] = 0 * sorted.facts[shared_row(row, repeat)].unit;
  }
};
struct AddTo {
  const double* v;
  std::ptrdiff_t n;
  double* out;
  __device__ void operator()(std::ptrdiff_t row, std::ptrdiff_t j) const {
    out[row * n + j] += v[row * n + j];
  }
};

// P v or P^T v, v by elements or positions and the result by the others, in their own order. A
// value that is not finite makes its column NaN, as 0 times it would in a matrix product.
double* apply_columns(Queue& queue, const Permutation& p, const double* v, Apply which,
                      std::ptrdiff_t repeat) {
  const SortedRows& sorted = p.cuts.sorted;
  const std::ptrdiff_t rows = sorted.rows * repeat;
  const bool forward = which == Apply::permutation;
  double* const out =
      forward ? apply(queue, p, in_order(queue, sorted, v, repeat), repeat)
              : back_in_place(queue, sorted, apply_transpose(queue, p, v, repeat), repeat);
  const Queue::Scope scope(queue);
  double* const spoilt = queue.take<double>(rows * sorted.n);
  double* const sums = queue.take<double>(rows);
  for_each(queue, rows, sorted.n, Spoil{v, sorted.n, spoilt});
  sum_rows(queue, spoilt, rows, sorted.n, sums);
  for_each(queue, rows, sorted.n, AddSpoilt{sums, sorted.n, out});
  return out;
}

template <class T>
void value(Queue& queue, Rows<const T> x, Rows<const T> values, std::ptrdiff_t columns,
           const PerRow& alpha, Rows<T> out, Apply which, Order order) {
  const std::ptrdiff_t n = x.length;
  for_each_slab(queue, x.count, n * columns, [&](const Slab& slab) {
    const Permutation p =
        make_permutation(queue, cut_rows(queue, slab.of(x), slab.of(alpha), order));
    for_each_columns(queue, slab.count * n, columns, [&](const Columns& at) {
      const double* const v = load_columns(queue, slab.of(values), n, at);
      store_columns(queue, apply_columns(queue, p, v, which, at.count), n, at, slab.of(out));
    });
  });
}

template <class T>
void vjp(Queue& queue, Rows<const T> x, Rows<const T> values, std::ptrdiff_t columns,
         const PerRow& alpha, Rows<const T> g, Rows<T> gx, Rows<T> gvalues, double* galpha,
         Apply which, Order order) {
  const std::ptrdiff_t n = x.length;
  const bool forward = which == Apply::permutation;
  const Apply back = forward ? Apply::transpose : Apply::permutation;
  for_each_slab(queue, x.count, n * columns, [&](const Slab& slab) {
    const Permutation p =
        make_permutation(queue, cut_rows(queue, slab.of(x), slab.of(alpha), order));
    const SortedRows& sorted = p.cuts.sorted;
    const FormGradient form = begin_form(queue, p, slab.of(galpha));
    for_each_columns(queue, slab.count * n, columns, [&](const Columns& at) {
      const double* const gradient = load_columns(queue, slab.of(g), n, at);
      if (gvalues.data) {
        const Queue::Scope scope(queue);
        store_columns(queue, apply_columns(queue, p, gradient, back, at.count), n, at,
                      slab.of(gvalues));
      }
      if (gx.data || galpha) {
        const double* const given = load_columns(queue, slab.of(values), n, at);
        const double* const u = forward ? gradient : given;
        const double* const v = forward ? given : gradient;
        add_form(queue, p, u, in_order(queue, sorted, v, at.count), at.count, form);
      }
    });
    if (gx.data || galpha) end_form(queue, p, form);
    if (gx.data) {
      scale_rows(queue, sorted, {.sign = true}, n, form.gr);
      store(queue, back_in_place(queue, sorted, form.gr), slab.of(gx));
    }
    if (galpha) row_factors(queue, sorted, {.alpha_sign = true}, 1, form.galpha, form.galpha);
  });
}

template <class T>
void jvp(Queue& queue, Rows<const T> x, Rows<const T> values, std::ptrdiff_t columns,
         const PerRow& alpha, Rows<const T> dx, Rows<const T> dvalues, const double* dalpha,
         Rows<T> dout, Apply which, Order order) {
  const std::ptrdiff_t n = x.length;
  const bool forward = which == Apply::permutation;
  for_each_slab(queue, x.count, n * columns, [&](const Slab& slab) {
    const Permutation p =
        make_permutation(queue, cut_rows(queue, slab.of(x), slab.of(alpha), order));
    const SortedRows& sorted = p.cuts.sorted;
    double* dr = queue.take<double>(slab.count * n);
    double* da = queue.take<double>(slab.count);
    fill(queue, sorted, n, 0, dr);
    fill(queue, sorted, 1, 0, da);
    if (dx.data) {
      dr = in_order(queue, sorted, load(queue, slab.of(dx), slab.of(alpha), order));
    }
    if (dalpha) da = row_factors(queue, sorted, {.alpha_sign = true}, 1, slab.of(dalpha));
    const PermutationTangent tangent = make_tangent(queue, p, dr, da);
    for_each_columns(queue, slab.count * n, columns, [&](const Columns& at) {
      const std::ptrdiff_t rows = slab.count * at.count;
      double* moved = queue.take<double>(rows * n);
      for_each(queue, rows, n, Zero{sorted, at.count, moved});
      const double* const given = load_columns(queue, slab.of(values), n, at);
      if (forward) {
        add_tangent(queue, p, tangent, in_order(queue, sorted, given, at.count), at.count, moved);
      } else {
        add_tangent_transpose(queue, p, tangent, given, at.count, moved);
        moved = back_in_place(queue, sorted, moved, at.count);
      }
      if (dvalues.data) {
        const double* const dv = load_columns(queue, slab.of(dvalues), n, at);
        for_each(queue, rows, n, AddTo{apply_columns(queue, p, dv, which, at.count), n, moved});
      }
      store_columns(queue, moved, n, at, slab.of(dout));
    });
  });
}

}  // namespace

std::size_t soft_permute_workspace(std::ptrdiff_t rows, std::ptrdiff_t n, std::ptrdiff_t columns) {
  Queue counting;
  const auto x = some_rows<const double>(rows, n);
  const auto values = some_rows<double>(rows, n * columns);
  for (const Apply which : {Apply::permutation, Apply::transpose}) {
    value<double>(counting, x, values, columns, 1, values, which, Order::ascending);
    vjp<double>(counting, x, values, columns, 1, values, some_rows<double>(rows, n), values,
                some<double>(), which, Order::ascending);
    jvp<double>(counting, x, values, columns, 1, x, values, some<double>(), values, which,
                Order::ascending);
  }
  return counting.most();
}

template <class T>
void soft_permute(Rows<const T> x, Rows<const T> values, std::ptrdiff_t columns,
                  const PerRow& alpha, Rows<T> out, Apply apply, Order order,
                  const cuda::Launch& where) {
  Queue queue(where);
  value(queue, x, values, columns, alpha, out, apply, order);
}

template <class T>
void soft_permute_vjp(Rows<const T> x, Rows<const T> values, std::ptrdiff_t columns,
                      const PerRow& alpha, Rows<const T> g, Rows<T> gx, Rows<T> gvalues,
                      double* galpha, Apply apply, Order order, const cuda::Launch& where) {
  Queue queue(where);
  vjp(queue, x, values, columns, alpha, g, gx, gvalues, galpha, apply, order);
}

template <class T>
void soft_permute_jvp(Rows<const T> x, Rows<const T> values, std::ptrdiff_t columns,
                      const PerRow& alpha, Rows<const T> dx, Rows<const T> dvalues,
                      const double* dalpha, Rows<T> dout, Apply apply, Order order,
                      const cuda::Launch& where) {
  Queue queue(where);
  jvp(queue, x, values, columns, alpha, dx, dvalues, dalpha, dout, apply, order);
}

LAPSUM_INSTANTIATE_CUDA(soft_permute)
LAPSUM_INSTANTIATE_CUDA(soft_permute_vjp)
LAPSUM_INSTANTIATE_CUDA(soft_permute_jvp)

}  // namespace lapsum::gpu
