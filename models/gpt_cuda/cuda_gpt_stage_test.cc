#include "models/gpt_cuda/cuda_gpt_stage.h"

#include <cmath>
#include <cstddef>
#include <cstring>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "models/cuda/emulation/emulated_device.h"
#include "models/gpt/gpt_stage.h"
#include "models/gpt_cuda/cuda_gpt_optimizer.h"
#include "models/gpt_cuda/testing/read_gradients.h"

// Compares the whole stage in the emulation of CUDA with the CPU's.

namespace muster::cuda {
namespace {

constexpr int64_t kBatch = 2;
constexpr int64_t kTime = 7;
constexpr GptConfig kConfig{
    .vocabulary = 19, .context = 8, .layers = 2, .heads = 3, .width = 15};

struct Texts {
  std::vector<int32_t> tokens;
  std::vector<int32_t> targets;
};

Texts SomeTexts(int seed) {
  Texts texts;
  for (int i = 0; i < kBatch * kTime; ++i) {
    texts.tokens.push_back((i * 7 + seed) % 19);
    texts.targets.push_back((i * 5 + seed) % 19);
  }
  return texts;
}

// The loss and the gradients by tensor of one pass.
struct PassResult {
  double loss = 0;
  std::vector<std::vector<float>> gradients;
};

GptConfig ConfigWith(GptConfig::Biases biases) {
  GptConfig config = kConfig;
  config.biases = biases;
  return config;
}

// Weights that are large enough for every part to matter.
void Initialize(GptWeights* weights) {
  weights->Initialize(3);
  for (int64_t i = 0; i < weights->count(); ++i) {
    weights->data()[i] *= 4;
    weights->data()[i] += 0.03f * static_cast<float>(std::sin(i));
  }
}

PassResult OnTheCpu(GptWeights& weights, const Texts& texts, float factor) {
  const GptStage stage(weights, kBatch, kTime);
  GptMicroBatch micro_batch;
  micro_batch.tokens = texts.tokens;
  micro_batch.targets = texts.targets;
  std::vector<float> stream;
  weights.ZeroGradients();
  PassResult result;
  stage.Forward(&micro_batch, &stream);
  result.loss = stage.Loss(&micro_batch, stream, factor);
  stage.Backward(&micro_batch, &stream, [](int) {});
  for (size_t i = 0; i < weights.tensors().size(); ++i) {
    const float* const at = weights.gradient(static_cast<int>(i));
    result.gradients.emplace_back(at, at + weights.tensors()[i].count());
  }
  return result;
}

template <typename T>
class CudaGptStageTest : public testing::Test {
 public:
  using Weights = CudaGptWeights<T>;
  using Optimizer = CudaGptOptimizer<T>;
  using Stage = CudaGptStage<T>;
  using Checkpointing = typename Stage::Checkpointing;

  std::unique_ptr<Weights> OnDevice(const GptWeights& weights) {
    auto made = Weights::Create(device_, weights);
    EXPECT_TRUE(made.ok()) << made.status();
    return *std::move(made);
  }

  std::unique_ptr<Optimizer> NewOptimizer(Weights& weights,
                                          const GptWeights& from) {
    auto made = Optimizer::Create(device_, weights, from);
    EXPECT_TRUE(made.ok()) << made.status();
    return *std::move(made);
  }

  std::unique_ptr<Stage> NewStage(Weights& weights, Checkpointing kept) {
    auto made = Stage::Create(device_, weights, kBatch, kTime, kept);
    EXPECT_TRUE(made.ok()) << made.status();
    return *std::move(made);
  }

  std::unique_ptr<CudaGptMicroBatch<T>> NewMicroBatch(const Stage& stage,
                                                      const Texts& texts) {
    auto made = stage.NewMicroBatch();
    EXPECT_TRUE(made.ok()) << made.status();
    (*made)->tokens = texts.tokens;
    (*made)->targets = texts.targets;
    return *std::move(made);
  }

  std::vector<std::vector<float>> Gradients(const Weights& weights) {
    return ReadGradients(device_, weights);
  }

