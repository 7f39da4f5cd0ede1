// With Y_t = sum_j v_j F((b_t - r_j) / alpha) at the roots b_t, (P v)_i = Y_{i+1} - Y_i; with
// h_t = u_{t-1} - u_t, (P^T u)_j = const + sum_t h_t F((b_t - r_j) / alpha). Both come from the
// bilinear form u^T P v = sum_t h_t Y_t, whose derivatives are kernel sums between roots and elements:
//   dY_t = peak (K_v(b_t) db_t - K_{v dr}(b_t) - Z_v(b_t) dalpha),
//   db_t = <q_t, dr> + <q_t, z_t> dalpha.
#include "cpu/primitives/permutation_tangent.h"

#include <algorithm>

namespace lapsum::cpu {
namespace {

// h_t = u_{t-1} - u_t at the roots, times their scale, from u at the positions.
std::span<double> root_differences(const PermutedRow& p, std::span<const double> u, Arena& arena) {
  std::span<double> h = arena.take<double>(p.root_count());
  for (std::ptrdiff_t t = 0; t < p.root_count(); ++t) {
    h[t] = (u[t] - u[t + 1]) * p.roots[t].scale;
  }
  return h;
}

}  // namespace

FormGradient::FormGradient(const PermutedRow& row, bool with_alpha, Arena& arena)
    : p_(row),
      with_alpha_(with_alpha),
      gr_(arena.take<double>(row.row.finite())),
      at_roots_(arena.take<double>(row.root_count())) {
  std::fill(gr_.begin(), gr_.end(), 0.0);
  std::fill(at_roots_.begin(), at_roots_.end(), 0.0);
}

void FormGradient::add(std::span<const double> u, std::span<const double> v, Arena& arena,
                       int threads) {
  const Scans<0> sums = scan_both<0>(p_.row.decays, {v}, arena, threads);
  const std::span<const double> h = root_differences(p_, u, arena);
  for_each_chunk(p_.root_count(), threads, [&](std::ptrdiff_t begin, std::ptrdiff_t end) {
    for (std::ptrdiff_t t = begin; t < end; ++t) {
      at_roots_[t] += h[t] * gather(sums, p_.roots[t]).even();
    }
  });
  if (with_alpha_) {
    const Scans<1> scans = scan_both<1>(p_.row.decays, {v, {}}, arena, threads);
    galpha_ -= sum_over(p_.root_count(), threads,
                        [&](std::ptrdiff_t t) { return h[t] * gather(scans, p_.roots[t]).odd(); });
  }
  const Scans<0> seen = scatter<0>(p_.row.decays, p_.roots, h, arena, threads);
  for_each_chunk(p_.row.finite(), threads, [&](std::ptrdiff_t begin, std::ptrdiff_t end) {
    for (std::ptrdiff_t j = begin; j < end; ++j) {
      gr_[j] -= v[j] * (seen.right[0][j] + seen.left[0][j]);
    }
  });
}

void FormGradient::finish(Arena& arena, int threads) {
  const Scans<0> seen = scatter<0>(p_.row.decays, p_.roots, at_roots_, arena, threads);
  for_each_chunk(p_.row.finite(), threads, [&](std::ptrdiff_t begin, std::ptrdiff_t end) {
    for (std::ptrdiff_t j = begin; j < end; ++j) {
      gr_[j] = p_.peak * (gr_[j] + seen.right[0][j] + seen.left[0][j]);
    }
  });
  if (!with_alpha_) return;
  const Scans<1> ones = scan_both<1>(p_.row.decays, {}, arena, threads);
  galpha_ += sum_over(p_.root_count(), threads, [&](std::ptrdiff_t t) {
    return at_roots_[t] * gather(ones, p_.roots[t]).odd();
  });
  galpha_ *= p_.peak;
}

PermutationTangent PermutationTangent::make(const PermutedRow& p, std::span<const double> dr,
                                            double dalpha, Arena& arena, int threads) {
  const Scans<0> moved = scan_both<0>(p.row.decays, {dr}, arena, threads);
  const Scans<1> ones = scan_both<1>(p.row.decays, {}, arena, threads);
  std::span<double> db = arena.take<double>(p.root_count());
  for (std::ptrdiff_t t = 0; t < p.root_count(); ++t) {
    const Point& root = p.roots[t];
    db[t] = gather(moved, root).even() + dalpha * gather(ones, root).odd();
  }
  return {dr, dalpha, db};
}

std::span<double> PermutationTangent::apply(const PermutedRow& p, std::span<const double> v,
                                            Arena& arena, int threads) const {
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
      const Point& root = p.roots[i];
      now = p.peak * root.scale *
            (db[i] * gather(sums, root).even() - gather(moved, root).even() -
             dalpha * gather(scans, root).odd());
    }
    out[i] = now - before;
    before = now;
  }
  return out;
}

std::span<double> PermutationTangent::apply_transpose(const PermutedRow& p,
                                                      std::span<const double> u, Arena& arena,
                                                      int threads) const {
  const std::ptrdiff_t n = p.row.finite();
  const std::span<const double> h = root_differences(p, u, arena);
  std::span<double> moving = arena.take<double>(p.root_count());
  for (std::ptrdiff_t t = 0; t < p.root_count(); ++t) moving[t] = h[t] * db[t];
  const Scans<1> seen = scatter<1>(p.row.decays, p.roots, h, arena, threads);
  const Scans<0> moved = scatter<0>(p.row.decays, p.roots, moving, arena, threads);
  std::span<double> out = arena.take<double>(n);
  for (std::ptrdiff_t j = 0; j < n; ++j) {
    const double even = seen.right[0][j] + seen.left[0][j];
    const double odd = seen.left[1][j] - seen.right[1][j];  // roots right of r_j have z > 0
    out[j] = p.peak * (moved.right[0][j] + moved.left[0][j] - dr[j] * even - dalpha * odd);
  }
  return out;
}

}  // namespace lapsum::cpu
