#include "rendezvous/protocol/job_spec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

namespace muster::rendezvous {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(JobSpec, DefaultsAreValid) { EXPECT_TRUE(JobSpec().Validate().ok()); }

TEST(JobSpec, AnOrderLivesForTwoReportsButNotLongerThanALease) {
  using std::chrono::seconds;
  JobSpec spec;
  spec.keep_alive_interval = seconds(2);
  EXPECT_EQ(spec.order_life(), seconds(4));
  spec.keep_alive_interval = seconds(1);
  EXPECT_EQ(spec.order_life(), seconds(3));
  spec.keep_alive_misses = 2;
  EXPECT_EQ(spec.order_life(), seconds(2));
}

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
  EXPECT_THAT(Disagreement(job, asked)->told, HasSubstr("--nnodes=1:1"));
  asked = job;
  asked.max_restarts = 7;
  EXPECT_THAT(Disagreement(job, asked)->told,
              HasSubstr("--max-restarts=0, but this node was started with 7"));
  asked = job;
  asked.store_host = StoreHost::kWorker;
  EXPECT_THAT(Disagreement(job, asked)->told,
              HasSubstr("runs without --worker-store, but this node was "
                        "started with it"));
}

TEST(JobSpec, DisagreesOnTakeover) {
  JobSpec job;
  JobSpec asked = job;
  asked.takeover = Takeover::kMajority;
  EXPECT_THAT(Disagreement(job, asked)->told,
              HasSubstr("runs with --takeover=auto, but this node was started "
                        "with --takeover=majority"));
  asked = job;
  asked.network_check = NetworkCheckTime::kStart;
  EXPECT_THAT(Disagreement(job, asked)->told,
              HasSubstr("runs with --network-check=never, but this node was "
                        "started with --network-check=start"));
}

TEST(JobSpec, DisagreesOnEncryption) {
  JobSpec job;
  JobSpec asked;
  asked.encryption = Encryption::kWorkers;
  EXPECT_THAT(Disagreement(job, asked)->told,
              HasSubstr("runs with --encrypt=none, but this node was started "
                        "with --encrypt=workers"));
  EXPECT_THAT(Disagreement(asked, job)->told,
              HasSubstr("runs with --encrypt=workers, but this node was "
                        "started with --encrypt=none"));
}

TEST(JobSpec, AnotherCommandIsAnotherJob) {
  JobSpec job;
  job.command = "--nproc-per-node=1 sleep 5";
  JobSpec asked = job;
  EXPECT_EQ(Disagreement(job, asked), std::nullopt);
  asked.command = "--nproc-per-node=1 sh -c 'echo hi'";
  const std::optional<Objection> objection = Disagreement(job, asked);
  ASSERT_TRUE(objection.has_value());
  EXPECT_TRUE(objection->another_job);
  EXPECT_THAT(objection->told, HasSubstr(job.command));
  EXPECT_THAT(objection->told, HasSubstr(asked.command));
  EXPECT_THAT(objection->told, HasSubstr("--rdzv-conf=mixed_nodes=1"));
  EXPECT_THAT(objection->told, HasSubstr("--rdzv-endpoint"));
  EXPECT_THAT(objection->told, HasSubstr("--rdzv-id"));
  // Log messages must not show arguments, which may contain secrets.
  EXPECT_THAT(objection->noted, Not(HasSubstr("sleep")));
  EXPECT_THAT(objection->noted, Not(HasSubstr("echo")));
}

TEST(JobSpec, AnOlderAgentHasNoCommand) {
  JobSpec job;
  job.command = "sleep 5";
  EXPECT_EQ(Disagreement(job, JobSpec()), std::nullopt);
  EXPECT_EQ(Disagreement(JobSpec(), job), std::nullopt);
}

TEST(JobSpec, CommandsMayDifferWhereBothSidesMeanIt) {
  JobSpec job;
  job.command = "train.py --node=0";
  JobSpec asked;
  asked.command = "train.py --node=1";
  for (const bool the_job : {false, true}) {
    for (const bool the_node : {false, true}) {
      job.mixed_nodes = the_job;
      asked.mixed_nodes = the_node;
      EXPECT_EQ(Disagreement(job, asked).has_value(), !the_job || !the_node);
    }
  }
}

TEST(JobSpec, DisagreementQuotesBothCommands) {
  JobSpec job;
  job.command = "sleep 5";
  JobSpec asked;
  asked.command = "true";
  asked.max_nodes = 2;
  const std::string told = Disagreement(job, asked)->told;
  EXPECT_THAT(told, HasSubstr("--nnodes=1:1"));
  EXPECT_THAT(told, HasSubstr("the job: \"sleep 5\", this node: \"true\""));
}

}  // namespace
}  // namespace muster::rendezvous
