#include "agent/health/check_health.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace muster::agent {
namespace {

using ::testing::HasSubstr;

class CheckHealthTest : public ::testing::Test {
 protected:
  CheckHealthTest() : root_(testing::TempDir() + "check_health") {
    std::filesystem::remove_all(root_);
    std::filesystem::create_directories(root_ + "/dev/shm");
    scope_.root = root_;
    scope_.nvml_library = "agent/gpus/libfake_nvml.so";
    Set("FAKE_NVML_GPUS", "2");
  }
  ~CheckHealthTest() override {
    std::filesystem::remove_all(root_);
    for (const char* name :
         {"FAKE_NVML_GPUS", "FAKE_NVML_INIT", "FAKE_NVML_SET", "FAKE_NVML_HANG",
          "FAKE_NVML_MIG"}) {
      unsetenv(name);
    }
  }
  void Set(const char* name, const char* value) { setenv(name, value, 1); }

  std::string Check(const std::string& check) {
    const absl::Status status = CheckHealth({check}, scope_);
    if (!status.ok()) {
      EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
    }
    return std::string(status.message());
  }

  const std::string root_;
  HealthScope scope_;
};

TEST_F(CheckHealthTest, AFitNodePassesAllChecks) {
  scope_.folders = {root_, root_ + "/not/yet", "", "relative"};
  EXPECT_TRUE(CheckHealth({}, scope_).ok());
  const absl::Status status =
      CheckHealth({"gpu", "disk", "memory", "shm"}, scope_);
  EXPECT_TRUE(status.ok()) << status;
}

TEST_F(CheckHealthTest, AnUnknownCheckIsRefused) {
  EXPECT_EQ(CheckHealth({"soul"}, scope_).code(),
            absl::StatusCode::kInvalidArgument);
}

TEST_F(CheckHealthTest, ALostGpuWithItsReasonAndHowManyMore) {
  Set("FAKE_NVML_SET", "1.fallen=1,0.ecc=2");
  EXPECT_EQ(Check("gpu"),
            "gpu: GPU 1: GPU is lost (and 1 more; see launch doctor)");
}

TEST_F(CheckHealthTest, WarningsLeaveTheNodeHealthy) {
  Set("FAKE_NVML_SET", "0.width=8,0.throttle=64,1.model=1,pid=5");
  EXPECT_EQ(Check("gpu"), "");
}

TEST_F(CheckHealthTest, OnlyTheGpusThatWorkersWillSeeCount) {
  Set("FAKE_NVML_SET", "1.ecc=2");
  scope_.visible_gpus = "0";
  EXPECT_EQ(Check("gpu"), "");
  scope_.visible_gpus = "0,1";
  EXPECT_THAT(Check("gpu"), HasSubstr("GPU 1: 2 memory errors"));
  scope_.visible_gpus = "0,2";
  EXPECT_THAT(Check("gpu"), HasSubstr("names 2; there are 2 GPUs"));
}

TEST_F(CheckHealthTest, AMismatchOfDriverAndLibrary) {
  Set("FAKE_NVML_INIT", "18");
  EXPECT_THAT(Check("gpu"), HasSubstr("Driver/library version mismatch"));
}

TEST_F(CheckHealthTest, ADriverThatHangsIsGivenUp) {
  Set("FAKE_NVML_HANG", "1");
  scope_.timeout = std::chrono::milliseconds(10);
  EXPECT_THAT(Check("gpu"), HasSubstr("does not answer"));
}

TEST_F(CheckHealthTest, WithoutNeededGpusOnlyDevicesWithoutADriverAreErrors) {
  scope_.nvml_library = "libno-such-library.so.1";
  EXPECT_EQ(Check("gpu"), "");
  std::ofstream(root_ + "/dev/nvidia0") << "";
  EXPECT_THAT(Check("gpu"), HasSubstr("cannot be loaded"));
}

TEST_F(CheckHealthTest, ADriverThatShowsNoGpu) {
  Set("FAKE_NVML_GPUS", "0");
  EXPECT_THAT(Check("gpu"), HasSubstr("loaded and shows no GPU"));
  scope_.gpus_needed = 2;
  EXPECT_THAT(Check("gpu"), HasSubstr("loaded and shows no GPU"));
}

TEST_F(CheckHealthTest, GpusThatAreNeededAndGone) {
  scope_.gpus_needed = 2;
  EXPECT_EQ(Check("gpu"), "");
  scope_.gpus_needed = 8;
  EXPECT_EQ(Check("gpu"), "gpu: the job needs 8 GPUs here, and there are 2");
  Set("FAKE_NVML_INIT", "9");
  EXPECT_THAT(Check("gpu"), HasSubstr("no NVIDIA driver is loaded"));
  scope_.gpus_needed = 0;
  EXPECT_EQ(Check("gpu"), "");
  scope_.visible_gpus = "0,1";
  EXPECT_THAT(Check("gpu"), HasSubstr("needs 2 GPUs here, and no NVIDIA"));
  scope_.visible_gpus = "-1";
  EXPECT_EQ(Check("gpu"), "");
}

TEST_F(CheckHealthTest, InstancesCountAsGpus) {
  Set("FAKE_NVML_MIG", "3");
  scope_.gpus_needed = 4;
  EXPECT_EQ(Check("gpu"), "");
  scope_.gpus_needed = 5;
  EXPECT_THAT(Check("gpu"), HasSubstr("there are 4"));
}

TEST_F(CheckHealthTest, AFolderThatIsNone) {
  std::ofstream(root_ + "/file") << "";
  scope_.folders = {root_ + "/file"};
  EXPECT_THAT(Check("disk"), HasSubstr("is no folder"));
}

TEST_F(CheckHealthTest, SharedMemoryThatIsNotThere) {
  std::filesystem::remove_all(root_ + "/dev/shm");
  std::ofstream(root_ + "/dev/shm") << "";
  EXPECT_THAT(Check("shm"), HasSubstr("shm: /dev/shm"));
}

TEST_F(CheckHealthTest, MemoryOfTheControlGroup) {
  std::filesystem::create_directories(root_ + "/proc/self");
  std::filesystem::create_directories(root_ + "/sys/fs/cgroup");
  std::ofstream(root_ + "/proc/meminfo")
      << "MemTotal: 8388608 kB\nMemAvailable: 8000000 kB\n";
  std::ofstream(root_ + "/sys/fs/cgroup/cgroup.controllers") << "memory";
  std::ofstream(root_ + "/sys/fs/cgroup/memory.max") << "1073741824";
  std::ofstream(root_ + "/sys/fs/cgroup/memory.current") << "1000000000";
  EXPECT_EQ(Check("memory"), "");
  std::ofstream(root_ + "/sys/fs/cgroup/memory.current") << "1073000000";
  EXPECT_THAT(Check("memory"), HasSubstr("may use 1.0 GiB memory"));
}

}  // namespace
}  // namespace muster::agent
