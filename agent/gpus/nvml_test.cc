#include "agent/gpus/nvml.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

namespace muster::agent {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr char kFake[] = "agent/gpus/libfake_nvml.so";

class NvmlTest : public ::testing::Test {
 protected:
  ~NvmlTest() override {
    for (const char* name :
         {"FAKE_NVML_GPUS", "FAKE_NVML_MIG", "FAKE_NVML_INIT"}) {
      unsetenv(name);
    }
  }
  void Set(const char* name, const char* value) { setenv(name, value, 1); }
};

TEST_F(NvmlTest, NoLibraryIsNoGpu) {
  const auto gpus = ReadGpus("libno-such-library.so.1");
  ASSERT_TRUE(gpus.ok()) << gpus.status();
  EXPECT_THAT(*gpus, IsEmpty());
}

TEST_F(NvmlTest, NoDriverIsNoGpu) {
  Set("FAKE_NVML_GPUS", "2");
  for (const char* result : {"9", "12"}) {
    Set("FAKE_NVML_INIT", result);
    const auto gpus = ReadGpus(kFake);
    ASSERT_TRUE(gpus.ok()) << gpus.status();
    EXPECT_THAT(*gpus, IsEmpty());
  }
}

TEST_F(NvmlTest, ALibraryThatFailsIsQuoted) {
  Set("FAKE_NVML_INIT", "18");
  EXPECT_THAT(std::string(ReadGpus(kFake).status().message()),
              HasSubstr("nvmlInit says: Driver/library version mismatch"));
}

TEST_F(NvmlTest, GpusAndMigInstancesAreRead) {
  Set("FAKE_NVML_GPUS", "3");
  Set("FAKE_NVML_MIG", "2");
  const auto gpus = ReadGpus(kFake);
  ASSERT_TRUE(gpus.ok()) << gpus.status();
  ASSERT_EQ(gpus->size(), 3u);
  EXPECT_EQ((*gpus)[0].uuid, "GPU-0");
  EXPECT_THAT((*gpus)[0].mig_instances, ElementsAre("MIG-0", "MIG-1"));
  EXPECT_THAT((*gpus)[0].gpu_instances, ElementsAre(7, 8));
  EXPECT_EQ((*gpus)[0].pci_address, "0000:3b:00.0");
  EXPECT_EQ((*gpus)[2].uuid, "GPU-2");
  EXPECT_THAT((*gpus)[2].mig_instances, IsEmpty());
}

TEST_F(NvmlTest, VisibleOnesAreThoseOfTheMachine) {
  Set("FAKE_NVML_GPUS", "3");
  EXPECT_THAT(ReadVisibleGpus("2,0,7", kFake)->names, ElementsAre("2", "0"));
  EXPECT_THAT(ReadVisibleGpus("2,0,7", kFake)->pci_addresses,
              ElementsAre("0000:3d:00.0", "0000:3b:00.0"));
  EXPECT_THAT(ReadVisibleGpus(std::nullopt, kFake)->names,
              ElementsAre("0", "1", "2"));
}

TEST_F(NvmlTest, TheLibraryIsNotAskedWhereAllIsHidden) {
  // Makes nvmlInit fail with code 18. ReadVisibleGpus must succeed
  // nevertheless: if all GPUs are hidden, it must not load the library and call
  // nvmlInit.
  Set("FAKE_NVML_INIT", "18");
  EXPECT_THAT(ReadVisibleGpus("", kFake)->names, IsEmpty());
  EXPECT_THAT(ReadVisibleGpus("-1", kFake)->names, IsEmpty());
}

}  // namespace
}  // namespace muster::agent
