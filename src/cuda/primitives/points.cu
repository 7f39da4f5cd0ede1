// A thread for every point: it bisects the row, and reads the scans at its two neighbours.
#include "cuda/primitives/points.h"

#include "cuda/primitives/bisection.h"
#include "cuda/primitives/for_each.h"

namespace lapsum::gpu {
namespace {

struct Locate {
  SortedRows sorted;
  const double* x;
  std::ptrdiff_t m;
  bool ties_left;
  Point* points;
  __device__ void operator()(std::ptrdiff_t row, std::ptrdiff_t t) const {
    const RowFacts& facts = sorted.facts[row];
    const double* const r = sorted.r + row * sorted.n;
    const double at = x[row * m + t];
    const std::ptrdiff_t next =
        facts.below + count_while(facts.below, facts.end(), IsBelow<double>{r, at, ties_left});
    const double none = std::isnan(at) ? at : 0.0;
    Point point{0, 0, none, none, 1, static_cast<Index>(next)};
    if (std::isfinite(at) && next > facts.below) {
      point.left_z = std::fmin((at - r[next - 1]) / facts.alpha, kApart);
      point.left_weight = std::exp(-point.left_z);
    }
    if (std::isfinite(at) && next < facts.end()) {
      point.right_z = std::fmin((r[next] - at) / facts.alpha, kApart);
      point.right_weight = std::exp(-point.right_z);
    }
    points[row * m + t] = point;
  }
};

template <int Order>
struct Gather {
  Scans<Order> scans;
  std::ptrdiff_t n;
  Points points;
  Term term;
  double* out;
  std::ptrdiff_t repeat;

  __device__ double side(const std::array<double*, Order + 1>& m, std::ptrdiff_t i,
                         double z) const {
    if constexpr (Order == 0) return m[0][i];
    if constexpr (Order == 1) return m[1][i] + z * m[0][i];
    if constexpr (Order == 2) return m[2][i] + z * (2 * m[1][i] + z * m[0][i]);
    if constexpr (Order == 3) {
      return m[3][i] + z * (3 * m[2][i] + z * (3 * m[1][i] + z * m[0][i]));
    }
  }

  __device__ void operator()(std::ptrdiff_t row, std::ptrdiff_t t) const {
    const std::ptrdiff_t own = shared_row(row, repeat);
    const Point& at = points.at[own * points.m + t];
    const std::ptrdiff_t next = row * n + static_cast<std::ptrdiff_t>(at.next);
    const double left = at.left_weight > 0 ? at.left_weight * side(scans.right, next - 1, at.left_z)
                                           : at.left_weight;
    const double right = at.right_weight > 0 ? at.right_weight * side(scans.left, next, at.right_z)
                                             : at.right_weight;
    const std::ptrdiff_t i = row * points.m + t;
    double value = term.scale * (term.odd ? left - right : left + right);
    if (term.factor) value *= term.factor[i];
    if (term.point_factor) value *= term.point_factor[own * points.m + t];
    if (term.row_factor) value *= term.row_factor[own];
    out[i] = term.add ? out[i] + value : value;
  }
};

}  // namespace

Points locate(Queue& queue, const SortedRows& sorted, const double* x, std::ptrdiff_t m,
              bool ties_left) {
  Point* const points = queue.take<Point>(sorted.rows * m);
  for_each(queue, sorted.rows, m, Locate{sorted, x, m, ties_left, points});
  return {sorted.rows, m, points};
}

template <int Order>
void gather(Queue& queue, const Scans<Order>& scans, std::ptrdiff_t n, const Points& points,
            const Term& term, double* out, std::ptrdiff_t repeat) {
  for_each(queue, points.rows * repeat, points.m,
           Gather<Order>{scans, n, points, term, out, repeat});
}

template void gather<0>(Queue&, const Scans<0>&, std::ptrdiff_t, const Points&, const Term&,
                        double*, std::ptrdiff_t);
template void gather<1>(Queue&, const Scans<1>&, std::ptrdiff_t, const Points&, const Term&,
                        double*, std::ptrdiff_t);
template void gather<2>(Queue&, const Scans<2>&, std::ptrdiff_t, const Points&, const Term&,
                        double*, std::ptrdiff_t);
template void gather<3>(Queue&, const Scans<3>&, std::ptrdiff_t, const Points&, const Term&,
                        double*, std::ptrdiff_t);

}  // namespace lapsum::gpu
