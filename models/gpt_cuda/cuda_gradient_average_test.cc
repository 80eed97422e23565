#include "models/gpt_cuda/cuda_gradient_average.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "models/cuda/emulation/emulated_device.h"
#include "models/gpt_cuda/cuda_gpt_stage.h"
#include "models/gpt_cuda/cuda_weight_gather.h"
#include "models/gpt_cuda/testing/read_gradients.h"
#include "trainer_sdk/process_group/testing/group_fixture.h"
#include "trainer_sdk/timeline/overlap.h"

namespace muster::cuda {
namespace {

constexpr int64_t kBatch = 1;
constexpr int64_t kTime = 5;
constexpr GptConfig kConfig{
    .vocabulary = 11, .context = 6, .layers = 2, .heads = 2, .width = 8};
// In bytes, so that these small tensors fill several buckets.
constexpr CudaGradientAverage::Limits kLimits = {.first = 300, .others = 4000};

using Averages = CudaGradientAverage::Averages;

// Logs synchronisation between the streams, in order with the operations on the
// side stream.
class OrderedDevice final : public EmulatedDevice {
 public:
  void SideWaitsForMain() override { log.emplace_back("side waits"); }
  void MainWaitsForSide() override { log.emplace_back("main waits"); }
  CudaStream side_stream() const override {
    log.emplace_back("operation");
    return EmulatedDevice::side_stream();
  }

  mutable std::vector<std::string> log;
};

// One rank's gradients for its own tokens, averaged if `average` is not null.
std::vector<std::vector<float>> Gradients(int rank, OrderedDevice& device,
                                          CudaGptWeights<Bfloat16>& weights,
                                          CudaGradientAverage* average,
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
  if (average != nullptr) average->Begin();
  stage->Backward(micro_batch.get(), gradient, [&](int tensor) {
    if (average != nullptr) average->MarkReady(tensor);
  });
  if (average != nullptr) *status = average->Finish();
  return ReadGradients(device, weights);
}

struct Model {
  Model() : host(kConfig, {0, 2}) {
    host.Initialize(1);
    weights = *CudaGptWeights<Bfloat16>::Create(device, host);
  }
  CudaGradientAverage AverageOver(ProcessGroup& group,
                                  Averages averages = Averages::kAll) {
    return {device,
            group,
            weights->gradients(),
            weights->offsets(),
            weights->count(),
            kLimits,
            averages};
  }

