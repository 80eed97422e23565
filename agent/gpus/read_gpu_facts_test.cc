#include "agent/gpus/read_gpu_facts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

namespace muster::agent {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr char kFake[] = "agent/gpus/libfake_nvml.so";

class ReadGpuFactsTest : public ::testing::Test {
 protected:
  ~ReadGpuFactsTest() override {
    for (const char* name : {"FAKE_NVML_GPUS", "FAKE_NVML_MIG",
                             "FAKE_NVML_INIT", "FAKE_NVML_SET"}) {
      unsetenv(name);
    }
  }
  void Set(const char* name, const char* value) { setenv(name, value, 1); }
};

TEST_F(ReadGpuFactsTest, NoLibraryOrNoDriverIsANodeWithoutGpus) {
  EXPECT_EQ(ReadGpuFacts("libno-such-library.so.1").state,
            GpuFacts::State::kNoDriver);
  Set("FAKE_NVML_INIT", "9");
  EXPECT_EQ(ReadGpuFacts(kFake).state, GpuFacts::State::kNoDriver);
}

TEST_F(ReadGpuFactsTest, VersionMismatchHasNvmlsErrorText) {
  Set("FAKE_NVML_INIT", "18");
  const GpuFacts facts = ReadGpuFacts(kFake);
  EXPECT_EQ(facts.state, GpuFacts::State::kFailed);
  EXPECT_EQ(facts.error_code, 18);
  EXPECT_EQ(facts.error, "Driver/library version mismatch");
}

TEST_F(ReadGpuFactsTest, EverythingOfAHealthyGpu) {
  Set("FAKE_NVML_GPUS", "2");
  Set("FAKE_NVML_SET", "links=3");
  const GpuFacts facts = ReadGpuFacts(kFake);
  EXPECT_EQ(facts.state, GpuFacts::State::kRead);
  EXPECT_EQ(facts.driver_version, "550.54.15");
  EXPECT_EQ(facts.driver_cuda, 12040);
  ASSERT_THAT(facts.devices, SizeIs(2));
  const GpuDevice& gpu = facts.devices[1];
  EXPECT_EQ(gpu.index, 1);
  EXPECT_EQ(gpu.name, "NVIDIA H100");
  EXPECT_EQ(gpu.pci_address, "0000:3c:00.0");
  EXPECT_EQ(gpu.error, "");
  EXPECT_EQ(gpu.memory_total, int64_t{80} << 30);
  EXPECT_EQ(gpu.memory_used, int64_t{512} << 20);
  EXPECT_THAT(gpu.processes, IsEmpty());
  EXPECT_EQ(gpu.uncorrectable_errors, 0);
  EXPECT_EQ(gpu.clock_limits, ClockLimit::kIdle);
  EXPECT_EQ(gpu.temperature, 41);
  EXPECT_EQ(gpu.persistent, true);
  EXPECT_EQ(gpu.mig, false);
  ASSERT_TRUE(gpu.pcie.has_value());
  EXPECT_EQ(gpu.pcie->width, 16);
  EXPECT_EQ(gpu.pcie->max_generation, 5);
  EXPECT_THAT(gpu.links_up, ElementsAre(0, 1, 2));
  EXPECT_THAT(gpu.links_down, IsEmpty());
  ASSERT_THAT(facts.pairs, SizeIs(1));
  EXPECT_EQ(facts.pairs[0].peer_status, 0);
  EXPECT_EQ(facts.pairs[0].distance, 40);
}

TEST_F(ReadGpuFactsTest, FaultsOfOneGpuAreRead) {
  Set("FAKE_NVML_GPUS", "2");
  Set("FAKE_NVML_MIG", "2");
  Set("FAKE_NVML_SET",
      "1.ecc=3,1.width=8,1.links=2,1.link_down=2,1.pid=77,1.remapped=4,"
      "1.remap_failed=1,1.throttle=72,1.retiring=1");
  const GpuFacts facts = ReadGpuFacts(kFake);
  ASSERT_THAT(facts.devices, SizeIs(2));
  EXPECT_EQ(facts.devices[0].mig_instances, 2);
  EXPECT_EQ(facts.devices[0].uncorrectable_errors, 0);
  const GpuDevice& gpu = facts.devices[1];
  EXPECT_EQ(gpu.mig, false);
  EXPECT_EQ(gpu.uncorrectable_errors, 3);
  EXPECT_EQ(gpu.pcie->width, 8);
  EXPECT_THAT(gpu.links_up, ElementsAre(0));
  EXPECT_THAT(gpu.links_down, ElementsAre(1));
  ASSERT_THAT(gpu.processes, SizeIs(1));
  EXPECT_EQ(gpu.processes[0].pid, 77);
  EXPECT_EQ(gpu.processes[0].bytes, int64_t{3} << 30);
  EXPECT_EQ(gpu.remapped_rows->uncorrectable, 4);
  EXPECT_TRUE(gpu.remapped_rows->failed);
  EXPECT_FALSE(gpu.remapped_rows->pending);
  EXPECT_EQ(gpu.clock_limits, 72u);
  EXPECT_EQ(gpu.retirement_pending, true);
}

TEST_F(ReadGpuFactsTest, AGpuThatFellOffTheBusLeavesTheOthers) {
  Set("FAKE_NVML_GPUS", "3");
  Set("FAKE_NVML_SET", "1.fallen=1");
  const GpuFacts facts = ReadGpuFacts(kFake);
  ASSERT_THAT(facts.devices, SizeIs(3));
  EXPECT_EQ(facts.devices[1].error, "GPU is lost");
  EXPECT_EQ(facts.devices[2].error, "");
  ASSERT_THAT(facts.pairs, SizeIs(1));
  EXPECT_EQ(facts.pairs[0].b, 2);
}

}  // namespace
}  // namespace muster::agent
