#include "launcher/options/agent_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::launcher {
namespace {

const Meeting kHere = {.endpoint = {"here", 1}, .run_id = "none"};

using ::testing::ElementsAre;
using ::testing::HasSubstr;

RunOptions Requeued() {
  RunOptions options;
  options.workers_per_node = "1";
  options.program = {"./a"};
  options.interpreter = Interpreter::kNoPython;
  options.preemption.requeue = agent::Requeue::kYes;
  return options;
}

TEST(AgentPlan, WhatCannotBePutBackIsRefusedBeforeItBegins) {
  const auto plan = PlanAgent(Requeued(), MachineFacts(), kHere);
  EXPECT_EQ(plan.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(plan.status().message()),
              HasSubstr("--requeue: this is no Slurm job"));
}

TEST(AgentPlan, ASlurmJobCanBePutBack) {
  MachineFacts facts;
  facts.environment["SLURM_JOB_ID"] = "4711";
  const auto plan = PlanAgent(Requeued(), facts, kHere);
  EXPECT_TRUE(plan.ok()) << plan.status();
}

TEST(AgentPlan, ANodeSaysThatItsWorkersHaveTooFewCores) {
  RunOptions options = Requeued();
  options.preemption.requeue = agent::Requeue::kNo;
  options.workers_per_node = "8";
  MachineFacts facts;
  facts.host_name = "n3";
  const auto plan = PlanAgent(options, facts, kHere);
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_THAT(plan->remarks,
              ElementsAre(HasSubstr("8 workers on n3 have 1 core to run on")));
}

TEST(AgentPlan, ARelativeLogFolderInAWorkingFolderThatIsGoneIsRefused) {
  RunOptions options = Requeued();
  options.preemption.requeue = agent::Requeue::kNo;
  options.log_dir = "logs";
  const auto plan = PlanAgent(options, MachineFacts(), kHere);
  EXPECT_EQ(plan.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(plan.status().message()),
              HasSubstr("--log-dir=logs: the working folder"));
  MachineFacts facts;
  facts.working_directory = "/srv";
  EXPECT_EQ(PlanAgent(options, facts, kHere)->logs.directory, "/srv/logs");
  options.log_dir = "/logs";
  EXPECT_TRUE(PlanAgent(options, MachineFacts(), kHere).ok());
}

TEST(AgentPlan, ARankThatThereIsNotCannotReadTheInput) {
  RunOptions options = Requeued();
  options.preemption.requeue = agent::Requeue::kNo;
  options.workers_per_node = "2";
  options.input = {.reader = agent::WorkerInput::Reader::kRank, .rank = 2};
  const auto plan = PlanAgent(options, MachineFacts(), kHere);
  EXPECT_EQ(plan.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(plan.status().message()),
              HasSubstr("--stdin=2: this job has 2 workers; name a rank from 0 "
                        "to 1"));
  options.spec.max_nodes = 2;
  EXPECT_TRUE(PlanAgent(options, MachineFacts(), kHere).ok());
  options.spec.max_nodes = 1;
  options.input.rank = 1;
  EXPECT_TRUE(PlanAgent(options, MachineFacts(), kHere).ok());
}

TEST(AgentPlan, NoOtherJobNeedsSlurm) {
  RunOptions options = Requeued();
  options.preemption.requeue = agent::Requeue::kNo;
  options.preemption.signals = {15};
  const auto plan = PlanAgent(options, MachineFacts(), kHere);
  EXPECT_TRUE(plan.ok()) << plan.status();
}

}  // namespace
}  // namespace muster::launcher
