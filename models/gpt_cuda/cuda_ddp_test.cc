// Tests the SDK's reducer on the gradients of a stage, in the emulation of
// CUDA.

#include <cmath>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "models/cuda/testing/emulated_device.h"
#include "models/gpt_cuda/cuda_gpt_stage.h"
#include "models/gpt_cuda/cuda_step_timeline.h"
#include "models/gpt_cuda/testing/read_gradients.h"
#include "trainer_sdk/ddp/reducer.h"
#include "trainer_sdk/process_group/testing/group_fixture.h"
#include "trainer_sdk/timeline/overlap.h"

namespace muster::models::cuda {
namespace {

constexpr int64_t kBatch = 1;
constexpr int64_t kTime = 5;
constexpr GptConfig kConfig{
    .vocabulary = 11, .context = 6, .layers = 2, .heads = 2, .width = 8};
// The size limits of DDP's buckets, in bytes. They are low, so that the tensors
// of this small model fill several buckets.
constexpr BucketLimits kLimits = {.first_bytes = 300, .bytes = 4000};

// A device that logs, in order, each operation on the side stream ("operation")
// and each wait of one stream for the other ("main waits", "side waits").
class OrderedDevice final : public EmulatedDevice {
 public:
  void WaitForOther(Stream stream) override {
    log.emplace_back(stream == Stream::kCompute ? "main waits" : "side waits");
  }
  CudaStream side_stream() const override {
    log.emplace_back("operation");
    return EmulatedDevice::side_stream();
  }

  mutable std::vector<std::string> log;
};

// Computes the gradients of rank `rank` on its own tokens. If `reducer` is not
// null, the reducer averages the gradients over the ranks.
std::vector<std::vector<float>> Gradients(int rank, OrderedDevice& device,
                                          CudaGptWeights<Bfloat16>& weights,
                                          Reducer* reducer,
                                          absl::Status* status) {
  const auto stage =
      *CudaGptStage<Bfloat16>::Create(device, weights, kBatch, kTime);
  const auto micro_batch = *stage->NewMicroBatch();
  for (int i = 0; i < kBatch * kTime; ++i) {
    micro_batch->tokens.push_back((3 * i + rank) % 11);
    micro_batch->targets.push_back((5 * i + rank) % 11);
  }
  DeviceArrays arrays(device);
  auto* const gradient = arrays.Add<Bfloat16>(stage->stream_count());
  weights.ZeroGradients();
  stage->Forward(micro_batch.get(), nullptr);
  stage->Loss(micro_batch.get(), 1);
  if (reducer != nullptr) status->Update(reducer->Begin(GradientSync::kReduce));
  stage->Backward(micro_batch.get(), gradient, [&](int tensor) {
    if (reducer != nullptr) status->Update(reducer->MarkReady(tensor));
  });
  if (reducer != nullptr) status->Update(reducer->Finish());
  return ReadGradients(device, weights);
}

struct Model {
  Model() : host(kConfig, {0, 2}) {
    host.Initialize(1);
    weights = *CudaGptWeights<Bfloat16>::Create(device, host);
  }
  std::unique_ptr<Reducer> ReducerOver(
      ProcessGroup& group, std::shared_ptr<ReducerObserver> observer = {}) {
    auto made = Reducer::Create(group, weights->DeviceTensors(),
                                {.device = &device,
                                 .limits = kLimits,
                                 .place = GradientPlace::kInPlace,
                                 .order = BucketOrder::kReverse,
                                 .observer = std::move(observer)});
    EXPECT_TRUE(made.ok()) << made.status();
    device.log.clear();
    return *std::move(made);
  }

  OrderedDevice device;
  GptWeights host;
  std::unique_ptr<CudaGptWeights<Bfloat16>> weights;
};

TEST(CudaDdpTest, IsTheRanksMean) {
  constexpr int kRanks = 2;
  std::vector<std::vector<float>> mean;
  for (int rank = 0; rank < kRanks; ++rank) {
    Model model;
    absl::Status unused;
    const auto own =
        Gradients(rank, model.device, *model.weights, nullptr, &unused);
    mean.resize(own.size());
    for (size_t i = 0; i < own.size(); ++i) {
      mean[i].resize(own[i].size());
      for (size_t j = 0; j < own[i].size(); ++j) {
        // The mean over two ranks is exact: a sum of two terms does not depend
        // on their order, and halving does not round.
        mean[i][j] += own[i][j] / kRanks;
      }
    }
  }
  std::mutex mutex;
  std::vector<std::vector<std::vector<float>>> found;
  const auto statuses = RunWorld(kRanks, [&](ProcessGroup& world) {
    Model model;
    const auto reducer = model.ReducerOver(world);
    EXPECT_GT(reducer->buckets().size(), 2u);
    absl::Status status;
    auto gradients = Gradients(world.rank(), model.device, *model.weights,
                               reducer.get(), &status);
    // The expected log: for each bucket, the side stream waits for the work
    // that filled the bucket, and then reduces the bucket. At the end the main
    // stream waits for the side stream.
    std::vector<std::string> log;
    for (size_t i = 0; i < reducer->buckets().size(); ++i) {
      log.insert(log.end(), {"side waits", "operation"});
    }
    log.emplace_back("main waits");
    EXPECT_EQ(model.device.log, log);
    const std::lock_guard<std::mutex> lock(mutex);
    found.push_back(std::move(gradients));
    return status;
  });
  for (const absl::Status& status : statuses) EXPECT_TRUE(status.ok());
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0], found[1]);
  EXPECT_EQ(found[0], mean);
}

