#include "models/gpt_cuda/cuda_gpt_optimizer.h"

#include <cmath>
#include <type_traits>
#include <vector>

#include "base/testing/rounding.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "models/cuda/emulation/emulated_device.h"

// Compares a share of the state with the whole state, in the emulation of CUDA.
// cuda_gpt_stage_test compares the whole state with the CPU.

namespace muster::cuda {
namespace {

constexpr GptConfig kConfig{
    .vocabulary = 11, .context = 6, .layers = 1, .heads = 2, .width = 8};
constexpr AdamWOptions kOptions = {.weight_decay = 0.1};

template <typename T>
class CudaGptOptimizerTest : public testing::Test {
 public:
  using Optimizer = CudaGptOptimizer<T>;
  using Kept = typename Optimizer::Kept;

  struct Model {
    std::unique_ptr<CudaGptWeights<T>> weights;
    std::unique_ptr<Optimizer> optimizer;
  };

  CudaGptOptimizerTest() : host_(kConfig, {0, 1}) { host_.Initialize(1); }

  // `own` empty: all weights.
  Model NewModel(const std::vector<ElementRange>& own) {
    Model model = {.weights = *CudaGptWeights<T>::Create(device_, host_)};
    auto made = own.empty()
                    ? Optimizer::Create(device_, *model.weights, host_)
                    : Optimizer::Create(device_, *model.weights, host_, own);
    EXPECT_TRUE(made.ok()) << made.status();
    model.optimizer = *std::move(made);
    return model;
  }

  static void Fill(CudaGptWeights<T>& weights, int step) {
    for (size_t i = 0; i < weights.tensors().size(); ++i) {
      float* const gradient =
          weights.gradients() + weights.offset(static_cast<int>(i));
      for (int64_t j = 0; j < weights.tensors()[i].count(); ++j) {
        gradient[j] = static_cast<float>(
            std::sin(static_cast<double>(j * (step + 1)) + i));
      }
    }
  }

  static void Train(Model& model, int first, int last) {
    for (int step = first; step <= last; ++step) {
      Fill(*model.weights, step);
      model.optimizer->Step(
          kOptions,
          {.step = step, .learning_rate = 0.01, .gradient_factor = 0.5});
    }
  }

  static std::vector<T> Values(Model& model) {
    T* const values = model.weights->values();
    return {values, values + model.weights->count()};
  }

  static bool Same(const T& a, const T& b) {
    if constexpr (std::is_same_v<T, float>) {
      return a == b;
    } else {
      return a.bits == b.bits;
    }
  }

  static std::vector<float> CopyOut(const Optimizer& optimizer, Kept kept) {
    std::vector<float> all(static_cast<size_t>(optimizer.count()));
    optimizer.CopyOut(kept, all.data());
    return all;
  }

 protected:
  EmulatedDevice device_;
  GptWeights host_;
};

using Elements = testing::Types<float, Bfloat16>;
TYPED_TEST_SUITE(CudaGptOptimizerTest, Elements);

TYPED_TEST(CudaGptOptimizerTest, AShareIsSteppedAsAllOfItAndNothingElseIs) {
  auto whole = this->NewModel({});
  const auto before = this->Values(whole);
  const int64_t count = whole.weights->count();
  // From the middle of one tensor to the middle of another.
  const std::vector<ElementRange> own = {{500, count - 100}, {3, 70}};
  auto share = this->NewModel(own);
  EXPECT_LT(share.optimizer->bytes(), whole.optimizer->bytes());
  this->Train(whole, 1, 3);
  this->Train(share, 1, 3);
  const auto expected = this->Values(whole);
  const auto found = this->Values(share);
  int64_t stepped = 0;
  for (int64_t i = 0; i < count; ++i) {
    const auto at = static_cast<size_t>(i);
    const bool is_own = (i >= 500 && i < count - 100) || (i >= 3 && i < 70);
    ASSERT_TRUE(this->Same(found[at], is_own ? expected[at] : before[at])) << i;
    if (!this->Same(found[at], before[at])) ++stepped;
  }
  EXPECT_GT(stepped, count / 4);
}

TYPED_TEST(CudaGptOptimizerTest, SquareSumsOfSharesAddUp) {
  auto whole = this->NewModel({});
  const int64_t count = whole.weights->count();
  auto first = this->NewModel({{0, 64}, {640, count}});
  auto second = this->NewModel({{64, 640}});
  this->Fill(*whole.weights, 1);
  this->Fill(*first.weights, 1);
  this->Fill(*second.weights, 1);
  double expected = 0;
  for (int64_t i = 0; i < count; ++i) {
    const double gradient = whole.weights->gradients()[i];
    expected += gradient * gradient;
  }
  EXPECT_GT(expected, 1);
  // Squares of floats are exact in double; each addition rounds.
  const double bound =
      RoundingBound<double>(static_cast<double>(count), expected);
  EXPECT_NEAR(whole.optimizer->GradientSquareSum(), expected, bound);
  EXPECT_NEAR(first.optimizer->GradientSquareSum() +
                  second.optimizer->GradientSquareSum(),
              expected, bound);
  // A share that lacks one typical element would be noticed.
  EXPECT_GT(expected / static_cast<double>(count), bound);
}

TYPED_TEST(CudaGptOptimizerTest, WhatIsKeptGoesOnElsewhere) {
  using Kept = typename TestFixture::Kept;
  const std::vector<ElementRange> own = {{500, 900}, {3, 70}};
  auto undisturbed = this->NewModel(own);
  this->Train(undisturbed, 1, 4);
  auto saved = this->NewModel(own);
  this->Train(saved, 1, 2);
  auto loaded = this->NewModel(own);
  for (const Kept kept : {Kept::kTrained, Kept::kMean, Kept::kSquare}) {
    loaded.optimizer->CopyIn(kept,
                             this->CopyOut(*saved.optimizer, kept).data());
  }
  loaded.optimizer->Round();
  const auto at_two = this->Values(saved);
  const auto rounded = this->Values(loaded);
  for (size_t i = 0; i < at_two.size(); ++i) {
    ASSERT_TRUE(this->Same(rounded[i], at_two[i])) << i;
  }
  this->Train(loaded, 3, 4);
  for (const Kept kept : {Kept::kTrained, Kept::kMean, Kept::kSquare}) {
    EXPECT_EQ(this->CopyOut(*loaded.optimizer, kept),
              this->CopyOut(*undisturbed.optimizer, kept));
  }
}

TYPED_TEST(CudaGptOptimizerTest, AShareOfNothing) {
  auto none = this->NewModel({{10, 10}});
  EXPECT_EQ(none.optimizer->count(), 0);
  const auto before = this->Values(none);
  this->Train(none, 1, 1);
  EXPECT_EQ(none.optimizer->GradientSquareSum(), 0);
  none.optimizer->Round();
  const auto after = this->Values(none);
  for (size_t i = 0; i < before.size(); ++i) {
    ASSERT_TRUE(this->Same(after[i], before[i]));
  }
  EXPECT_EQ(this->device_.status(), absl::OkStatus());
}

TYPED_TEST(CudaGptOptimizerTest, FullMemoryIsAnError) {
  const auto weights =
      *CudaGptWeights<TypeParam>::Create(this->device_, this->host_);
  EmulatedDevice small(int64_t{1} << 10);
  EXPECT_EQ(CudaGptOptimizer<TypeParam>::Create(small, *weights, this->host_)
                .status()
                .code(),
            absl::StatusCode::kResourceExhausted);
}

}  // namespace
}  // namespace muster::cuda