  // Adds to the gradients.
  PassResult Pass(Weights& weights, const Stage& stage,
                  CudaGptMicroBatch<T>* micro_batch, float factor) {
    DeviceArrays arrays(device_);
    T* const gradient = arrays.Add<T>(stage.stream_count());
    std::vector<int> ready(weights.tensors().size());
    stage.Forward(micro_batch, nullptr);
    stage.Loss(micro_batch, factor);
    stage.Backward(micro_batch, gradient,
                   [&](int tensor) { ++ready[static_cast<size_t>(tensor)]; });
    EXPECT_THAT(ready, testing::Each(1));
    return {stage.ReadLoss(*micro_batch), Gradients(weights)};
  }

  PassResult WholePass(const GptWeights& from, const Texts& texts,
                       Checkpointing kept, float factor) {
    const auto weights = OnDevice(from);
    const auto stage = NewStage(*weights, kept);
    return Pass(*weights, *stage, NewMicroBatch(*stage, texts).get(), factor);
  }

  // float32 is compared by element; bfloat16 by the distance of whole tensors,
  // because each activation is rounded by up to 1/256.
  static void ExpectSame(const GptWeights& weights, const PassResult& found,
                         const PassResult& expected) {
    constexpr bool kExact = std::is_same_v<T, float>;
    EXPECT_NEAR(found.loss, expected.loss, kExact ? 1e-5 : 2e-2);
    for (size_t i = 0; i < weights.tensors().size(); ++i) {
      SCOPED_TRACE(weights.tensors()[i].name);
      const std::vector<float>& a = found.gradients[i];
      const std::vector<float>& b = expected.gradients[i];
      ASSERT_EQ(a.size(), b.size());
      double distance = 0;
      double size = 0;
      for (size_t j = 0; j < a.size(); ++j) {
        if (kExact) {
          ASSERT_NEAR(a[j], b[j], 1e-5 * std::max(1.0f, std::fabs(b[j])));
        }
        distance += (double{a[j]} - b[j]) * (double{a[j]} - b[j]);
        size += double{b[j]} * b[j];
      }
      EXPECT_GT(size, 0);
      EXPECT_LE(std::sqrt(distance / size), kExact ? 1e-5 : 4e-2);
    }
  }

