// Compares a reducer of gradients on a device with a reducer of gradients on
// the host. With every option, both must give the same averages, to the last
// bit.

#include <cmath>
#include <cstdint>
#include <cstring>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "trainer_sdk/ddp/broadcast_parameters.h"
#include "trainer_sdk/ddp/comm_hook.h"
#include "trainer_sdk/ddp/pairwise_hook.h"
#include "trainer_sdk/ddp/power_sgd_hook.h"
#include "trainer_sdk/ddp/reducer.h"
#include "trainer_sdk/device/testing/stream_device.h"
#include "trainer_sdk/process_group/testing/group_fixture.h"

namespace muster {
namespace {

using ::testing::HasSubstr;

constexpr int kSteps = 3;
const std::vector<int64_t> kCounts = {10, 60, 1, 0, 21, 64, 7};

enum class Hook { kNone, kBFloat16, kPairwise, kPowerSgd };

struct Case {
  GradientPlace place = GradientPlace::kOwn;
  ParameterUse use = ParameterUse::kAll;
  BucketOrder order = BucketOrder::kObserved;
  // The number of backward passes in an optimizer step.
  int passes = 1;
  Hook hook = Hook::kNone;
  std::optional<DType> narrow_to = {};
};

std::string ToString(const Case& c) {
  return absl::StrCat(
      "place ", static_cast<int>(c.place), ", use ", static_cast<int>(c.use),
      ", order ", static_cast<int>(c.order), ", passes ", c.passes, ", hook ",
      static_cast<int>(c.hook), c.narrow_to ? Name(*c.narrow_to) : "");
}

std::vector<Case> AllCases() {
  std::vector<Case> cases;
  for (const GradientPlace place :
       {GradientPlace::kOwn, GradientPlace::kBucket,
        GradientPlace::kOwnToBucket, GradientPlace::kInPlace}) {
    for (const ParameterUse use :
         {ParameterUse::kAll, ParameterUse::kMayVary, ParameterUse::kStatic}) {
      for (const BucketOrder order :
           {BucketOrder::kObserved, BucketOrder::kReverse}) {
        if (place == GradientPlace::kInPlace &&
            order == BucketOrder::kObserved) {
          continue;
        }
        for (const int passes : {1, 2}) {
          for (const Hook hook : {Hook::kNone, Hook::kBFloat16, Hook::kPairwise,
                                  Hook::kPowerSgd}) {
            cases.push_back({place, use, order, passes, hook});
          }
          if (place == GradientPlace::kBucket ||
              place == GradientPlace::kInPlace) {
            continue;
          }
          for (const DType type : {DType::kBFloat16, DType::kFloat16}) {
            cases.push_back({place, use, order, passes, Hook::kNone, type});
          }
        }
      }
    }
  }
  return cases;
}

absl::StatusOr<std::shared_ptr<CommHook>> NewHook(Hook hook,
                                                  ProcessGroup& group) {
  if (hook == Hook::kPairwise) return PairwiseHook::Create(group);
  if (hook == Hook::kNone) return nullptr;
  if (hook == Hook::kPowerSgd) {
    return std::make_shared<PowerSgdHook>(PowerSgdOptions{.exact_steps = 1});
  }
  return std::make_shared<CompressHook>(DType::kBFloat16);
}

// Whether rank `rank` produces a gradient of parameter `i` in a step.
bool Uses(const Case& c, int rank, int step, int i) {
  switch (c.use) {
    case ParameterUse::kAll:
      break;
    case ParameterUse::kMayVary:
      // Parameter 5 is used on all ranks in odd steps only. Any other parameter
      // is unused on a rank in every third step.
      return i == 5 ? step % 2 == 1 : (rank + step + i) % 3 != 0;
    case ParameterUse::kStatic:
      return i != 2 && (i != 6 || rank != 1);
  }
  return true;
}

float Value(int rank, int step, int pass, int i, int64_t k) {
  return 0.1f * static_cast<float>(rank + 1) - 0.37f * static_cast<float>(i) +
         0.013f * static_cast<float>(k * (pass + 1)) -
         0.3f * static_cast<float>(step);
}

std::vector<char> Read(Device& device, const TensorData& data) {
  std::vector<char> bytes(static_cast<size_t>(data.count * SizeOf(data.dtype)));
  device.CopyOut(bytes.data(), data.data, static_cast<int64_t>(bytes.size()));
  return bytes;
}

// A test model: one array in the device's memory holds all gradients, with gaps
// between them, and the tensors refer to these gradients.
struct Model {
  explicit Model(Device& on) : device(on) {
    int64_t total = 0;
    for (const int64_t count : kCounts) total += count + 3;
    memory = *device.Allocate(total * 4);
    device.Zero(Device::Stream::kCompute, memory.get(), total * 4);
    auto* at = static_cast<float*>(memory.get());
    for (const int64_t count : kCounts) {
      tensors.push_back({.name = absl::StrCat("p", tensors.size()),
                         // A tensor whose number of elements is a multiple of
                         // three has three rows; every other tensor has one
                         // row.
                         .shape = {count % 3 == 0 ? 3 : 1,
                                   count % 3 == 0 ? count / 3 : count},
                         .gradient = {at, count}});
      at += count + 3;
    }
  }

