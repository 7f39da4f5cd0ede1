// With Y_t = sum_j v_j F((b_t - r_j) / alpha) at the roots b_t, (P v)_i = Y_{i+1} - Y_i; with
// h_t = u_{t-1} - u_t, (P^T u)_j = const + sum_t h_t F((b_t - r_j) / alpha). Both come from the
// bilinear form u^T P v = sum_t h_t Y_t, whose derivatives are kernel sums between roots and
// elements:
//   dY_t = peak (K_v(b_t) db_t - K_{v dr}(b_t) - Z_v(b_t) dalpha),  db_t = <q_t, dr> + <q_t, z_t>
//   dalpha.
#include "cpu/soft_permute.h"

#include "cpu/primitives/permutation.h"
#include "instantiate.h"

namespace lapsum::cpu {
namespace {

// A valid row with its operator; positions and elements at infinity stand aside.
struct Permuted {
  const SortedRow& row;
  Scans<1> ones;
  Roots roots;
  Permutation finite;
  double peak;

  static Permuted make(const SortedRow& row, double peak, Arena& arena, int threads) {
    const Scans<1> ones = scan_both<1>(row.decays, {}, arena, threads);
    const Roots roots = permutation_roots(row, lowest(ones), arena, threads);
    return {row, ones, roots, Permutation(row.decays, roots, arena, threads), peak};
  }

