// A warp adds up a piece of a row; the sums of pieces are a shorter row.
#include "cuda/primitives/sum_rows.h"

namespace lapsum::gpu {
namespace {

constexpr int kThreads = 256;
constexpr int kWarps = kThreads / kWarp;
constexpr std::ptrdiff_t kPiece = 32 * kWarp;

std::ptrdiff_t pieces_of(std::ptrdiff_t n) { return n > kPiece ? (n + kPiece - 1) / kPiece : 1; }

__global__ void __launch_bounds__(kThreads)
    piece_kernel(const double* x, std::ptrdiff_t rows, std::ptrdiff_t n, std::ptrdiff_t pieces,
                 double* sums) {
  const std::ptrdiff_t count = rows * pieces;
  for_each_item((count + kWarps - 1) / kWarps, [&](std::ptrdiff_t item) {
    const std::ptrdiff_t piece = item * kWarps + threadIdx.x / kWarp;
    if (piece >= count) return;  // the whole warp
    const std::ptrdiff_t row = piece / pieces;
    const std::ptrdiff_t begin = (piece - row * pieces) * kPiece;
    const std::ptrdiff_t end = begin + kPiece < n ? begin + kPiece : n;
    double sum = 0;
    for (std::ptrdiff_t j = begin + threadIdx.x % kWarp; j < end; j += kWarp) sum += x[row * n + j];
    for (int by = kWarp / 2; by > 0; by /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, by);
    if (threadIdx.x % kWarp == 0) sums[piece] = sum;
  });
}

}  // namespace

void sum_rows(Queue& queue, const double* x, std::ptrdiff_t rows, std::ptrdiff_t n, double* sums) {
  const std::ptrdiff_t pieces = pieces_of(n);
  const Queue::Scope scope(queue);
  double* const to = pieces > 1 ? queue.take<double>(rows * pieces) : sums;
  queue.run(piece_kernel, (rows * pieces + kWarps - 1) / kWarps, kThreads, x, rows, n, pieces, to);
  if (pieces > 1) sum_rows(queue, to, rows, pieces, sums);
}

}  // namespace lapsum::gpu
