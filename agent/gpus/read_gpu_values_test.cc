#include "agent/gpus/read_gpu_values.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

namespace muster::agent {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

constexpr char kFake[] = "agent/gpus/libfake_nvml.so";

class ReadGpuValuesTest : public ::testing::Test {
 protected:
  ~ReadGpuValuesTest() override {
    for (const char* name :
         {"FAKE_NVML_GPUS", "FAKE_NVML_INIT", "FAKE_NVML_SET"}) {
      unsetenv(name);
    }
  }
  void Set(const char* name, const char* value) { setenv(name, value, 1); }
};

TEST_F(ReadGpuValuesTest, NoLibraryOrNoDriverIsNotFound) {
  EXPECT_TRUE(
      absl::IsNotFound(ReadGpuValues("libno-such-library.so.1").status()));
  for (const char* result : {"9", "12"}) {
    Set("FAKE_NVML_INIT", result);
    EXPECT_TRUE(absl::IsNotFound(ReadGpuValues(kFake).status()));
  }
}

TEST_F(ReadGpuValuesTest, ALibraryThatFailsIsQuoted) {
  Set("FAKE_NVML_INIT", "18");
  EXPECT_THAT(std::string(ReadGpuValues(kFake).status().message()),
              HasSubstr("nvmlInit says: Driver/library version mismatch"));
}

TEST_F(ReadGpuValuesTest, ValuesAreInBaseUnits) {
  Set("FAKE_NVML_GPUS", "2");
  Set("FAKE_NVML_SET",
      "1.ecc=3,1.corrected=4,1.links=2,1.link_errors=5,1.remapped=6,"
      "1.remapped_correctable=7,1.remap_pending=1,1.throttle=72,1.replays=8");
  const auto gpus = ReadGpuValues(kFake);
  ASSERT_TRUE(gpus.ok()) << gpus.status();
  ASSERT_THAT(*gpus, SizeIs(2));
  const GpuValues& gpu = (*gpus)[1];
  EXPECT_EQ(gpu.index, 1);
  EXPECT_EQ(gpu.uuid, "GPU-1");
  EXPECT_EQ(gpu.error, "");
  EXPECT_DOUBLE_EQ(*gpu.utilization, 0.87);
  EXPECT_DOUBLE_EQ(*gpu.memory_utilization, 0.34);
  EXPECT_EQ(gpu.memory_used, int64_t{512} << 20);
  EXPECT_EQ(gpu.memory_free, (int64_t{79} << 30) - (int64_t{512} << 20));
  EXPECT_EQ(gpu.temperature, 41);
  EXPECT_EQ(gpu.memory_temperature, 52);
  EXPECT_DOUBLE_EQ(*gpu.power, 412.5);
  EXPECT_DOUBLE_EQ(*gpu.energy, 9000.5);
  EXPECT_EQ(gpu.volatile_ecc->uncorrected, 3);
  EXPECT_EQ(gpu.volatile_ecc->corrected, 4);
  EXPECT_EQ(gpu.aggregate_ecc->uncorrected, 103);
  EXPECT_EQ(gpu.aggregate_ecc->corrected, 104);
  EXPECT_EQ(gpu.remapped_rows->uncorrectable, 6);
  EXPECT_EQ(gpu.remapped_rows->correctable, 7);
  EXPECT_TRUE(gpu.remapped_rows->pending);
  EXPECT_FALSE(gpu.remapped_rows->failed);
  // link_errors contains the sums over the GPU's two NVLinks.
  EXPECT_EQ(gpu.link_errors->replay, 10);
  EXPECT_EQ(gpu.link_errors->recovery, 20);
  EXPECT_EQ(gpu.link_errors->crc_flit, 30);
  EXPECT_EQ(gpu.link_errors->crc_data, 40);
  EXPECT_EQ(gpu.pcie_replays, 8);
  EXPECT_EQ(gpu.clock_limits, 72u);
}

TEST_F(ReadGpuValuesTest, ValuesThatAGpuDoesNotReportAreAbsent) {
  Set("FAKE_NVML_GPUS", "1");
  Set("FAKE_NVML_SET", "unsupported=1,links=2");
  const auto gpus = ReadGpuValues(kFake);
  ASSERT_TRUE(gpus.ok()) << gpus.status();
  const GpuValues& gpu = gpus->at(0);
  EXPECT_EQ(gpu.error, "");
  EXPECT_FALSE(gpu.utilization.has_value());
  EXPECT_FALSE(gpu.memory_utilization.has_value());
  EXPECT_FALSE(gpu.temperature.has_value());
  EXPECT_FALSE(gpu.memory_temperature.has_value());
  EXPECT_FALSE(gpu.power.has_value());
  EXPECT_FALSE(gpu.energy.has_value());
  EXPECT_FALSE(gpu.volatile_ecc.has_value());
  EXPECT_FALSE(gpu.aggregate_ecc.has_value());
  EXPECT_FALSE(gpu.remapped_rows.has_value());
  EXPECT_FALSE(gpu.link_errors.has_value());
  EXPECT_FALSE(gpu.pcie_replays.has_value());
  EXPECT_FALSE(gpu.clock_limits.has_value());
}

TEST_F(ReadGpuValuesTest, OldDriversCountTheirOwnMemoryAsUsed) {
  Set("FAKE_NVML_GPUS", "1");
  Set("FAKE_NVML_SET", "old=1");
  const auto gpus = ReadGpuValues(kFake);
  ASSERT_TRUE(gpus.ok()) << gpus.status();
  EXPECT_EQ(gpus->at(0).memory_free,
            (int64_t{80} << 30) - (int64_t{512} << 20));
}

TEST_F(ReadGpuValuesTest, AGpuThatIsLostLeavesTheOthers) {
  Set("FAKE_NVML_GPUS", "3");
  Set("FAKE_NVML_SET", "1.fallen=1");
  const auto gpus = ReadGpuValues(kFake);
  ASSERT_TRUE(gpus.ok()) << gpus.status();
  ASSERT_THAT(*gpus, SizeIs(3));
  EXPECT_EQ((*gpus)[1].error, "GPU is lost");
  EXPECT_FALSE((*gpus)[1].power.has_value());
  EXPECT_TRUE((*gpus)[2].power.has_value());
}

}  // namespace
}  // namespace muster::agent
