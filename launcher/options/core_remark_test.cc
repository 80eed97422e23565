#include "launcher/options/core_remark.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::launcher {
namespace {

using ::testing::HasSubstr;

std::string Remark(int workers, int cores,
                   const std::map<std::string, std::string>& environment = {}) {
  WorkerSlots slots;
  slots.count = workers;
  MachineFacts facts;
  facts.host_name = "n3";
  facts.cores = cores;
  facts.environment = environment;
  return CoreRemark(slots, facts);
}

TEST(CoreRemark, OneCoreForEightWorkers) {
  EXPECT_EQ(
      Remark(8, 1, {{"SLURM_JOB_ID", "7"}}),
      "8 workers on n3 have 1 core to run on; ask Slurm for more: #SBATCH "
      "--exclusive, or --cpus-per-gpu=N");
  EXPECT_THAT(Remark(9, 2), HasSubstr("2 cores to run on; look at taskset"));
}

TEST(CoreRemark, ATestOnAFewCoresIsNone) {
  EXPECT_EQ(Remark(8, 2), "");
  EXPECT_EQ(Remark(4, 1), "");
  EXPECT_NE(Remark(5, 1), "");
  for (const char* none : {"", "-1", "NoDevFiles"}) {
    EXPECT_EQ(Remark(4, 2, {{"CUDA_VISIBLE_DEVICES", none}}), "") << none;
  }
}

TEST(CoreRemark, AWorkerWithAGpuNeedsACore) {
  for (const char* some : {"0,1,2,3", "GPU-1a2b", "MIG-1a2b"}) {
    EXPECT_NE(Remark(4, 3, {{"CUDA_VISIBLE_DEVICES", some}}), "") << some;
    EXPECT_EQ(Remark(4, 4, {{"CUDA_VISIBLE_DEVICES", some}}), "") << some;
  }
  WorkerSlots slots;
  slots.count = slots.gpus_needed = 2;
  EXPECT_NE(CoreRemark(slots, MachineFacts()), "");
}

}  // namespace
}  // namespace muster::launcher
