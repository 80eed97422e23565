#include "rendezvous/protocol/job_spec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster {
namespace {

using ::testing::HasSubstr;

TEST(JobSpec, DefaultsAreValid) { EXPECT_TRUE(JobSpec().Validate().ok()); }

TEST(JobSpec, NamesTheFieldThatIsWrong) {
  JobSpec spec;
  spec.min_nodes = 4;
  spec.max_nodes = 2;
  EXPECT_THAT(std::string(spec.Validate().message()),
              HasSubstr("the least number of nodes, 4"));
  spec = JobSpec();
  spec.max_restarts = -1;
  EXPECT_THAT(std::string(spec.Validate().message()),
              HasSubstr("max restarts is -1"));
  spec = JobSpec();
  spec.keep_alive_interval = Duration::zero();
  EXPECT_THAT(std::string(spec.Validate().message()),
              HasSubstr("the keep-alive interval is 0 s"));
}

TEST(JobSpec, DisagreesOnWorldAndBudgetButNotOnTimeouts) {
  JobSpec job;
  JobSpec asked;
  asked.join_timeout = std::chrono::seconds(1);
  EXPECT_EQ(Disagreement(job, asked), std::nullopt);
  asked.max_nodes = 3;
  EXPECT_THAT(Disagreement(job, asked).value(), HasSubstr("--nnodes=1:1"));
  asked = job;
  asked.max_restarts = 7;
  EXPECT_THAT(Disagreement(job, asked).value(),
              HasSubstr("--max-restarts=0, but this node was started with 7"));
  asked = job;
  asked.store_host = StoreHost::kWorker;
  EXPECT_THAT(Disagreement(job, asked).value(),
              HasSubstr("runs without --worker-store, but this node was "
                        "started with it"));
}

}  // namespace
}  // namespace muster