  Device& device;
  std::shared_ptr<void> memory;
  std::vector<Tensor> tensors;
};

// Trains all steps of a test case on one rank, and returns the averages that
// each step produced.
absl::StatusOr<std::vector<std::vector<char>>> Averages(const Case& c,
                                                        Device& device,
                                                        ProcessGroup& group) {
  Model model(device);
  DdpOptions options{.device = &device,
                     .limits = {.first_bytes = 64, .bytes = 256},
                     .use = c.use,
                     .place = c.place,
                     .order = c.order,
                     .narrow_to = c.narrow_to};
  auto hook = NewHook(c.hook, group);
  if (!hook.ok()) return hook.status();
  options.hook = *hook;
  auto reducer = Reducer::Create(group, model.tensors, options);
  if (!reducer.ok()) return reducer.status();
  std::vector<std::vector<char>> found;
  const int parameters = static_cast<int>(kCounts.size());
  for (int step = 0; step < kSteps; ++step) {
    for (int i = 0; i < parameters; ++i) {
      device.Zero(Device::Stream::kCompute, (*reducer)->gradient(i),
                  kCounts[i] * 4);
    }
    absl::Status status;
    for (int pass = 0; pass < c.passes; ++pass) {
      status.Update((*reducer)->Begin(pass + 1 < c.passes
                                          ? GradientSync::kAccumulate
                                          : GradientSync::kReduce));
      // Gradients become ready in the order 1, 0, then from the last parameter
      // down to parameter 2.
      for (int n = parameters; n-- > 0;) {
        const int i = (n + 2) % parameters;
        if (!Uses(c, group.rank(), step, i)) continue;
        std::vector<float> gradient(static_cast<size_t>(kCounts[i]));
        device.CopyOut(gradient.data(), (*reducer)->gradient(i),
                       kCounts[i] * 4);
        for (int64_t k = 0; k < kCounts[i]; ++k) {
          gradient[k] += Value(group.rank(), step, pass, i, k);
        }
        device.CopyIn((*reducer)->gradient(i), gradient.data(), kCounts[i] * 4);
        status.Update((*reducer)->MarkReady(i));
      }
      status.Update((*reducer)->Finish());
    }
    if (!status.ok()) return status;
    for (int i = 0; i < parameters; ++i) {
      found.push_back(Read(device, (*reducer)->average(i)));
    }
    status = (*reducer)->Confirm();
    if (!status.ok()) return status;
  }
  return found;
}

// The results of Averages on every rank, indexed by rank.
std::vector<std::vector<std::vector<char>>> AveragesOfRanks(const Case& c,
                                                            int ranks,
                                                            bool on_device) {
  std::vector<std::vector<std::vector<char>>> found(static_cast<size_t>(ranks));
  const auto statuses = RunWorld(
      ranks,
      [&](ProcessGroup& group) -> absl::Status {
        std::unique_ptr<Device> device;
        if (on_device) device = std::make_unique<StreamDevice>();
        auto averages =
            Averages(c, device == nullptr ? HostDevice() : *device, group);
        if (!averages.ok()) return averages.status();
        found[static_cast<size_t>(group.rank())] = *std::move(averages);
        return absl::OkStatus();
      },
      on_device ? OnStreams(ReferenceTransports()) : ReferenceTransports());
  EXPECT_TRUE(FirstFailure(statuses).ok()) << FirstFailure(statuses);
  return found;
}

TEST(DeviceReducerTest, EveryOptionGivesTheAveragesOfTheHost) {
  for (const int ranks : {1, 2}) {
    for (const Case& c : AllCases()) {
      SCOPED_TRACE(absl::StrCat(ToString(c), ", ranks ", ranks));
      const auto host = AveragesOfRanks(c, ranks, false);
      const auto device = AveragesOfRanks(c, ranks, true);
      ASSERT_FALSE(host[0].empty());
      ASSERT_EQ(device, host);
    }
  }
}

absl::Status StatusOf(const DdpOptions& options) {
  return FirstFailure(RunWorld(
      2,
      [&](ProcessGroup& group) {
        StreamDevice device;
        Model model(device);
        DdpOptions own = options;
        own.device = &device;
        return Reducer::Create(group, model.tensors, own).status();
      },
      OnStreams(ReferenceTransports())));
}

// A hook for host memory only, because it does not override
// takes_device_memory. A reducer of gradients on a device must reject it.
class HookForTheHost final : public CommHook {
 public:
  absl::Status Reduce(GradientBucket&, ProcessGroup&) override {
    return absl::OkStatus();
  }
};

TEST(DeviceReducerTest, AHookForHostMemoryIsRefused) {
  const absl::Status status =
      StatusOf({.hook = std::make_shared<HookForTheHost>()});
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()), HasSubstr("takes_device_memory"));
}

