#include "trainer_sdk/gpt/gpt_pipeline_stage.h"

#include <cmath>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "trainer_sdk/gpt/layer_split.h"
#include "trainer_sdk/pipeline/runtime/pipeline_runtime.h"
#include "trainer_sdk/pipeline/schedule/generators.h"
#include "trainer_sdk/process_group/testing/group_fixture.h"
#include "trainer_sdk/shared_memory/shared_memory_transport.h"

namespace muster {
namespace {

constexpr int64_t kBatch = 2;
constexpr int64_t kTime = 6;
constexpr GptConfig kConfig{
    .vocabulary = 19, .context = 8, .layers = 8, .heads = 2, .width = 8};

absl::Status Fill(int micro_batch, GptMicroBatch* filled) {
  filled->tokens.clear();
  filled->targets.clear();
  for (int i = 0; i < kBatch * kTime; ++i) {
    filled->tokens.push_back((i * 7 + micro_batch * 3) % 19);
    filled->targets.push_back((i * 5 + micro_batch) % 19);
  }
  return absl::OkStatus();
}

// Gradients by tensor, those of the two token tables added up.
using Gradients = std::map<std::string, std::vector<float>>;

void AddTo(GptWeights& weights, Gradients* gradients) {
  for (size_t i = 0; i < weights.tensors().size(); ++i) {
    std::vector<float>& sum = (*gradients)[weights.tensors()[i].name];
    sum.resize(static_cast<size_t>(weights.tensors()[i].count()));
    for (size_t k = 0; k < sum.size(); ++k) {
      sum[k] += weights.gradient(static_cast<int>(i))[k];
    }
  }
}

struct Outcome {
  double loss = 0;
  Gradients gradients;
};

// The whole model, micro-batch after micro-batch.
Outcome Sequential(int micro_batches) {
  GptWeights weights(kConfig, {0, kConfig.layers});
  weights.Initialize(1);
  weights.ZeroGradients();
  const GptStage model(weights, kBatch, kTime);
  Outcome outcome;
  for (int i = 0; i < micro_batches; ++i) {
    GptMicroBatch micro_batch;
    Fill(i, &micro_batch).IgnoreError();
    std::vector<float> stream;
    model.Forward(&micro_batch, &stream);
    outcome.loss += model.Loss(&micro_batch, stream,
                               1.0f / static_cast<float>(micro_batches)) /
                    micro_batches;
    model.Backward(&micro_batch, &stream, [](int) {});
  }
  AddTo(weights, &outcome.gradients);
  return outcome;
}

Outcome Pipelined(ScheduleKind kind, const PipelineShape& shape) {
  Outcome outcome;
  std::mutex mutex;
  const auto split = *SplitLayers(kConfig, shape.stages());
  const auto statuses = RunWorld(
      shape.ranks,
      [&](ProcessGroup& group) -> absl::Status {
        std::vector<std::unique_ptr<GptWeights>> weights;
        std::vector<std::unique_ptr<GptPipelineStage>> stages;
        std::vector<PipelineStage*> chunks;
        for (int chunk = 0; chunk < shape.stages_per_rank; ++chunk) {
          const int stage = chunk * shape.ranks + group.rank();
          weights.push_back(std::make_unique<GptWeights>(
              kConfig, split[static_cast<size_t>(stage)]));
          weights.back()->Initialize(1);
          weights.back()->ZeroGradients();
          stages.push_back(std::make_unique<GptPipelineStage>(
              *weights.back(), kBatch, kTime, GptStage::Checkpointing::kNone,
              Fill, nullptr));
          chunks.push_back(stages.back().get());
        }
        auto runtime =
            PipelineRuntime::Create(group, *MakeSchedule(kind, shape), chunks);
        if (!runtime.ok()) return runtime.status();
        const auto loss = (*runtime)->Step();
        if (!loss.ok()) return loss.status();
        const std::lock_guard<std::mutex> lock(mutex);
        outcome.loss = *loss;
        for (const auto& own : weights) AddTo(*own, &outcome.gradients);
        return absl::OkStatus();
      },
      [](GroupPlace place, Instant deadline) {
        return NewSharedMemoryTransport(place, {}, deadline);
      });
  EXPECT_TRUE(FirstFailure(statuses).ok()) << FirstFailure(statuses);
  return outcome;
}

void ExpectClose(const Outcome& got, const Outcome& expected) {
  EXPECT_NEAR(got.loss, expected.loss, 1e-6);
  for (const auto& [name, values] : expected.gradients) {
    const std::vector<float>& mine = got.gradients.at(name);
    for (size_t i = 0; i < values.size(); ++i) {
      ASSERT_NEAR(mine[i], values[i], 4e-5 + 1e-5 * std::abs(values[i]))
          << name << "[" << i << "]";
    }
  }
}

TEST(GptPipelineStageTest, GPipeEqualsSequential) {
  ExpectClose(Pipelined(ScheduleKind::kGPipe, {2, 1, 4}), Sequential(4));
}

TEST(GptPipelineStageTest, OneForwardOneBackwardEqualsSequential) {
  ExpectClose(Pipelined(ScheduleKind::k1F1B, {2, 1, 4}), Sequential(4));
}

}  // namespace
}  // namespace muster
