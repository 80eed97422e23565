#include "trainer_sdk/cuda/cuda_device.h"

#include <cstdint>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "trainer_sdk/cuda/cuda_plugin.h"
#include "trainer_sdk/cuda/emulation/emulated_cuda.h"
#include "trainer_sdk/data_parallel/data_parallel.h"
#include "trainer_sdk/process_group/testing/group_fixture.h"

namespace muster {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(ChooseDeviceTest, EachWorkerHasTheOneOfItsLocalRank) {
  for (int local_rank = 0; local_rank < 4; ++local_rank) {
    EXPECT_EQ(*ChooseCudaDevice(4, local_rank, 4), local_rank);
    EXPECT_EQ(*ChooseCudaDevice(8, local_rank, 4), local_rank);
  }
}

TEST(ChooseDeviceTest, TheOnlyOneIsEveryones) {
  EXPECT_EQ(*ChooseCudaDevice(1, 3, 4), 0);
}

TEST(ChooseDeviceTest, WithoutAnyOpeningTheFirstSaysWhy) {
  EXPECT_EQ(*ChooseCudaDevice(0, 1, 2), 0);
}

TEST(ChooseDeviceTest, SeveralThatAreTooFewAreRefused) {
  const auto chosen = ChooseCudaDevice(2, 0, 3);
  EXPECT_EQ(chosen.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_NE(chosen.status().message().find("2 GPUs for the 3 workers"),
            absl::string_view::npos)
      << chosen.status();
}

TEST(DriverPresenceTest, NoDriverIsSaidToBeNone) {
  const absl::Status status = CheckDriverIsThere("libno-such-cuda.so.1");
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(status.ToString(),
              HasSubstr("no NVIDIA driver: libno-such-cuda.so.1 cannot be "
                        "loaded: libno-such-cuda.so.1: cannot open"));
}

TEST(DriverPresenceTest, LoadableLibraryIsPresent) {
  EXPECT_TRUE(CheckDriverIsThere("libm.so.6").ok());
}

// The emulated GPU's functions, with short error texts. Each test replaces some
// functions by failing ones.
CudaPlugin Failing() {
  CudaPlugin plugin = EmulatedCuda();
  plugin.error_text = [](int32_t error) {
    return error == CudaPlugin::kOutOfMemory ? "out of memory" : "broken";
  };
  return plugin;
}

TEST(CudaDeviceTest, UnusableDeviceIsUnavailable) {
  CudaPlugin plugin = Failing();
  plugin.use_device = [](int, int*) { return 101; };
  EXPECT_EQ(CudaDevice(plugin).Prepare(3),
            absl::UnavailableError("cudaSetDevice says: broken"));
  plugin = Failing();
  plugin.new_event = [](CudaEvent*, CudaPlugin::EventKind) { return 1; };
  EXPECT_EQ(CudaDevice(plugin).Prepare(0),
            absl::UnavailableError("cudaEventCreateWithFlags says: broken"));
}

TEST(CudaDeviceTest, FullMemoryLeavesTheDeviceIntact) {
  CudaPlugin plugin = Failing();
  plugin.allocate = [](void**, int64_t) {
    return int32_t{CudaPlugin::kOutOfMemory};
  };
  CudaDevice device(plugin);
  ASSERT_TRUE(device.Prepare(0).ok());
  EXPECT_EQ(device.Allocate(1000).status(),
            absl::ResourceExhaustedError(
                "cudaMalloc of 1000 bytes says: out of memory"));
  EXPECT_TRUE(device.status().ok());
}

TEST(CudaDeviceTest, StatusIsTheFirstError) {
  CudaPlugin plugin = Failing();
  plugin.zero = [](void*, int64_t, CudaStream) { return 700; };
  plugin.last_error = [] { return 719; };
  CudaDevice device(plugin);
  ASSERT_TRUE(device.Prepare(0).ok());
  device.Zero(Device::Stream::kCompute, nullptr, 0);
  EXPECT_EQ(device.status(),
            absl::UnavailableError("cudaMemsetAsync says: broken"));
  CudaDevice other(plugin);
  ASSERT_TRUE(other.Prepare(0).ok());
  EXPECT_EQ(other.status(),
            absl::UnavailableError("a kernel's launch says: broken"));
}

// A log of the calls to the CudaPlugin that Logging() returns. `calls`: the
// calls, as text. `event`: the event of the last `record` call.
// `streams`: the number of streams created; a stream's handle is its number,
// from 1.
struct CallLog {
  std::vector<std::string> calls;
  CudaEvent event = nullptr;
  uintptr_t streams = 0;
};
CallLog call_log;

std::string NumberOf(CudaStream stream) {
  return std::to_string(reinterpret_cast<uintptr_t>(stream));
}

// Returns the emulated GPU's functions, changed so that they log their calls in
// call_log. Empties call_log first.
CudaPlugin Logging() {
  call_log = {};
  CudaPlugin plugin = EmulatedCuda();
  plugin.new_stream = [](CudaStream* stream) {
    *stream = reinterpret_cast<CudaStream>(++call_log.streams);
    return 0;
  };
  plugin.record = [](CudaEvent event, CudaStream stream) {
    call_log.event = event;
    call_log.calls.push_back("record on " + NumberOf(stream));
    return 0;
  };
  plugin.stream_waits = [](CudaStream stream, CudaEvent event) {
    EXPECT_EQ(event, call_log.event);
    call_log.calls.push_back(NumberOf(stream) + " waits");
    return 0;
  };
  plugin.copy = [](void*, const void*, int64_t, CudaPlugin::CopyKind,
                   CudaStream stream) {
    call_log.calls.push_back("copy on " + NumberOf(stream));
    return 0;
  };
  plugin.wait_for_stream = [](CudaStream stream) {
    call_log.calls.push_back("wait for " + NumberOf(stream));
    return 0;
  };
  return plugin;
}

TEST(CudaDeviceTest, OneStreamWaitsForTheWorkRecordedOnTheOther) {
  const CudaPlugin plugin = Logging();
  CudaDevice device(plugin);
  ASSERT_TRUE(device.Prepare(0).ok());
  ASSERT_EQ(NumberOf(device.stream()), "1");
  ASSERT_EQ(NumberOf(device.side_stream()), "2");
  device.WaitForOther(Device::Stream::kCompute);
  device.WaitForOther(Device::Stream::kCommunication);
  EXPECT_THAT(call_log.calls,
              ElementsAre("record on 2", "1 waits", "record on 1", "2 waits"));
}

// Copies 1 byte from the host to a device that uses the functions of `plugin`.
void CopyInOneByte(const CudaPlugin& plugin) {
  CudaDevice device(plugin);
  ASSERT_TRUE(device.Prepare(0).ok());
  char to = 0;
  const char from = 1;
  device.CopyIn(&to, &from, 1);
}

TEST(CudaDeviceTest, CopyFromPageableMemoryIsNotWaitedFor) {
  CopyInOneByte(Logging());
  EXPECT_THAT(call_log.calls, ElementsAre("copy on 1"));
}

TEST(CudaDeviceTest, CopyFromMemoryThatIsReadLaterIsWaitedFor) {
  CudaPlugin plugin = Logging();
  plugin.is_pinned = [](const void*) { return true; };
  CopyInOneByte(plugin);
  EXPECT_THAT(call_log.calls, ElementsAre("copy on 1", "wait for 1"));
  plugin = Logging();
  plugin.use_device = [](int, int* reads_in_place) {
    return *reads_in_place = 1, 0;
  };
  CopyInOneByte(plugin);
  EXPECT_THAT(call_log.calls, ElementsAre("copy on 1", "wait for 1"));
}

TEST(CudaDeviceTest, MarksHaveTimesInTheirOrder) {
  CudaDevice device(EmulatedCuda());
  ASSERT_TRUE(device.Prepare(0).ok());
  for (int round = 0; round < 2; ++round) {
    EXPECT_EQ(device.Mark(Device::Stream::kCompute), 0);
    EXPECT_EQ(device.Mark(Device::Stream::kCommunication), 1);
    EXPECT_EQ(device.Mark(Device::Stream::kCompute), 2);
    const std::vector<Duration> times = device.ReadMarks();
    ASSERT_EQ(times.size(), 3u);
    EXPECT_EQ(times[0], Duration::zero());
    EXPECT_LE(times[0], times[1]);
    EXPECT_LE(times[1], times[2]);
  }
}

TEST(CudaDeviceTest, ARuleWithoutAKernelIsRefused) {
  class Own final : public UpdateRule {
   public:
    std::vector<std::string> states() const override { return {}; }
    void Update(const OptimizerStep&, WeightDecay, int64_t, float*,
                const float*, float* const*) const override {}
  };
  CudaDevice device(EmulatedCuda());
  ASSERT_TRUE(device.Prepare(0).ok());
  EXPECT_EQ(device.Update(Own(), {}, {}).code(),
            absl::StatusCode::kInvalidArgument);
}

// Trains on a CudaDevice, once with replicated optimizer state (DDP) and once
// with sharded state (ZeRO-1). All numbers are exact in float32.
TEST(CudaDeviceTest, DataParallelTrainingHasTheAveragedGradients) {
  for (const auto state : {DataParallelOptions::State::kReplicated,
                           DataParallelOptions::State::kSharded}) {
    const auto statuses = RunWorld(2, [&](ProcessGroup& world) {
      CudaDevice device(EmulatedCuda());
      absl::Status status = device.Prepare(0);
      constexpr int64_t kCount = 1000;
      const int64_t bytes = kCount * static_cast<int64_t>(sizeof(float));
      const auto memory = *device.Allocate(2 * bytes);
      auto* const weights = static_cast<float*>(memory.get());
      std::vector<float> host(kCount, static_cast<float>(world.rank()));
      device.CopyIn(weights, host.data(), bytes);
      auto model =
          DataParallel::Create(world,
                               {{"weights",
                                 {kCount},
                                 {weights, kCount},
                                 {weights + kCount, kCount}}},
                               SgdRule({.momentum = 0.5}),
                               {.ddp = {.device = &device}, .state = state});
      if (!model.ok()) return model.status();
      for (int step = 1; step <= 2; ++step) {
        status.Update((*model)->Begin());
        host.assign(kCount, static_cast<float>(1 + 2 * world.rank()));
        device.CopyIn(weights + kCount, host.data(), bytes);
        status.Update((*model)->MarkReady(0));
        status.Update((*model)->Finish());
        status.Update((*model)->Step({.step = step, .learning_rate = 0.25}));
      }
      status.Update((*model)->reducer().Confirm());
      device.CopyOut(host.data(), weights, bytes);
      // SGD with momentum 0.5 and learning rate 0.25. All ranks start with rank
      // 0's weights, which are 0. The averaged gradient is 2 in both steps, so
      // the velocity is 2 in the first step and 0.5 * 2 + 2 = 3 in the second.
      EXPECT_EQ(host, std::vector<float>(kCount, -0.25f * (2 + 3)));
      return status;
    });
    for (const absl::Status& status : statuses) {
      EXPECT_TRUE(status.ok()) << status;
    }
  }
}

// With a plugin and a GPU, opening the device succeeds; otherwise the error
// names what is missing.
TEST(OpenCudaDeviceTest, SaysWhatIsMissing) {
  const auto device = OpenCudaDevice(0);
  if (device.ok()) return;
  if (absl::IsNotFound(device.status())) {
    EXPECT_THAT(device.status().ToString(),
                HasSubstr("needs libmuster_cuda.so"));
  } else {
    EXPECT_EQ(device.status().code(), absl::StatusCode::kUnavailable)
        << device.status();
  }
  EXPECT_EQ(OpenLocalCudaDevice(0, 1).status(), device.status());
}

}  // namespace
}  // namespace muster
