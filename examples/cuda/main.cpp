// Chooses two of five scores, softly, on a GPU, and prints the masks and a gradient. Everything is
// queued on one stream, and waited for once, when the results are copied back.
// Ends with 1 if a mask does not sum to k, and with 2, saying why, if CUDA does not work here.
#include <cuda_runtime.h>
#include <lapsum/cuda/lapsum.h>

#include <cmath>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

void check(cudaError_t status) {
  if (status == cudaSuccess) return;
  throw std::runtime_error(std::string("CUDA does not work here: ") + cudaGetErrorString(status));
}

// Device memory that holds `size` numbers.
template <class T>
class Array {
 public:
  explicit Array(std::size_t size) : size_(size) { check(cudaMalloc(&data_, size * sizeof(T))); }
  explicit Array(const std::vector<T>& values) : Array(values.size()) {
    check(cudaMemcpy(data_, values.data(), size_ * sizeof(T), cudaMemcpyHostToDevice));
  }
  Array(const Array&) = delete;
  ~Array() { cudaFree(data_); }

  T* data() const { return static_cast<T*>(data_); }
  std::vector<T> copy() const {
    std::vector<T> values(size_);
    check(cudaMemcpy(values.data(), data_, size_ * sizeof(T), cudaMemcpyDeviceToHost));
    return values;
  }

 private:
  std::size_t size_;
  void* data_ = nullptr;
};

bool run() {
  constexpr int kRows = 2;
  constexpr int kLength = 5;
  constexpr double kChosen = 2;
  constexpr double kAlpha = 0.5;
  const Array<float> scores(
      std::vector<float>{0.1f, 2.0f, -1.0f, 1.5f, 0.3f, 5.0f, 5.0f, 5.0f, 0.0f, 0.0f});
  std::vector<float> first(kRows * kLength);
  for (int row = 0; row < kRows; ++row) first[row * kLength] = 1;
  const Array<float> g(first), mask(kRows * kLength), gradient(kRows * kLength);
  const Array<lapsum::Threshold> thresholds(kRows);
  const std::size_t bytes = lapsum::cuda::soft_topk_workspace(kRows, kLength, 1);
  const Array<char> workspace(bytes);
  const lapsum::cuda::Launch where{nullptr, workspace.data(), bytes};

  const lapsum::Rows<const float> x(scores.data(), kRows, kLength);
  lapsum::cuda::soft_topk<float>(x, kChosen, kAlpha, {mask.data(), kRows, kLength},
                                 thresholds.data(), lapsum::Order::descending, where);
  lapsum::cuda::soft_topk_vjp<float>(x, kChosen, kAlpha, thresholds.data(),
                                     {g.data(), kRows, kLength}, {gradient.data(), kRows, kLength},
                                     nullptr, nullptr, lapsum::Order::descending, where);

  const std::vector<float> p = mask.copy();
  const std::vector<float> gx = gradient.copy();
  bool ok = true;
  for (int row = 0; row < kRows; ++row) {
    double sum = 0;
    for (int i = 0; i < kLength; ++i) {
      sum += p[row * kLength + i];
      std::printf("%8.4f (%+.4f)", p[row * kLength + i], gx[row * kLength + i]);
    }
    std::printf("   sum %.6f\n", sum);
    ok = ok && std::abs(sum - kChosen) < 1e-6;
  }
  return ok;
}

}  // namespace

int main() {
  try {
    return run() ? 0 : 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "lapsum_cuda_example: %s\n", error.what());
    return 2;
  }
}
