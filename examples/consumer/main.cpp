// Chooses two of five scores, softly, for a batch of two rows, and prints the masks and a gradient.
// Returns a failure if a mask does not sum to k.
#include <lapsum/lapsum.h>

#include <cmath>
#include <cstdio>
#include <vector>

int main() {
  constexpr int kRows = 2;
  constexpr int kLength = 5;
  const std::vector<float> scores = {0.1f, 2.0f, -1.0f, 1.5f, 0.3f, 5.0f, 5.0f, 5.0f, 0.0f, 0.0f};
  std::vector<float> mask(scores.size());
  std::vector<lapsum::Threshold> thresholds(kRows);

  const lapsum::Rows<const float> x(scores.data(), kRows, kLength);
  const lapsum::Rows<float> p(mask.data(), kRows, kLength);
  lapsum::soft_topk<float>(x, 2.0, 0.5, p, thresholds.data());

  // The gradient of the first element of each mask.
  std::vector<float> g(scores.size(), 0.0f);
  std::vector<float> gx(scores.size());
  for (int row = 0; row < kRows; ++row) g[row * kLength] = 1;
  lapsum::soft_topk_vjp<float>(x, 2.0, 0.5, thresholds.data(), {g.data(), kRows, kLength},
                               {gx.data(), kRows, kLength}, nullptr, nullptr);

  bool ok = true;
  for (int row = 0; row < kRows; ++row) {
    double sum = 0;
    for (int i = 0; i < kLength; ++i) {
      sum += p[row][i];
      std::printf("%8.4f (%+.4f)", p[row][i], gx[row * kLength + i]);
    }
    std::printf("   sum %.6f\n", sum);
    ok = ok && std::abs(sum - 2) < 1e-6;
  }
  return ok ? 0 : 1;
}