TEST(DeviceReducerTest, BucketsInPlaceMustStay) {
  const absl::Status status = StatusOf({.place = GradientPlace::kInPlace});
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()), HasSubstr("kReverse"));
}

TEST(DeviceReducerTest, GradientsInAnotherOrderCannotBeReducedInPlace) {
  std::vector<float> memory(30);
  const auto statuses = RunWorld(1, [&](ProcessGroup& group) {
    std::vector<Tensor> tensors;
    // `at`: the position of a parameter's gradient in memory. Parameters 1 and
    // 2 share a bucket, but the gradient of parameter 0 lies between their
    // gradients. Create must reject this order.
    for (const int64_t at : {10, 20, 0}) {
      tensors.push_back({.name = absl::StrCat("p", at),
                         .shape = {10},
                         .gradient = {memory.data() + at, 10}});
    }
    return Reducer::Create(group, tensors,
                           {.limits = {.first_bytes = 41, .bytes = 41},
                            .place = GradientPlace::kInPlace,
                            .order = BucketOrder::kReverse})
        .status();
  });
  EXPECT_EQ(statuses[0].code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(statuses[0].message()),
              HasSubstr("gradients of other buckets"));
}

TEST(DeviceReducerTest, AGroupThatBreaksWhileTheDeviceWorksIsReported) {
  const auto statuses = RunWorld(
      2,
      [&](ProcessGroup& group) -> absl::Status {
        StreamDevice device;
        Model model(device);
        auto reducer =
            Reducer::Create(group, model.tensors, {.device = &device});
        if (!reducer.ok()) return reducer.status();
        absl::Status status = (*reducer)->Confirm();
        if (!status.ok()) return status;
        group.Abort("a peer died");
        return (*reducer)->Confirm();
      },
      OnStreams(ReferenceTransports()));
  for (const absl::Status& status : statuses) {
    EXPECT_EQ(status.code(), absl::StatusCode::kAborted) << status;
  }
}

// Records the DevicePoints that the reducer reports to its observer, in the
// order of the reports.
class Points final : public ReducerObserver {
 public:
  void OnDevicePoint(DevicePoint point, int bucket, int64_t bytes) override {
    seen.emplace_back(point, bucket);
    if (point == DevicePoint::kEnded) total += bytes;
  }
  void OnReduced(const BucketReduction&) override { FAIL() << "on a device"; }
  void OnWaited(Instant, Instant) override { FAIL() << "on a device"; }

  std::vector<std::pair<DevicePoint, int>> seen;
  int64_t total = 0;
};

TEST(DeviceReducerTest, AnObserverSeesEachBucketsPoints) {
  const auto statuses = RunWorld(
      2,
      [&](ProcessGroup& group) -> absl::Status {
        StreamDevice device;
        Model model(device);
        const auto points = std::make_shared<Points>();
        auto reducer =
            Reducer::Create(group, model.tensors,
                            {.device = &device,
                             .limits = {.first_bytes = 64, .bytes = 256},
                             .order = BucketOrder::kReverse,
                             .observer = points});
        if (!reducer.ok()) return reducer.status();
        absl::Status status = (*reducer)->Begin(GradientSync::kReduce);
        for (int i = static_cast<int>(kCounts.size()); i-- > 0;) {
          status.Update((*reducer)->MarkReady(i));
        }
        status.Update((*reducer)->Finish());
        std::vector<std::pair<DevicePoint, int>> expected;
        for (const GradientBucket& bucket : (*reducer)->buckets()) {
          for (const DevicePoint point :
               {DevicePoint::kAsked, DevicePoint::kBegan,
                DevicePoint::kEnded}) {
            expected.emplace_back(point, bucket.index);
          }
        }
        EXPECT_GT(expected.size(), 3u);
        expected.emplace_back(DevicePoint::kWaits, 0);
        expected.emplace_back(DevicePoint::kWaited, 0);
        EXPECT_EQ(points->seen, expected);
        EXPECT_EQ(points->total, 163 * 4);
        return status;
      },
      OnStreams(ReferenceTransports()));
  EXPECT_TRUE(FirstFailure(statuses).ok()) << FirstFailure(statuses);
}

TEST(DeviceReducerTest, ValuesOfRankZeroAreBroadcast) {
  const auto statuses = RunWorld(
      2,
      [&](ProcessGroup& group) -> absl::Status {
        StreamDevice device;
        const auto memory = *device.Allocate(40);
        const std::vector<float> own(10, static_cast<float>(group.rank() + 1));
        device.CopyIn(memory.get(), own.data(), 40);
        absl::Status status = BroadcastParameters(
            group,
            {{.name = "w", .shape = {10}, .value = {memory.get(), 10, {}}}},
            device);
        std::vector<float> found(10);
        device.CopyOut(found.data(), memory.get(), 40);
        EXPECT_EQ(found, std::vector<float>(10, 1.0f));
        return status;
      },
      OnStreams(ReferenceTransports()));
  EXPECT_TRUE(FirstFailure(statuses).ok()) << FirstFailure(statuses);
}

}  // namespace
}  // namespace muster