// With 16-bit buckets, the averages that the GPU computes equal, bit for bit,
// those that the host computes.
TEST(CudaDdpTest, NarrowedAveragesAreThoseOfTheHost) {
  constexpr int64_t kCount = 700;
  for (const DType type : {DType::kBFloat16, DType::kFloat16}) {
    const auto statuses = RunWorld(2, [&](ProcessGroup& world) -> absl::Status {
      std::vector<std::vector<float>> averages;
      EmulatedDevice gpu;
      for (::muster::Device* const device :
           {&HostDevice(), static_cast<::muster::Device*>(&gpu)}) {
        std::vector<float> gradient(kCount);
        for (int64_t i = 0; i < kCount; ++i) {
          gradient[i] = std::sin(static_cast<float>(i + 1000 * world.rank()));
        }
        auto reducer = Reducer::Create(
            world, {{.name = "w", .shape = {kCount}, .gradient = gradient}},
            {.device = device, .narrow_to = type});
        if (!reducer.ok()) return reducer.status();
        absl::Status status = (*reducer)->Begin(GradientSync::kReduce);
        status.Update((*reducer)->MarkReady(0));
        status.Update((*reducer)->Finish());
        if (!status.ok()) return status;
        averages.push_back(gradient);
      }
      EXPECT_EQ(averages[1], averages[0]);
      return absl::OkStatus();
    });
    for (const absl::Status& status : statuses) EXPECT_TRUE(status.ok());
  }
}

// The test records the times of two steps. In each step the buckets are reduced
// in order. The reductions begin after the backward pass has begun, and end
// before the wait for the averages ends.
TEST(CudaDdpTest, ATimelineShowsBucketsBesideTheBackwardPass) {
  const auto statuses = RunWorld(2, [&](ProcessGroup& world) {
    Model model;
    const auto shared = std::make_shared<CudaStepTimeline>(model.device);
    CudaStepTimeline& timeline = *shared;
    const auto reducer = model.ReducerOver(world, shared);
    absl::Status status;
    for (int64_t step = 0; step < 2; ++step) {
      timeline.BeginStep(step);
      timeline.Begin(SpanKind::kBackward, 0);
      status.Update(reducer->Begin(GradientSync::kReduce));
      for (int i = static_cast<int>(model.weights->tensors().size());
           i-- > 0;) {
        timeline.MadeGradientOf(i / 10);
        status.Update(reducer->MarkReady(i));
      }
      timeline.End();
      status.Update(reducer->Finish());
      const std::vector<TimelineSpan> spans = timeline.EndStep();
      std::map<SpanKind, std::vector<TimelineSpan>> by_kind;
      for (const TimelineSpan& span : spans) {
        EXPECT_EQ(span.step, step);
        EXPECT_LE(span.begin, span.end);
        by_kind[span.kind].push_back(span);
      }
      EXPECT_EQ(by_kind[SpanKind::kStep].size(), 1u);
      EXPECT_EQ(by_kind[SpanKind::kBackward].size(), 1u);
      EXPECT_EQ(by_kind[SpanKind::kWait].size(), 1u);
      const std::vector<TimelineSpan>& parts = by_kind[SpanKind::kPart];
      const size_t last = (model.weights->tensors().size() - 1) / 10;
      EXPECT_EQ(parts.size(), last + 1);
      for (size_t i = 0; i < parts.size(); ++i) {
        EXPECT_EQ(parts[i].number, static_cast<int64_t>(last - i));
        EXPECT_EQ(parts[i].begin, i > 0
                                      ? parts[i - 1].end
                                      : by_kind[SpanKind::kBackward][0].begin);
      }
      const std::vector<TimelineSpan>& buckets = by_kind[SpanKind::kReduce];
      EXPECT_EQ(buckets.size(), reducer->buckets().size());
      int64_t before = by_kind[SpanKind::kBackward][0].begin;
      int64_t bytes = 0;
      for (size_t i = 0; i < buckets.size(); ++i) {
        EXPECT_EQ(buckets[i].number, static_cast<int64_t>(i));
        EXPECT_GE(buckets[i].asked, by_kind[SpanKind::kBackward][0].begin);
        EXPECT_GE(buckets[i].begin, buckets[i].asked);
        EXPECT_GE(buckets[i].begin, before);
        EXPECT_LE(buckets[i].end, by_kind[SpanKind::kWait][0].end);
        before = buckets[i].end;
        bytes += buckets[i].bytes;
      }
      // The buckets have more bytes than the tensors together, because buckets
      // include the gaps between tensors.
      EXPECT_GT(bytes, 4 * model.host.count());
      EXPECT_GT(OverlapOf(spans).communication, Duration{});
    }
    return status;
  });
  for (const absl::Status& status : statuses) EXPECT_TRUE(status.ok());
}

}  // namespace
}  // namespace muster::models::cuda
