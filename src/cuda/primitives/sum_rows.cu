// A warp adds up a piece of a row; the sums of pieces are a shorter row.
#include "cuda/primitives/sum_rows.h"

#include "cuda/primitives/team.h"

namespace lapsum::gpu {
namespace {

constexpr std::ptrdiff_t kPiece = 32 * kWarp;

std::ptrdiff_t pieces_of(std::ptrdiff_t n) { return n > kPiece ? (n + kPiece - 1) / kPiece : 1; }

__global__ void __launch_bounds__(kTeamThreads<Warp>)
    piece_kernel(const double* x, std::ptrdiff_t rows, std::ptrdiff_t n, std::ptrdiff_t pieces,
                 double* sums) {
  for_each_piece<Warp>(rows * pieces, [&](std::ptrdiff_t piece) {
    const std::ptrdiff_t row = piece / pieces;
    const std::ptrdiff_t begin = (piece - row * pieces) * kPiece;
    const std::ptrdiff_t end = begin + kPiece < n ? begin + kPiece : n;
    double sum = 0;
    for (std::ptrdiff_t j = begin + rank_in_team<Warp>(); j < end; j += kWarp) {
      sum += x[row * n + j];
    }
    sum = Warp::reduce(sum);
    if (rank_in_team<Warp>() == 0) sums[piece] = sum;
  });
}

}  // namespace

void sum_rows(Queue& queue, const double* x, std::ptrdiff_t rows, std::ptrdiff_t n, double* sums) {
  const std::ptrdiff_t pieces = pieces_of(n);
  const Queue::Scope scope(queue);
  double* const to = pieces > 1 ? queue.take<double>(rows * pieces) : sums;
  run_teams<Warp>(queue, piece_kernel, rows * pieces, x, rows, n, pieces, to);
  if (pieces > 1) sum_rows(queue, to, rows, pieces, sums);
}

}  // namespace lapsum::gpu
