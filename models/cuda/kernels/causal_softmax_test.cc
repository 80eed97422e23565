#include "models/cuda/kernels/causal_softmax.h"

#include "models/cuda/kernels/kernel_case.h"

namespace muster::cuda {
namespace {

template <typename Case>
class CudaCausalSoftmaxTest : public KernelTest<Case> {};

TYPED_TEST_SUITE(CudaCausalSoftmaxTest, KernelCases);

constexpr float kFactor = 0.7f;

// The softmax by its definition, in double.
std::vector<float> Probabilities(const std::vector<float>& scores,
                                 int64_t matrices, int64_t time) {
  std::vector<float> all(scores.size());
  for (int64_t row = 0; row < matrices * time; ++row) {
    const int64_t seen = row % time + 1;
    double sum = 0;
    for (int64_t j = 0; j < seen; ++j) {
      sum += std::exp(kFactor * double{scores[size_t(row * time + j)]});
    }
    for (int64_t j = 0; j < seen; ++j) {
      const auto at = static_cast<size_t>(row * time + j);
      all[at] =
          static_cast<float>(std::exp(kFactor * double{scores[at]}) / sum);
    }
  }
  return all;
}

TYPED_TEST(CudaCausalSoftmaxTest, AsItIsDefined) {
  for (const int64_t time : {1, 3, 37, 70}) {
    constexpr int64_t kMatrices = 3;
    auto scores = this->Numbers(kMatrices * time * time, 1, 4);
    const auto expected = Probabilities(scores, kMatrices, time);
    // Elements above the diagonal may have any value.
    for (int64_t row = 0; row < kMatrices * time; ++row) {
      for (int64_t j = row % time + 1; j < time; ++j) {
        scores[static_cast<size_t>(row * time + j)] = NAN;
      }
    }
    auto own = this->Narrowed(scores);
    CausalSoftmaxForward(kMatrices, time, kFactor, own.data(), nullptr);
    this->ExpectElements(own, expected);

    // Computed from these probabilities, rounding included.
    const auto p = this->Widened(own);
    const auto given = this->Numbers(kMatrices * time * time, 2);
    std::vector<float> gradient(given.size());
    for (size_t row = 0; row < size_t(kMatrices * time); ++row) {
      const size_t begin = row * size_t(time);
      double lost = 0;
      for (size_t j = 0; j < size_t(time); ++j) {
        lost += double{p[begin + j]} * given[begin + j];
      }
      for (size_t j = 0; j < size_t(time); ++j) {
        gradient[begin + j] = static_cast<float>(kFactor * p[begin + j] *
                                                 (given[begin + j] - lost));
      }
    }
    auto own_gradient = this->Narrowed(given);
    CausalSoftmaxBackward(own.data(), kMatrices, time, kFactor,
                          own_gradient.data(), nullptr);
    this->ExpectElements(own_gradient, gradient);
  }
}

TYPED_TEST(CudaCausalSoftmaxTest, LargeScoresDoNotOverflow) {
  auto own = this->Narrowed({1e4f, 0, -1e4f, 1e4f});
  CausalSoftmaxForward(1, 2, 1, own.data(), nullptr);
  this->ExpectElements(own, {1, 0, 0, 1});
}

}  // namespace
}  // namespace muster::cuda
