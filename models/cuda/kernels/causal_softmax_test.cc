#include "models/cuda/kernels/kernels.h"
#include "trainer_sdk/cuda/testing/kernel_case.h"

namespace muster::models::cuda {
namespace {

template <typename Case>
class CudaCausalSoftmaxTest : public KernelTest<Case> {};

TYPED_TEST_SUITE(CudaCausalSoftmaxTest, KernelCases);

constexpr float kFactor = 0.7f;

// Computes the softmax by its definition, in double.
std::vector<double> Probabilities(std::vector<double> scores, int64_t time,
                                  Disturbance& disturb) {
  disturb(scores);
  std::vector<double> all(scores.size());
  for (size_t row = 0; row < scores.size() / size_t(time); ++row) {
    const size_t begin = row * size_t(time);
    const size_t end = begin + row % size_t(time) + 1;
    double sum = 0;
    for (size_t at = begin; at < end; ++at) {
      all[at] = std::exp(kFactor * scores[at]);
      sum += all[at];
    }
    for (size_t at = begin; at < end; ++at) all[at] /= sum;
  }
  disturb(all);
  return all;
}

// Computes the gradient of the scores from the probabilities `p` and their
// gradient `given`.
std::vector<double> ScoresGradient(std::vector<double> p,
                                   std::vector<double> given, int64_t time,
                                   Disturbance& disturb) {
  disturb(p);
  disturb(given);
  std::vector<double> gradient(given.size());
  for (size_t begin = 0; begin < given.size(); begin += size_t(time)) {
    double lost = 0;
    for (size_t j = begin; j < begin + size_t(time); ++j) {
      lost += p[j] * given[j];
    }
    for (size_t j = begin; j < begin + size_t(time); ++j) {
      gradient[j] = kFactor * p[j] * disturb(given[j] - lost);
    }
  }
  return gradient;
}

TYPED_TEST(CudaCausalSoftmaxTest, AsItIsDefined) {
  for (const int64_t time : {1, 3, 37, 70}) {
    constexpr int64_t kMatrices = 3;
    auto scores = this->Numbers(kMatrices * time * time, 1, 4);
    const std::vector<double> exact_scores(scores.begin(), scores.end());
    // Set the elements above the diagonal to NaN: the kernel must ignore their
    // values.
    for (int64_t row = 0; row < kMatrices * time; ++row) {
      for (int64_t j = row % time + 1; j < time; ++j) {
        scores[static_cast<size_t>(row * time + j)] = NAN;
      }
    }
    auto own = this->Narrowed(scores);
    CausalSoftmaxForward(kMatrices, time, kFactor, own.data(), nullptr);
    // Maximum number of successive roundings in one result: those of a product,
    // an exponential (accurate to two units in the last place), the sum of a
    // row, and a quotient.
    const auto operations = static_cast<double>(time) + 6;
    this->ExpectRounded({this->FoundOf(own)}, operations,
                        [&](Disturbance disturb) {
                          return std::vector<std::vector<double>>{
                              Probabilities(exact_scores, time, disturb)};
                        });

    // The expected gradients are computed from the probabilities that the
    // kernel itself has computed.
    const auto p = this->Widened(own);
    const auto given = this->Numbers(kMatrices * time * time, 2);
    auto own_gradient = this->Narrowed(given);
    CausalSoftmaxBackward(own.data(), kMatrices, time, kFactor,
                          own_gradient.data(), nullptr);
    this->ExpectRounded(
        {this->FoundOf(own_gradient)}, operations, [&](Disturbance disturb) {
          return std::vector<std::vector<double>>{
              ScoresGradient({p.begin(), p.end()}, {given.begin(), given.end()},
                             time, disturb)};
        });
  }
}

TYPED_TEST(CudaCausalSoftmaxTest, LargeScoresDoNotOverflow) {
  auto own = this->Narrowed({1e4f, 0, -1e4f, 1e4f});
  CausalSoftmaxForward(1, 2, 1, own.data(), nullptr);
  EXPECT_EQ(this->Widened(own), (std::vector<float>{1, 0, 0, 1}));
}

}  // namespace
}  // namespace muster::models::cuda
