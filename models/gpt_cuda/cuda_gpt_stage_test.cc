#include "models/gpt_cuda/cuda_gpt_stage.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <vector>

#include "base/testing/rounding.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "models/cuda/testing/emulated_device.h"
#include "models/gpt/gpt_stage.h"
#include "models/gpt_cuda/testing/read_gradients.h"
#include "trainer_sdk/optim/replicated_optimizer.h"
#include "trainer_sdk/reduce/reduce.h"

// Compares a whole stage in the emulation of CUDA with GptStage on the CPU.

namespace muster::models::cuda {
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

// The loss and each tensor's gradient of one pass.
struct PassResult {
  double loss = 0;
  std::vector<std::vector<float>> gradients;
};

GptConfig ConfigWith(GptConfig::Biases biases) {
  GptConfig config = kConfig;
  config.biases = biases;
  return config;
}

// Sets weights that are exact in bfloat16, and so large that every part of the
// model affects the result.
void Initialize(GptWeights* weights) {
  weights->Initialize(3);
  for (int64_t i = 0; i < weights->count(); ++i) {
    weights->data()[i] *= 4;
    weights->data()[i] += 0.03f * static_cast<float>(std::sin(i));
  }
  std::vector<uint16_t> narrow(static_cast<size_t>(weights->count()));
  Narrow(weights->data(), DType::kBFloat16, narrow.data(), weights->count());
  Widen(DType::kBFloat16, narrow.data(), weights->data(), weights->count());
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

using Lists = std::vector<std::vector<double>>;

Lists ListsOf(const PassResult& result) {
  Lists lists = {{result.loss}};
  for (const std::vector<float>& gradient : result.gradients) {
    lists.emplace_back(gradient.begin(), gradient.end());
  }
  return lists;
}

void Disturb(float* values, int64_t count, Disturbance* disturb) {
  for (int64_t i = 0; i < count; ++i) {
    values[i] = static_cast<float>((*disturb)(values[i]));
  }
}

// Runs one pass on the CPU for each element of `texts`, a micro-batch of tokens
// and targets. Returns the loss of the last pass and the sum of the gradients,
// with their condition numbers: their sensitivity to small changes of the
// weights (Disturbance).
RoundingReference CpuReference(const GptWeights& weights,
                               const std::vector<Texts>& texts, float factor) {
  return RoundingReference([&](Disturbance disturb) {
    GptWeights disturbed(weights.config(), {0, 2});
    std::copy_n(weights.data(), weights.count(), disturbed.data());
    Disturb(disturbed.data(), disturbed.count(), &disturb);
    Lists sums;
    for (const Texts& each : texts) {
      Lists lists = ListsOf(OnTheCpu(disturbed, each, factor));
      for (size_t i = 1; i < sums.size(); ++i) {
        for (size_t j = 0; j < sums[i].size(); ++j) lists[i][j] += sums[i][j];
      }
      sums = std::move(lists);
    }
    return sums;
  });
}

template <typename T>
class CudaGptStageTest : public testing::Test {
 public:
  using Weights = CudaGptWeights<T>;
  using Stage = CudaGptStage<T>;
  using Checkpointing = typename Stage::Checkpointing;

  static constexpr bool kWide = std::is_same_v<T, float>;

  // Returns an upper bound of the relative error that rounding causes in a
  // result. The difference between GPU and CPU may be this bound times the
  // result's condition number.
  //
  // With float32, GPU and CPU both round, hence the factor 2. The longest chain
  // of roundings is a dot product of 4 * width terms, followed by the sum of a
  // gradient over the tokens. With bfloat16, only the GPU rounds to bfloat16. A
  // layer rounds three values: the output of a normalization, the output of a
  // matrix product, and the sum with the residual stream.
  static double Growth() {
    return kWide ? 2 * RoundingGrowth<float>(4 * kConfig.width + kBatch * kTime)
                 : RoundingGrowth(3, kBfloat16Roundoff);
  }

  // The factor of a planted error, which is too large to be explained by
  // rounding and must be detected.
  static constexpr double kWrongFactor = kWide ? 1.001 : 1.5;

  // Expects that `found` and `reference` differ by no more than rounding
  // errors. Then multiplies one list of `found` after the other by
  // kWrongFactor, and expects that the comparison detects each of these errors.
  static void ExpectSame(const RoundingReference& reference,
                         const Lists& found) {
    EXPECT_EQ(reference.ListBeyond(Growth(), found), -1);
    for (size_t i = 0; i < found.size(); ++i) {
      Lists planted = found;
      for (double& value : planted[i]) value *= kWrongFactor;
      EXPECT_EQ(reference.ListBeyond(Growth(), planted), static_cast<int>(i))
          << "planted";
    }
  }

  std::unique_ptr<Weights> OnDevice(const GptWeights& weights) {
    auto made = Weights::Create(device_, weights);
    EXPECT_TRUE(made.ok()) << made.status();
    return *std::move(made);
  }

  // Returns an AdamW optimizer for `weights`.
  std::unique_ptr<ReplicatedOptimizer> NewOptimizer(Weights& weights) {
    std::vector<Tensor> tensors = weights.DeviceTensors();
    auto made = std::make_unique<ReplicatedOptimizer>(
        AdamWRule({.weight_decay = 0.1}), tensors,
        [tensors](int i) { return tensors[static_cast<size_t>(i)].gradient; },
        device_);
    EXPECT_TRUE(made->status().ok()) << made->status();
    return made;
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

  // Runs a forward and a backward pass. The backward pass adds to the gradients
  // of `weights`.
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
    const PassResult found = this->WholePass(
        weights, texts, TestFixture::Checkpointing::kNone, 1.5f);
    this->ExpectSame(CpuReference(weights, {texts}, 1.5f), ListsOf(found));
  }
}

// Matrix products also read and write the padding rows of the token table,
// which must stay zero.
TYPED_TEST(CudaGptStageTest, PaddingOfTheTokenTableStaysZero) {
  GptWeights host(kConfig, {0, 2});
  Initialize(&host);
  const auto weights = this->OnDevice(host);
  const auto stage =
      this->NewStage(*weights, TestFixture::Checkpointing::kNone);
  const auto micro_batch = this->NewMicroBatch(*stage, SomeTexts(1));
  const auto optimizer = this->NewOptimizer(*weights);
  EXPECT_EQ(weights->padded_vocabulary(), 64);
  for (int step = 1; step <= 2; ++step) {
    weights->ZeroGradients();
    this->Pass(*weights, *stage, micro_batch.get(), 1);
    ASSERT_TRUE(optimizer->Step({.step = step, .learning_rate = 1e-3}).ok());
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
  const TypeParam* const output =
      first_stage->Forward(first_batch.get(), nullptr);
  last_stage->Forward(last_batch.get(), output);
  last_stage->Loss(last_batch.get(), 1);
  last_stage->Backward(last_batch.get(), gradient, [](int) {});
  first_stage->Backward(first_batch.get(), gradient, [](int) {});
  EXPECT_EQ(last_stage->ReadLoss(*last_batch), expected.loss);
  // The gradient of the token table is not compared: both stages have the
  // table, and the whole model adds the two gradients in another order.
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
  this->ExpectSame(CpuReference(host, {SomeTexts(1), other}, 1), ListsOf(both));

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

constexpr int kSteps = 6;
constexpr double kRate = 1e-3;
constexpr AdamWOptions kOptions = {.weight_decay = 0.1};

// Appends each tensor's elements except the attention's key bias. The key bias
// changes no probability, so its gradient consists of rounding errors.
void AppendTrained(const GptWeights& layout, const float* trained,
                   Lists* lists) {
  for (const GptTensor& tensor : layout.tensors()) {
    std::vector<double>& list = lists->emplace_back();
    for (int64_t i = 0; i < tensor.count(); ++i, ++trained) {
      const bool is_key_bias =
          tensor.name.ends_with("attn.c_attn.bias") && i / kConfig.width == 1;
      if (!is_key_bias) list.push_back(*trained);
    }
  }
}

// Trains on the CPU. Returns the losses, the gradients' sums of squares, and
// the trained weights. `disturb` changes the training's state in each step by
// about one rounding error.
Lists TrainOnTheCpu(Disturbance disturb) {
  GptWeights weights(kConfig, {0, 2});
  Initialize(&weights);
  std::vector<float> mean(static_cast<size_t>(weights.count()));
  std::vector<float> square(mean.size());
  Lists lists(2);
  for (int step = 1; step <= kSteps; ++step) {
    for (float* const part : {weights.data(), mean.data(), square.data()}) {
      Disturb(part, weights.count(), &disturb);
    }
    const PassResult pass = OnTheCpu(weights, SomeTexts(1), 1);
    lists[0].push_back(pass.loss);
    double& squares = lists[1].emplace_back();
    int64_t offset = 0;
    for (size_t i = 0; i < weights.tensors().size(); ++i) {
      AdamWOptions own = kOptions;
      if (weights.tensors()[i].shape.size() == 1) own.weight_decay = 0;
      muster::AdamWStep(own, kRate, step, weights.tensors()[i].count(),
                        weights.value(static_cast<int>(i)),
                        pass.gradients[i].data(), mean.data() + offset,
                        square.data() + offset);
      offset += weights.tensors()[i].count();
      for (const float g : pass.gradients[i]) squares += double{g} * g;
    }
  }
  AppendTrained(weights, weights.data(), &lists);
  return lists;
}

TYPED_TEST(CudaGptStageTest, TrainsAsTheCpuDoes) {
  GptWeights host(kConfig, {0, 2});
  Initialize(&host);
  const auto weights = this->OnDevice(host);
  const auto stage =
      this->NewStage(*weights, TestFixture::Checkpointing::kNone);
  const auto micro_batch = this->NewMicroBatch(*stage, SomeTexts(1));
  const auto optimizer = this->NewOptimizer(*weights);
  Lists found(2);
  for (int step = 1; step <= kSteps; ++step) {
    weights->ZeroGradients();
    found[0].push_back(this->Pass(*weights, *stage, micro_batch.get(), 1).loss);
    const auto squares = optimizer->SumOfSquares();
    ASSERT_TRUE(squares.ok()) << squares.status();
    found[1].push_back(*squares);
    ASSERT_TRUE(optimizer->Step({.step = step, .learning_rate = kRate}).ok());
  }
  GptWeights read(kConfig, {0, 2});
  weights->CopyTo(&read);
  // The trained weights. With bfloat16, the weights in `read` are rounded, so
  // the optimizer's float32 master weights replace them below. With float32
  // there are no master weights.
  std::vector<float> trained(read.data(), read.data() + read.count());
  int64_t at = 0;
  for (const CheckpointSlice& slice : optimizer->State()) {
    if (!slice.tensor.name.starts_with("master/")) continue;
    std::copy_n(static_cast<const float*>(slice.data), slice.end,
                trained.data() + at);
    at += slice.end;
  }
  EXPECT_EQ(at, this->kWide ? 0 : host.count());
  AppendTrained(host, trained.data(), &found);
  const RoundingReference reference(TrainOnTheCpu);
  this->ExpectSame(reference, found);
  // Training must decrease the loss by more than rounding errors can.
  EXPECT_LT(found[0].back(), found[0].front() - 0.1);
  // The weights in `read`, which the forward and backward passes use, must
  // equal the trained weights rounded to the type of the passes.
  const double roundoff = this->kWide ? 0 : kBfloat16Roundoff;
  for (size_t i = 0; i < trained.size(); ++i) {
    ASSERT_NEAR(read.data()[i], trained[i], roundoff * std::fabs(trained[i]));
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
}  // namespace muster::models::cuda
