#include "launcher/options/worker_slots.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::launcher {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class VirtualLocalRank : public ::testing::Test {
 protected:
  VirtualLocalRank() { options_.local_ranks = LocalRanks::kVirtual; }

  std::vector<std::string> Gpus(const char* workers) {
    options_.workers_per_node = workers;
    const auto slots = PlanWorkerSlots(options_, facts_);
    EXPECT_TRUE(slots.ok()) << slots.status();
    return slots.ok() ? slots->gpu_of_local_rank : std::vector<std::string>();
  }
  std::string Error(const char* workers) {
    options_.workers_per_node = workers;
    return std::string(PlanWorkerSlots(options_, facts_).status().message());
  }

  RunOptions options_;
  MachineFacts facts_;
};

TEST_F(VirtualLocalRank, EachWorkerHasItsEntryWithoutADriver) {
  facts_.environment["CUDA_VISIBLE_DEVICES"] = "3, 5";
  EXPECT_THAT(Gpus("2"), ElementsAre("3", "5"));
  EXPECT_THAT(Gpus("1"), ElementsAre("3"));
  EXPECT_THAT(Error("3"), HasSubstr("3 workers with a GPU each, but "
                                    "CUDA_VISIBLE_DEVICES=3, 5 has 2 entries"));
}

TEST_F(VirtualLocalRank, WithoutTheVariableTheNumberIsTheLocalRank) {
  EXPECT_THAT(Gpus("2"), ElementsAre("0", "1"));
}

TEST_F(VirtualLocalRank, RocmsVariableGoesFirst) {
  facts_.environment["CUDA_VISIBLE_DEVICES"] = "0,1";
  facts_.environment["HIP_VISIBLE_DEVICES"] = "6,7";
  facts_.gpus = {"0", "1"};
  EXPECT_THAT(Gpus("2"), ElementsAre("6", "7"));
  EXPECT_TRUE(PlanWorkerSlots(options_, facts_)->sets_hip);
  EXPECT_THAT(Error("3"), HasSubstr("HIP_VISIBLE_DEVICES=6,7"));
}

TEST_F(VirtualLocalRank, ADriversGpusAreCounted) {
  facts_.gpus = {"0", "1"};
  EXPECT_THAT(Gpus("2"), ElementsAre("0", "1"));
  EXPECT_FALSE(PlanWorkerSlots(options_, facts_)->sets_hip);
  EXPECT_THAT(Error("3"), HasSubstr("this node has 2 GPUs"));
}

TEST_F(VirtualLocalRank, RealOnesShareTheNodesVariable) {
  options_.local_ranks = LocalRanks::kReal;
  facts_.environment["CUDA_VISIBLE_DEVICES"] = "3,5";
  EXPECT_THAT(Gpus("2"), IsEmpty());
}

}  // namespace
}  // namespace muster::launcher
