#include "launcher/options/agent_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "rendezvous/protocol/job_spec.h"

namespace muster::launcher {
namespace {

const Meeting kHere = {.endpoints = {{"here", 1}}, .run_id = "none"};

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

TEST(AgentPlan, RequeueOutsideOfSlurmIsRefused) {
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

using ::testing::HasSubstr;
using ::testing::StartsWith;

RunOptions Running(std::vector<std::string> program) {
  RunOptions options;
  options.program = std::move(program);
  return options;
}

TEST(JobCommand, IsWhatWasAskedFor) {
  RunOptions options = Running({"train.py", "--lr=0.1", "a b", ""});
  EXPECT_EQ(JobCommand(options),
            "--nproc-per-node=1 train.py --lr=0.1 'a b' ''");
  options.workers_per_node = "gpu";
  options.interpreter = Interpreter::kModule;
  EXPECT_EQ(JobCommand(options),
            "--nproc-per-node=gpu --module train.py --lr=0.1 'a b' ''");
  options.workers_per_node = "4";
  options.workers_asked = "$SLURM_GPUS_ON_NODE";
  EXPECT_THAT(JobCommand(options),
              StartsWith("--nproc-per-node=$SLURM_GPUS_ON_NODE "));
}

TEST(JobCommand, DiffersWhereTheCommandDoes) {
  const std::vector<std::vector<std::string>> programs = {
      {"a", "b"}, {"a b"},        {"a", "b", ""}, {"a", "\n"},
      {"a"},      {"a", "\\x0a"}, {"a", "\\n"},   {"'a'", "b"}};
  std::vector<std::string> seen;
  for (const auto& program : programs) {
    const std::string command = JobCommand(Running(program));
    EXPECT_THAT(seen, ::testing::Not(::testing::Contains(command)));
    seen.push_back(command);
    for (const char c : command) EXPECT_GE(c, 0x20) << command;
  }
}

TEST(JobCommand, LongCommandIsCutAndStaysDistinct) {
  const std::string text(5000, 'x');
  const std::string one = JobCommand(Running({"a", text + "1"}));
  const std::string two = JobCommand(Running({"a", text + "2"}));
  EXPECT_LE(one.size(), rendezvous::kMaxCommandBytes);
  EXPECT_NE(one, two);
  EXPECT_THAT(one, HasSubstr("xxx... (5022 bytes, hash "));
  EXPECT_EQ(one, JobCommand(Running({"a", text + "1"})));
}

TEST(JobCommand, IsNotCutWithinACharacter) {
  for (size_t shift = 0; shift < 2; ++shift) {
    std::string text(shift, 'x');
    for (int i = 0; i < 1000; ++i) text += "\u00e9";
    const std::string command = JobCommand(Running({text}));
    EXPECT_THAT(command, HasSubstr("\u00e9... ("));
  }
}

}  // namespace
}  // namespace muster::launcher