 protected:
  EmulatedDevice device_;
};

using Elements = testing::Types<float, Bfloat16>;
TYPED_TEST_SUITE(CudaGptStageTest, Elements);

TYPED_TEST(CudaGptStageTest, LossAndEveryGradientAsOnTheCpu) {
  for (const auto biases :
       {GptConfig::Biases::kAll, GptConfig::Biases::kNone}) {
    GptWeights weights(ConfigWith(biases), {0, 2});
    Initialize(&weights);
    const Texts texts = SomeTexts(1);
    const PassResult expected = OnTheCpu(weights, texts, 1.5f);
    const PassResult found = this->WholePass(
        weights, texts, TestFixture::Checkpointing::kNone, 1.5f);
    this->ExpectSame(weights, found, expected);
  }
}

// Products also read and write the padding rows of the table.
TYPED_TEST(CudaGptStageTest, WhatIsBehindTheTokenTableStaysZero) {
  GptWeights host(kConfig, {0, 2});
  Initialize(&host);
  const auto weights = this->OnDevice(host);
  const auto stage =
      this->NewStage(*weights, TestFixture::Checkpointing::kNone);
  const auto micro_batch = this->NewMicroBatch(*stage, SomeTexts(1));
  const auto optimizer = this->NewOptimizer(*weights, host);
  EXPECT_EQ(weights->padded_vocabulary(), 64);
  for (int step = 1; step <= 2; ++step) {
    weights->ZeroGradients();
    this->Pass(*weights, *stage, micro_batch.get(), 1);
    optimizer->Step({.weight_decay = 0.1},
                    {.step = step, .learning_rate = 1e-3});
    const CudaGptWeight<TypeParam> table = weights->Find(kTokenTable);
    for (int64_t i = int64_t{19} * 15; i < int64_t{64} * 15; ++i) {
      float value = 0;
      std::memcpy(&value, table.value + i, sizeof(TypeParam));
      ASSERT_EQ(value, 0) << i;
      ASSERT_EQ(table.gradient[i], 0) << i;
    }
  }
}

TYPED_TEST(CudaGptStageTest, CheckpointingChangesNoBit) {
  GptWeights weights(kConfig, {0, 2});
  Initialize(&weights);
  const PassResult kept = this->WholePass(weights, SomeTexts(1),
                                          TestFixture::Checkpointing::kNone, 1);
  const PassResult again = this->WholePass(
      weights, SomeTexts(1), TestFixture::Checkpointing::kBlocks, 1);
  EXPECT_EQ(again.loss, kept.loss);
  EXPECT_EQ(again.gradients, kept.gradients);
}

TYPED_TEST(CudaGptStageTest, TwoStagesAreTheWholeModelToTheLastBit) {
  GptWeights whole(kConfig, {0, 2});
  Initialize(&whole);
  const Texts texts = SomeTexts(1);
  const PassResult expected =
      this->WholePass(whole, texts, TestFixture::Checkpointing::kNone, 1);

  GptWeights first(kConfig, {0, 1});
  GptWeights last(kConfig, {1, 2});
  for (GptWeights* const part : {&first, &last}) {
    for (size_t i = 0; i < part->tensors().size(); ++i) {
      const GptTensor& tensor = part->tensors()[i];
      std::copy_n(whole.Find(tensor.name).value, tensor.count(),
                  part->value(static_cast<int>(i)));
    }
  }
  const auto first_weights = this->OnDevice(first);
  const auto last_weights = this->OnDevice(last);
  constexpr auto kNone = TestFixture::Checkpointing::kNone;
  const auto first_stage = this->NewStage(*first_weights, kNone);
  const auto last_stage = this->NewStage(*last_weights, kNone);
  const auto first_batch = this->NewMicroBatch(*first_stage, texts);
  const auto last_batch = this->NewMicroBatch(*last_stage, texts);
  DeviceArrays arrays(this->device_);
  auto* const gradient =
      arrays.template Add<TypeParam>(last_stage->stream_count());
  first_stage->Forward(first_batch.get(), nullptr);
  last_stage->Forward(last_batch.get(), first_stage->Output(*first_batch));
  last_stage->Loss(last_batch.get(), 1);
  last_stage->Backward(last_batch.get(), gradient, [](int) {});
  first_stage->Backward(first_batch.get(), gradient, [](int) {});
  EXPECT_EQ(last_stage->ReadLoss(*last_batch), expected.loss);
  // Both stages have the token table, and the whole model adds its gradients in
  // another order.
  const int table = whole.Find("transformer.wte.weight").index;
  for (const auto& part : {std::pair(&first, first_weights.get()),
                           std::pair(&last, last_weights.get())}) {
    const auto gradients = this->Gradients(*part.second);
    for (size_t i = 0; i < part.first->tensors().size(); ++i) {
      const std::string& name = part.first->tensors()[i].name;
      const int at = whole.Find(name).index;
      if (at == table) continue;
      EXPECT_EQ(gradients[i], expected.gradients[static_cast<size_t>(at)])
          << name;
    }
  }
}

TYPED_TEST(CudaGptStageTest, MicroBatchesAreUsedAgainAndGradientsAdd) {
  GptWeights host(kConfig, {0, 2});
  Initialize(&host);
  const auto weights = this->OnDevice(host);
  const auto stage =
      this->NewStage(*weights, TestFixture::Checkpointing::kNone);
  const auto micro_batch = this->NewMicroBatch(*stage, SomeTexts(1));
  const PassResult fresh = this->Pass(*weights, *stage, micro_batch.get(), 1);
  const Texts other = SomeTexts(4);
  micro_batch->tokens = other.tokens;
  micro_batch->targets = other.targets;
  const PassResult both = this->Pass(*weights, *stage, micro_batch.get(), 1);
  PassResult expected = OnTheCpu(host, other, 1);
  const PassResult first = OnTheCpu(host, SomeTexts(1), 1);
  for (size_t i = 0; i < expected.gradients.size(); ++i) {
    for (size_t j = 0; j < expected.gradients[i].size(); ++j) {
      expected.gradients[i][j] += first.gradients[i][j];
    }
  }
  this->ExpectSame(host, both, expected);

  weights->ZeroGradients();
  const Texts texts = SomeTexts(1);
  micro_batch->tokens = texts.tokens;
  micro_batch->targets = texts.targets;
  const PassResult again = this->Pass(*weights, *stage, micro_batch.get(), 1);
  EXPECT_EQ(again.loss, fresh.loss);
  EXPECT_EQ(again.gradients, fresh.gradients);
}

TYPED_TEST(CudaGptStageTest, LossWithoutABackwardPassIsTheSame) {
  GptWeights host(kConfig, {0, 2});
  Initialize(&host);
  const auto weights = this->OnDevice(host);
  const auto stage =
      this->NewStage(*weights, TestFixture::Checkpointing::kNone);
  const auto micro_batch = this->NewMicroBatch(*stage, SomeTexts(1));
  stage->Forward(micro_batch.get(), nullptr);
  stage->LossOnly(micro_batch.get());
  const double loss = stage->ReadLoss(*micro_batch);
  stage->Loss(micro_batch.get(), 1);
  EXPECT_EQ(stage->ReadLoss(*micro_batch), loss);
}

TYPED_TEST(CudaGptStageTest, TrainsAsTheCpuDoes) {
  GptWeights host(kConfig, {0, 2});
  Initialize(&host);
  const auto weights = this->OnDevice(host);
  const auto stage =
      this->NewStage(*weights, TestFixture::Checkpointing::kNone);
  const auto micro_batch = this->NewMicroBatch(*stage, SomeTexts(1));
  const auto optimizer = this->NewOptimizer(*weights, host);
  std::vector<float> mean(static_cast<size_t>(host.count()));
  std::vector<float> square(mean.size());
  const AdamWOptions options = {.weight_decay = 0.1};
  constexpr double kRate = 1e-3;
  std::vector<double> losses;
  for (int step = 1; step <= 6; ++step) {
    const PassResult expected = OnTheCpu(host, SomeTexts(1), 1);
    double squares = 0;
    int64_t offset = 0;
    for (size_t i = 0; i < host.tensors().size(); ++i) {
      AdamWOptions own = options;
      if (host.tensors()[i].shape.size() == 1) own.weight_decay = 0;
      muster::AdamWStep(own, kRate, step, host.tensors()[i].count(),
                        host.value(static_cast<int>(i)),
                        expected.gradients[i].data(), mean.data() + offset,
                        square.data() + offset);
      offset += host.tensors()[i].count();
      for (const float g : expected.gradients[i]) squares += double{g} * g;
    }
    weights->ZeroGradients();
    const PassResult found = this->Pass(*weights, *stage, micro_batch.get(), 1);
    constexpr bool kExact = std::is_same_v<TypeParam, float>;
    EXPECT_NEAR(found.loss, expected.loss, kExact ? 1e-4 : 5e-2);
    EXPECT_NEAR(optimizer->GradientSquareSum() / squares, 1,
                kExact ? 1e-3 : 0.1);
    optimizer->Step(options, {.step = step, .learning_rate = kRate});
    losses.push_back(found.loss);
  }
  EXPECT_LT(losses.back(), losses.front() - 0.1);
  std::vector<float> trained(static_cast<size_t>(optimizer->count()));
  ASSERT_EQ(optimizer->count(), host.count());
  optimizer->CopyOut(TestFixture::Optimizer::Kept::kTrained, trained.data());
  GptWeights read(kConfig, {0, 2});
  weights->CopyTo(&read);
  constexpr float kRounding = std::is_same_v<TypeParam, float> ? 0 : 1.0f / 256;
  for (int64_t i = 0; i < host.count(); ++i) {
    const float kept = trained[static_cast<size_t>(i)];
    // The largest distance between two trainings after six steps.
    ASSERT_NEAR(kept, host.data()[i], 12.5 * kRate);
    // The passes read the master weights rounded to 8 bits.
    ASSERT_NEAR(read.data()[i], kept, kRounding * std::fabs(kept));
  }
}

TYPED_TEST(CudaGptStageTest, FullMemoryIsAnError) {
  GptWeights host(kConfig, {0, 2});
  const auto weights = this->OnDevice(host);
  constexpr auto kNone = TestFixture::Checkpointing::kNone;
  EmulatedDevice small(int64_t{1} << 10);
  EXPECT_EQ(CudaGptWeights<TypeParam>::Create(small, host).status().code(),
            absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(
      CudaGptStage<TypeParam>::Create(small, *weights, kBatch, kTime, kNone)
          .status()
          .code(),
      absl::StatusCode::kResourceExhausted);
}

}  // namespace
}  // namespace muster::cuda
