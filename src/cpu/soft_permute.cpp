// Each column of values goes through the operator of the row; derivatives in x and alpha are those of
// the bilinear form that the columns make with the gradients.
#include "cpu/soft_permute.h"

#include "cpu/primitives/permutation_tangent.h"
#include "instantiate.h"

namespace lapsum::cpu {
namespace {

// One column of `in` and `out`, n x d row-major. Elements are indexed as in x, positions from 0.
template <class T>
struct Column {
  const T* data;
  std::ptrdiff_t stride;
  double operator[](std::ptrdiff_t i) const { return static_cast<double>(data[i * stride]); }
  bool is_finite(std::ptrdiff_t n) const {
    if (stride == 1) return cpu::is_finite(data, n);
    for (std::ptrdiff_t i = 0; i < n; ++i) {
      if (!std::isfinite((*this)[i])) return false;
    }
    return true;
  }
};

// The part of a column that belongs to finite elements or positions, in ascending order.
template <class T>
std::span<double> finite_part(const SortedRow& row, Column<T> column, bool by_element, Arena& arena,
                              int threads) {
  if (by_element) return row.gather(column.data, column.stride, arena, threads);
  std::span<double> out = arena.take<double>(row.finite());
  for (std::ptrdiff_t i = 0; i < row.finite(); ++i) out[i] = column[row.below + i];
  return out;
}

// out = P in, or P^T in. Infinite elements share the positions at their end evenly; a value that is
// not finite makes the column NaN, as 0 times it would in a matrix product.
template <class T>
void apply_column(const PermutedRow& p, Column<T> in, T* out, std::ptrdiff_t stride, Apply apply,
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
  if (!in.is_finite(row.n)) {
    for (std::ptrdiff_t to = 0; to < row.n; ++to) store(to, kNaN);
    return;
  }
  const std::span<const double> given = finite_part(row, in, forward, arena, threads);
  const std::span<const double> result = forward ? p.finite.apply(given, arena, threads)
                                                 : p.finite.apply_transpose(given, arena, threads);
  for_each_part(row.finite(), threads, [&](std::ptrdiff_t begin, std::ptrdiff_t end) {
    if (forward && stride == 1) {
      return narrow_row(&result[begin], end - begin, out + row.below + begin);
    }
    for (std::ptrdiff_t i = begin; i < end; ++i) store(row.below + i, result[i]);
  });
  share(0, row.below);
  share(row.n - row.above, row.n);
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
    const PermutedRow p = PermutedRow::make(row, orientation.peak(), false, arena, inner);
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
    const PermutedRow p = PermutedRow::make(row, orientation.peak(), true, arena, inner);
    FormGradient form(p, galpha != nullptr, arena);
    for (std::ptrdiff_t c = 0; c < columns; ++c) {
      const Arena::Scope scope(arena);
      const Column<T> value{values[i] + c, columns};
      const Column<T> gradient{g[i] + c, columns};
      if (gvalues.data) {
        apply_column(p, gradient, gvalues[i] + c, columns,
                     forward ? Apply::transpose : Apply::permutation, arena, inner);
      }
      if (gx.data || galpha) {
        const auto u = finite_part(row, forward ? gradient : value, false, arena, inner);
        const auto v = finite_part(row, forward ? value : gradient, true, arena, inner);
        form.add(u, v, arena, inner);
      }
    }
    if (gx.data || galpha) form.finish(arena, inner);
    if (gx.data) {
      row.scatter(gx[i], arena, inner,
                  [&](std::ptrdiff_t j) { return orientation.sign * form.gr()[j]; });
    }
    if (galpha) galpha[i] = orientation.alpha_sign * form.galpha();
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
    const PermutedRow p = PermutedRow::make(row, orientation.peak(), true, arena, inner);
    const double da = dalpha ? orientation.alpha_sign * dalpha[i] : 0;
    std::span<double> dr = arena.take<double>(row.finite());
    std::fill(dr.begin(), dr.end(), 0.0);
    if (dx.data) dr = row.gather(dx[i], 1, arena, inner, orientation.sign);
    const auto tangent = PermutationTangent::make(p, dr, da, arena, inner);
    const std::span<const Index> element = row.finite_order();
    for (std::ptrdiff_t c = 0; c < columns; ++c) {
      const Arena::Scope scope(arena);
      T* out = dout[i] + c;
      if (dvalues.data) {
        apply_column(p, Column<T>{dvalues[i] + c, columns}, out, columns, apply, arena, inner);
      }
      const auto given = finite_part(row, Column<T>{values[i] + c, columns}, forward, arena, inner);
      const auto moved = forward ? tangent.apply(p, given, arena, inner)
                                 : tangent.apply_transpose(p, given, arena, inner);
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