  std::ptrdiff_t root_count() const { return std::ssize(roots.points); }
};

// One column of `in` and `out`, n x d row-major. Elements are indexed as in x, positions from 0.
template <class T>
struct Column {
  const T* data;
  std::ptrdiff_t stride;
  double operator[](std::ptrdiff_t i) const { return static_cast<double>(data[i * stride]); }
};

// The part of a column that belongs to finite elements or positions, in ascending order.
template <class T>
std::span<double> finite_part(const SortedRow& row, Column<T> column, bool by_element,
                              Arena& arena) {
  if (by_element) return row.gather(column.data, column.stride, arena);
  std::span<double> out = arena.take<double>(row.finite());
  for (std::ptrdiff_t i = 0; i < row.finite(); ++i) out[i] = column[row.below + i];
  return out;
}

// out = P in, or P^T in. Infinite elements share the positions at their end evenly.
template <class T>
void apply_column(const Permuted& p, Column<T> in, T* out, std::ptrdiff_t stride, Apply apply,
                  Arena& arena, int threads) {
  const SortedRow& row = p.row;
  const bool forward = apply == Apply::permutation;
  const auto source = [&](std::ptrdiff_t at) {
    return in[forward ? static_cast<std::ptrdiff_t>(row.order[at]) : at];
  };
  const auto store = [&](std::ptrdiff_t at, double value) {
    out[stride * (forward ? at : static_cast<std::ptrdiff_t>(row.order[at]))] = narrow<T>(value);
  };
  const auto share = [&](std::ptrdiff_t begin, std::ptrdiff_t end) {
    double sum = 0;
    for (std::ptrdiff_t at = begin; at < end; ++at) sum += source(at);
    for (std::ptrdiff_t at = begin; at < end; ++at) {
      store(at, sum / static_cast<double>(end - begin));
    }
  };
  const std::span<const double> given = finite_part(row, in, forward, arena);
  const std::span<const double> result = forward ? p.finite.apply(given, arena, threads)
                                                 : p.finite.apply_transpose(given, arena, threads);
  for (std::ptrdiff_t i = 0; i < row.finite(); ++i) store(row.below + i, result[i]);
  share(0, row.below);
  share(row.n - row.above, row.n);
}

// h_t = u_{t-1} - u_t at the roots, from u at the positions.
std::span<double> root_differences(const Permuted& p, std::span<const double> u, Arena& arena) {
  std::span<double> h = arena.take<double>(p.root_count());
  for (std::ptrdiff_t t = 0; t < p.root_count(); ++t) h[t] = u[t] - u[t + 1];
  return h;
}

// The gradients in r and alpha of sum over columns of u^T P v, in sorted order.
struct FormGradient {
  std::span<double> gr;
  std::span<double> at_roots;  // sum over columns of h_t K_v(b_t) / scale_t
  double galpha = 0;           // without the part of db/dalpha
};

void add_form_gradient(const Permuted& p, std::span<const double> u, std::span<const double> v,
                       FormGradient& out, Arena& arena, int threads) {
  const Scans<1> scans = scan_both<1>(p.row.decays, {v, {}}, arena, threads);
  const Scans<0> sums = lowest(scans);
  std::span<double> h = root_differences(p, u, arena);
  for (std::ptrdiff_t t = 0; t < p.root_count(); ++t) {
    const Point& root = p.roots.points[t];
    h[t] *= root.scale;
    out.at_roots[t] += h[t] * gather(sums, root).even();
    out.galpha -= h[t] * gather(scans, root).odd();
  }
  const Scans<0> seen = scatter<0>(p.row.decays, p.roots.points, h, arena, threads);
  for (std::ptrdiff_t j = 0; j < p.row.finite(); ++j) {
    out.gr[j] -= v[j] * (seen.right[0][j] + seen.left[0][j]);
  }
}

// Adds what the roots themselves contribute: they move with r and alpha.
void finish_form_gradient(const Permuted& p, FormGradient& out, Arena& arena, int threads) {
  const Scans<0> seen = scatter<0>(p.row.decays, p.roots.points, out.at_roots, arena, threads);
  for (std::ptrdiff_t j = 0; j < p.row.finite(); ++j) {
    out.gr[j] = p.peak * (out.gr[j] + seen.right[0][j] + seen.left[0][j]);
  }
  for (std::ptrdiff_t t = 0; t < p.root_count(); ++t) {
    out.galpha += out.at_roots[t] * gather(p.ones, p.roots.points[t]).odd();
  }
  out.galpha *= p.peak;
}

// db_t along (dr, dalpha).
std::span<double> move_roots(const Permuted& p, std::span<const double> dr, double da, Arena& arena,
                             int threads) {
  const Scans<0> moved = scan_both<0>(p.row.decays, {dr}, arena, threads);
  std::span<double> db = arena.take<double>(p.root_count());
  for (std::ptrdiff_t t = 0; t < p.root_count(); ++t) {
    const Point& root = p.roots.points[t];
    db[t] = gather(moved, root).even() + da * gather(p.ones, root).odd();
  }
  return db;
}

// (dP) v at the positions.
std::span<double> tangent(const Permuted& p, std::span<const double> v, std::span<const double> dr,
                          double da, std::span<const double> db, Arena& arena, int threads) {
  const std::ptrdiff_t n = p.row.finite();
  std::span<double> weighted = arena.take<double>(n);
  for (std::ptrdiff_t j = 0; j < n; ++j) weighted[j] = v[j] * dr[j];
  const Scans<1> scans = scan_both<1>(p.row.decays, {v, {}}, arena, threads);
  const Scans<0> sums = lowest(scans);
  const Scans<0> moved = scan_both<0>(p.row.decays, {weighted}, arena, threads);
  std::span<double> out = arena.take<double>(n);
  double before = 0;
  for (std::ptrdiff_t i = 0; i < n; ++i) {
    double now = 0;
    if (i < p.root_count()) {
      const Point& root = p.roots.points[i];
      now = p.peak * root.scale *
            (db[i] * gather(sums, root).even() - gather(moved, root).even() -
             da * gather(scans, root).odd());
    }
    out[i] = now - before;
    before = now;
  }
  return out;
}

// (dP)^T u at the elements.
std::span<double> tangent_transpose(const Permuted& p, std::span<const double> u,
                                    std::span<const double> dr, double da,
                                    std::span<const double> db, Arena& arena, int threads) {
  const std::ptrdiff_t n = p.row.finite();
  std::span<double> h = root_differences(p, u, arena);
  std::span<double> moving = arena.take<double>(p.root_count());
  for (std::ptrdiff_t t = 0; t < p.root_count(); ++t) {
    h[t] *= p.roots.points[t].scale;
    moving[t] = h[t] * db[t];
  }
  const Scans<1> seen = scatter<1>(p.row.decays, p.roots.points, h, arena, threads);
  const Scans<0> moved = scatter<0>(p.row.decays, p.roots.points, moving, arena, threads);
  std::span<double> out = arena.take<double>(n);
  for (std::ptrdiff_t j = 0; j < n; ++j) {
    const double even = seen.right[0][j] + seen.left[0][j];
    const double odd = seen.left[1][j] - seen.right[1][j];  // roots right of r_j have z > 0
    out[j] = p.peak * (moved.right[0][j] + moved.left[0][j] - dr[j] * even - da * odd);
  }
  return out;
}

}  // namespace

template <class T>
void soft_permute(Rows<const T> x, Rows<const T> values, std::ptrdiff_t columns,
                  const PerRow& alpha, Rows<T> out, Apply apply, Order order, Threads threads) {
  const std::ptrdiff_t n = x.length;
  for_each_row(x.count, n * (columns + 1), threads, [&](std::ptrdiff_t i, Arena& arena, int inner) {
    const Orientation orientation(alpha[i], order);
    const SortedRow row = sort_row(x[i], n, orientation, Need::order, arena, inner);
    if (!row.valid) return fill(out[i], n * columns, kNaN);
    const Permuted p = Permuted::make(row, orientation.peak(), arena, inner);
    for (std::ptrdiff_t c = 0; c < columns; ++c) {
      const Arena::Scope scope(arena);
      apply_column(p, Column<T>{values[i] + c, columns}, out[i] + c, columns, apply, arena, inner);
    }
  });
}

template <class T>
void soft_permute_vjp(Rows<const T> x, Rows<const T> values, std::ptrdiff_t columns,
                      const PerRow& alpha, Rows<const T> g, Rows<T> gx, Rows<T> gvalues,
                      double* galpha, Apply apply, Order order, Threads threads) {
  const std::ptrdiff_t n = x.length;
  const bool forward = apply == Apply::permutation;
  for_each_row(x.count, n * (columns + 1), threads, [&](std::ptrdiff_t i, Arena& arena, int inner) {
    const Orientation orientation(alpha[i], order);
    const SortedRow row = sort_row(x[i], n, orientation, Need::order, arena, inner);
    if (gx.data) fill(gx[i], n, row.valid ? 0 : kNaN);
    if (gvalues.data) fill(gvalues[i], n * columns, row.valid ? 0 : kNaN);
    if (galpha) galpha[i] = row.valid ? 0 : kNaN;
    if (!row.valid) return;
    const Permuted p = Permuted::make(row, orientation.peak(), arena, inner);
    FormGradient form{arena.take<double>(row.finite()), arena.take<double>(p.root_count())};
    std::fill(form.gr.begin(), form.gr.end(), 0.0);
    std::fill(form.at_roots.begin(), form.at_roots.end(), 0.0);
    for (std::ptrdiff_t c = 0; c < columns; ++c) {
      const Arena::Scope scope(arena);
      const Column<T> value{values[i] + c, columns};
      const Column<T> gradient{g[i] + c, columns};
      if (gvalues.data) {
        apply_column(p, gradient, gvalues[i] + c, columns,
                     forward ? Apply::transpose : Apply::permutation, arena, inner);
      }
      if (gx.data || galpha) {
        const auto u = finite_part(row, forward ? gradient : value, false, arena);
        const auto v = finite_part(row, forward ? value : gradient, true, arena);
        add_form_gradient(p, u, v, form, arena, inner);
      }
    }
    finish_form_gradient(p, form, arena, inner);
    if (gx.data) {
      const std::span<const Index> element = row.finite_order();
      for (std::ptrdiff_t j = 0; j < row.finite(); ++j) {
        gx[i][element[j]] = narrow<T>(orientation.sign * form.gr[j]);
      }
    }
    if (galpha) galpha[i] = orientation.alpha_sign * form.galpha;
  });
}

template <class T>
void soft_permute_jvp(Rows<const T> x, Rows<const T> values, std::ptrdiff_t columns,
                      const PerRow& alpha, Rows<const T> dx, Rows<const T> dvalues,
                      const double* dalpha, Rows<T> dout, Apply apply, Order order,
                      Threads threads) {
  const std::ptrdiff_t n = x.length;
  const bool forward = apply == Apply::permutation;
  for_each_row(x.count, n * (columns + 1), threads, [&](std::ptrdiff_t i, Arena& arena, int inner) {
    const Orientation orientation(alpha[i], order);
    const SortedRow row = sort_row(x[i], n, orientation, Need::order, arena, inner);
    fill(dout[i], n * columns, row.valid ? 0 : kNaN);
    if (!row.valid) return;
    const Permuted p = Permuted::make(row, orientation.peak(), arena, inner);
    const double da = dalpha ? orientation.alpha_sign * dalpha[i] : 0;
    std::span<double> dr = arena.take<double>(row.finite());
    std::fill(dr.begin(), dr.end(), 0.0);
    if (dx.data) dr = row.gather(dx[i], 1, arena, orientation.sign);
    const std::span<const double> db = move_roots(p, dr, da, arena, inner);
    const std::span<const Index> element = row.finite_order();
    for (std::ptrdiff_t c = 0; c < columns; ++c) {
      const Arena::Scope scope(arena);
      T* out = dout[i] + c;
      if (dvalues.data) {
        apply_column(p, Column<T>{dvalues[i] + c, columns}, out, columns, apply, arena, inner);
      }
      const auto given = finite_part(row, Column<T>{values[i] + c, columns}, forward, arena);
      const auto moved = forward ? tangent(p, given, dr, da, db, arena, inner)
                                 : tangent_transpose(p, given, dr, da, db, arena, inner);
      for (std::ptrdiff_t j = 0; j < row.finite(); ++j) {
        const std::ptrdiff_t at = forward ? row.below + j : static_cast<std::ptrdiff_t>(element[j]);
        T& to = out[columns * at];
        to = narrow<T>(static_cast<double>(to) + moved[j]);
      }
    }
  });
}

LAPSUM_INSTANTIATE(soft_permute)
LAPSUM_INSTANTIATE(soft_permute_vjp)
LAPSUM_INSTANTIATE(soft_permute_jvp)

}  // namespace lapsum::cpu