  OrderedDevice device;
  GptWeights host;
  std::unique_ptr<CudaGptWeights<Bfloat16>> weights;
};

TEST(CudaGradientAverageTest, IsTheRanksMean) {
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
        // Two terms have one order, and halving does not round.
        mean[i][j] += own[i][j] / kRanks;
      }
    }
  }
  std::mutex mutex;
  std::vector<std::vector<std::vector<float>>> found;
  const auto statuses = RunWorld(kRanks, [&](ProcessGroup& world) {
    Model model;
    CudaGradientAverage average = model.AverageOver(world);
    EXPECT_GT(average.buckets().size(), 2u);
    absl::Status status;
    auto gradients = Gradients(world.rank(), model.device, *model.weights,
                               &average, &status);
    // Each bucket follows the work that made it, and later work follows all
    // buckets.
    std::vector<std::string> log;
    for (size_t i = 0; i < average.buckets().size(); ++i) {
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

// Each rank has the averages of its own ranges, which together cover the array;
// they are bit-identical to averages on all ranks.
TEST(CudaGradientAverageTest, ARankMayHaveThoseOfItsShareOnly) {
  constexpr int kRanks = 3;
  std::mutex mutex;
  // By element of the array: the number of ranks that have it.
  std::vector<int> owners;
  const auto statuses = RunWorld(kRanks, [&](ProcessGroup& world) {
    Model all;
    Model own;
    CudaGradientAverage of_all = all.AverageOver(world);
    CudaGradientAverage of_own = own.AverageOver(world, Averages::kOwnShare);
    absl::Status status;
    Gradients(world.rank(), all.device, *all.weights, &of_all, &status);
    EXPECT_EQ(status, absl::OkStatus());
    Gradients(world.rank(), own.device, *own.weights, &of_own, &status);
    const std::lock_guard<std::mutex> lock(mutex);
    owners.resize(static_cast<size_t>(own.weights->count()));
    for (const ElementRange& range : of_own.averaged()) {
      EXPECT_GT(range.count(), 0);
      EXPECT_EQ(std::memcmp(own.weights->gradients() + range.begin,
                            all.weights->gradients() + range.begin,
                            static_cast<size_t>(range.count()) * sizeof(float)),
                0);
      for (int64_t i = range.begin; i < range.end; ++i) {
        ++owners[static_cast<size_t>(i)];
      }
    }
    return status;
  });
  for (const absl::Status& status : statuses) EXPECT_TRUE(status.ok());
  EXPECT_THAT(owners, testing::Each(1));
}

TEST(CudaGradientAverageTest, SharesOfTheWeightsAreGathered) {
  constexpr int kRanks = 3;
  const auto statuses = RunWorld(kRanks, [&](ProcessGroup& world) {
    Model model;
    const CudaGradientAverage average =
        model.AverageOver(world, Averages::kOwnShare);
    Bfloat16* const values = model.weights->values();
    const auto count = static_cast<size_t>(model.weights->count());
    const std::vector<Bfloat16> whole(values, values + count);
    std::memset(values, 0xee, count * sizeof(Bfloat16));
    for (const ElementRange& range : average.averaged()) {
      std::copy(whole.begin() + range.begin, whole.begin() + range.end,
                values + range.begin);
    }
    absl::Status status =
        GatherShares(model.device, world, average.buckets(), values);
    EXPECT_EQ(std::memcmp(values, whole.data(), count * sizeof(Bfloat16)), 0);
    // After the work that made the shares, before the work that reads them.
    const std::vector<std::string>& log = model.device.log;
    EXPECT_GE(log.size(), average.buckets().size() + 2);
    EXPECT_EQ(log.front(), "side waits");
    EXPECT_EQ(log.back(), "main waits");
    EXPECT_EQ(std::count(log.begin(), log.end(), "operation"),
              static_cast<int64_t>(log.size()) - 2);
    world.Abort("no more paper");
    EXPECT_EQ(
        GatherShares(model.device, world, average.buckets(), values).code(),
        absl::StatusCode::kAborted);
    return status;
  });
  for (const absl::Status& status : statuses) EXPECT_TRUE(status.ok());
}

TEST(CudaGradientAverageTest, APassThatLeavesGradientsOutFails) {
  const auto statuses = RunWorld(1, [&](ProcessGroup& world) {
    Model model;
    CudaGradientAverage average = model.AverageOver(world);
    average.Begin();
    average.MarkReady(static_cast<int>(model.weights->tensors().size()) - 1);
    return average.Finish();
  });
  EXPECT_EQ(statuses[0].code(), absl::StatusCode::kFailedPrecondition);
}

TEST(CudaGradientAverageTest, ABrokenGroupIsTold) {
  const auto statuses = RunWorld(1, [&](ProcessGroup& world) {
    Model model;
    CudaGradientAverage average = model.AverageOver(world);
    world.Abort("no more paper");
    absl::Status status;
    Gradients(0, model.device, *model.weights, &average, &status);
    return status;
  });
  EXPECT_EQ(statuses[0].code(), absl::StatusCode::kAborted);
}

TEST(CudaGradientAverageTest, AGroupThatBreaksWhileTheDeviceWorksIsTold) {
  const auto statuses = RunWorld(2, [&](ProcessGroup& world) {
    Model model;
    CudaGradientAverage average = model.AverageOver(world);
    absl::Status status;
    Gradients(world.rank(), model.device, *model.weights, &average, &status);
    EXPECT_EQ(status, absl::OkStatus());
    EXPECT_EQ(average.Confirm(), absl::OkStatus());
    world.Abort("no more paper");
    return average.Confirm();
  });
  for (const absl::Status& status : statuses) {
    EXPECT_EQ(status.code(), absl::StatusCode::kAborted) << status;
  }
}

// The buckets of a recorded pass are between its begin and the end of the wait
// for them, in order.
TEST(CudaGradientAverageTest, ATimelineShowsBucketsBesideTheBackwardPass) {
  const auto statuses = RunWorld(2, [&](ProcessGroup& world) {
    Model model;
    CudaGradientAverage average = model.AverageOver(world);
    CudaStepTimeline timeline(model.device);
    average.NoteIn(&timeline);
    absl::Status status;
    for (int64_t step = 0; step < 2; ++step) {
      timeline.BeginStep(step);
      timeline.Begin(SpanKind::kBackward, 0);
      average.Begin();
      for (int i = static_cast<int>(model.weights->tensors().size());
           i-- > 0;) {
        timeline.MadeGradientOf(i / 10);
        average.MarkReady(i);
      }
      timeline.End();
      status = average.Finish();
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
      EXPECT_EQ(buckets.size(), average.buckets().size());
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
      EXPECT_EQ(bytes, 4 * model.weights->count());
      EXPECT_GT(OverlapOf(spans).communication, Duration{});
    }
    return status;
  });
  for (const absl::Status& status : statuses) EXPECT_TRUE(status.ok());
}

}  // namespace
}  // namespace muster::cuda
