#include "launcher/cluster/slurm/slurm_defaults.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <map>
#include <set>
#include <string>
#include <vector>

#include "launcher/cluster/defaults_fixture.h"
#include "launcher/cluster/slurm/slurm_place.h"
#include "launcher/options/run_options.h"

namespace muster::launcher {
namespace {

using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

using Environment = std::map<std::string, std::string>;

Environment With(Environment environment, const Environment& more) {
  for (const auto& [name, value] : more) environment[name] = value;
  return environment;
}

// The environment of a task of `srun --ntasks-per-node=1` on three of a job's
// four nodes, as Slurm 22.05 sets it.
Environment Task(int task) {
  const std::string number = std::to_string(task);
  return {{"SLURM_JOB_ID", "41"},
          {"SLURM_JOB_NODELIST", "n[1-4]"},
          {"SLURM_NODELIST", "n[1-4]"},
          {"SLURM_JOB_NUM_NODES", "4"},
          {"SLURM_NNODES", "4"},
          {"SLURM_STEP_ID", "2"},
          {"SLURM_STEP_NODELIST", "n[2-4]"},
          {"SLURM_STEP_NUM_NODES", "3"},
          {"SLURM_STEP_NUM_TASKS", "3"},
          {"SLURM_STEP_TASKS_PER_NODE", "1(x3)"},
          {"SLURM_PROCID", number},
          {"SLURM_NODEID", number},
          {"SLURM_LOCALID", "0"},
          {"SLURMD_NODENAME", "n" + std::to_string(task + 2)},
          {"SLURM_GPUS_ON_NODE", "8"}};
}

// The environment of the batch script of a Slurm job with `nodes` nodes.
Environment Batch(int nodes) {
  return {{"SLURM_JOB_ID", "41"},
          {"SLURM_JOB_NODELIST", "n[1-" + std::to_string(nodes) + "]"},
          {"SLURM_PROCID", "0"},
          {"SLURM_NODEID", "0"},
          {"SLURM_LOCALID", "0"},
          {"SLURMD_NODENAME", "n1"}};
}

Environment LoginShell() {
  return {{"SLURM_JOB_ID", "41"}, {"SLURM_JOB_NODELIST", "n[1-2]"}};
}

class SlurmDefaultsTest : public DefaultsFixture {
 protected:
  SlurmDefaultsTest() : DefaultsFixture(SlurmDefaults) {}
};

TEST_F(SlurmDefaultsTest, AStepNeedsNoFlags) {
  const RunOptions options = Options(Task(0));
  EXPECT_EQ(options.spec.min_nodes, 3);
  EXPECT_EQ(options.spec.max_nodes, 3);
  EXPECT_EQ(options.run_id, "41.2");
  ASSERT_EQ(options.endpoints.size(), 1u);
  // The rendezvous endpoint is on n2, the first host of the step. n1 is the
  // first host of the job, but not in the step.
  EXPECT_EQ(options.endpoints.front().host, "n2");
  EXPECT_EQ(options.endpoints.front().port, SlurmPort(41, 2));
  EXPECT_EQ(options.workers_per_node, "8");
  EXPECT_EQ(options.node_id, "n2");
  EXPECT_EQ(options.input.reader, agent::WorkerInput::Reader::kNone);
  EXPECT_THAT(options.preemption.signals, ElementsAre(SIGUSR1, SIGTERM));
}

TEST_F(SlurmDefaultsTest, OnlyTheFirstNodeHostsTheCoordinator) {
  EXPECT_EQ(Options(Task(0)).hosting, Hosting::kAlways);
  EXPECT_EQ(Options(Task(1)).hosting, Hosting::kNever);
  EXPECT_EQ(Options(Task(1)).endpoints.front().host, "n2");
}

TEST_F(SlurmDefaultsTest, GivenFlagsOverrideDefaults) {
  const RunOptions options =
      Options(Task(1), {"--nnodes=2:3", "--nproc-per-node=2", "--rdzv-id=mine",
                        "--rdzv-endpoint=n9:1234", "--topology=rack=r1",
                        "--signals-to-leave=SIGTERM"});
  EXPECT_EQ(options.spec.min_nodes, 2);
  EXPECT_EQ(options.workers_per_node, "2");
  EXPECT_EQ(options.run_id, "mine");
  EXPECT_EQ(options.endpoints.front().ToString(), "n9:1234");
  EXPECT_EQ(options.hosting, Hosting::kIfOwner);
  EXPECT_THAT(options.topology, ElementsAre("rack=r1"));
  EXPECT_THAT(options.preemption.signals, IsEmpty());
}

TEST_F(SlurmDefaultsTest, WithAMasterAddressTheTaskNumberIsTheNodeRank) {
  const RunOptions options = Options(Task(1), {"--master-addr=n2"});
  EXPECT_EQ(options.node_rank, 1);
  EXPECT_EQ(options.spec.max_nodes, 3);
  EXPECT_TRUE(options.endpoints.empty());
}

TEST_F(SlurmDefaultsTest, ASeparateCoordinatorIsTheEndpoint) {
  const RunOptions options =
      Options(With(Task(0), {{"MUSTER_COORDINATOR", "admin:29400"}}));
  EXPECT_EQ(options.endpoints.front().ToString(), "admin:29400");
  EXPECT_EQ(options.hosting, Hosting::kNever);
}

TEST_F(SlurmDefaultsTest, RunIdsOfJobsStepsArrayTasksAndRequeuesDiffer) {
  std::set<std::string> names;
  const Environment array = {{"SLURM_JOB_ID", "43"},
                             {"SLURM_ARRAY_JOB_ID", "41"},
                             {"SLURM_ARRAY_TASK_ID", "7"}};
  EXPECT_EQ(Options(With(Task(0), array)).run_id, "41_7.2");
  EXPECT_EQ(Options(With(Task(0), {{"SLURM_RESTART_COUNT", "2"}})).run_id,
            "41.2-r2");
  EXPECT_EQ(Options(With(Task(0), {{"SLURM_STEP_ID", "3"}})).run_id, "41.3");
  EXPECT_EQ(Options(With(Task(0), {{"SLURM_RESTART_COUNT", "0"}})).run_id,
            "41.2");
}

TEST_F(SlurmDefaultsTest, WithAStateFolderARequeuedJobKeepsItsRunId) {
  const std::vector<std::string> flags = {"--state-dir=/shared/state"};
  EXPECT_EQ(Options(Task(0), flags).run_id, "41");
  EXPECT_EQ(
      Options(With(Task(0), {{"SLURM_RESTART_COUNT", "2"}}), flags).run_id,
      "41");
  EXPECT_EQ(Options(With(Task(0), {{"SLURM_ARRAY_JOB_ID", "40"},
                                   {"SLURM_ARRAY_TASK_ID", "7"}}),
                    flags)
                .run_id,
            "40_7");
  EXPECT_EQ(Options(Task(0), {"--state-dir="}).run_id, "41.2");
}

TEST_F(SlurmDefaultsTest, PortsOfNeighbouringJobsAndStepsDiffer) {
  std::set<uint16_t> ports;
  for (uint64_t job = 4'294'965'000; job < 4'294'966'298; ++job) {
    for (uint64_t step = 0; step < 16; ++step) {
      const uint16_t port = SlurmPort(job, step);
      EXPECT_GE(port, 12000);
      EXPECT_LT(port, 32768);
      ports.insert(port);
    }
  }
  EXPECT_EQ(ports.size(), 1298u * 16);
}

TEST_F(SlurmDefaultsTest, PortsOfManyStepsOfOneJobDiffer) {
  std::set<uint16_t> ports;
  for (uint64_t step = 0; step < 1000; ++step)
    ports.insert(SlurmPort(77, step));
  EXPECT_EQ(ports.size(), 1000u);
}

TEST_F(SlurmDefaultsTest, GpusAreCountedOnEachNode) {
  EXPECT_EQ(Options(With(Task(0), {{"SLURM_GPUS_ON_NODE", "3"},
                                   {"SLURM_GPUS_PER_NODE", "8"}}))
                .workers_per_node,
            "3");
  Environment asked = Task(0);
  asked.erase("SLURM_GPUS_ON_NODE");
  EXPECT_EQ(Options(asked).workers_per_node, "1");
  asked["SLURM_GPUS_PER_NODE"] = "volta:2,kepler:1";
  EXPECT_EQ(Options(asked).workers_per_node, "3");
  for (const char* text : {"2", "a100:2", "gpu:a100:2"}) {
    asked["SLURM_GPUS_PER_NODE"] = text;
    EXPECT_EQ(Options(asked).workers_per_node, "2") << text;
  }
  // --gpus=0 names one GPU, GPU 0, so there is one worker, whatever number of
  // GPUs Slurm gives.
  EXPECT_EQ(Options(Task(0), {"--gpus=0"}).workers_per_node, "1");
}

TEST_F(SlurmDefaultsTest, AnInvalidNumberOfGpusIsRejected) {
  for (const char* text : {"abc", "-2", "1000000", "4096,1", "2(x4)", ":"}) {
    EXPECT_THAT(Refusal(With(Task(0), {{"SLURM_GPUS_ON_NODE", text}})),
                HasSubstr(std::string("SLURM_GPUS_ON_NODE=") + text + ": "));
  }
  Environment asked = Task(0);
  asked.erase("SLURM_GPUS_ON_NODE");
  asked["SLURM_GPUS_PER_NODE"] = "a100:2(x4)";
  EXPECT_THAT(Refusal(asked), HasSubstr("SLURM_GPUS_PER_NODE=a100:2(x4): "));
  // If --nproc-per-node is given, Slurm's number of GPUs is not used, so an
  // invalid number causes no error.
  EXPECT_EQ(Options(asked, {"--nproc-per-node=3"}).workers_per_node, "3");
  EXPECT_THAT(Refusal(With(Batch(1), {{"SLURM_GPUS_ON_NODE", "abc"}})),
              HasSubstr("SLURM_GPUS_ON_NODE=abc: "));
}

TEST_F(SlurmDefaultsTest, OnlyTask0PrintsMessagesAboutTheJob) {
  EXPECT_EQ(Options(Task(0)).policy.job_messages,
            agent::JobMessages::kAssignedAndGeneral);
  EXPECT_EQ(Options(Task(1)).policy.job_messages,
            agent::JobMessages::kAssigned);
  EXPECT_EQ(Options(Task(1), {"--nnodes=1"}).policy.job_messages,
            agent::JobMessages::kAll);
  EXPECT_EQ(Options(With(Task(0), {{"SLURM_STEP_NUM_TASKS", "1"},
                                   {"SLURM_STEP_TASKS_PER_NODE", "1"}}))
                .policy.job_messages,
            agent::JobMessages::kAll);
  EXPECT_EQ(Options(Batch(1)).policy.job_messages, agent::JobMessages::kAll);
}

TEST_F(SlurmDefaultsTest, SwitchesBecomeTopologyLabels) {
  EXPECT_THAT(Options(With(Task(0), {{"SLURM_TOPOLOGY_ADDR", "top.leaf2.n2"},
                                     {"SLURM_TOPOLOGY_ADDR_PATTERN",
                                      "switch.switch.node"}}))
                  .topology,
              ElementsAre("switch1=top", "switch2=leaf2"));
}

TEST_F(SlurmDefaultsTest, SeveralTasksOnANodeAreRejectedWithAdvice) {
  const Environment each = With(
      Task(0),
      {{"SLURM_STEP_NUM_TASKS", "12"}, {"SLURM_STEP_TASKS_PER_NODE", "4(x3)"}});
  EXPECT_THAT(Refusal(each), HasSubstr("SLURM_STEP_TASKS_PER_NODE=4(x3)"));
  EXPECT_THAT(Refusal(each), HasSubstr("write srun --ntasks-per-node=1"));
  EXPECT_THAT(Refusal(each), HasSubstr("--nproc-per-node=4"));
  // --nnodes=12 equals the number of tasks, 12 in total (4 on each of 3
  // machines). So each task is meant to be a node of the job.
  const RunOptions meant = Options(each, {"--nnodes=12"});
  EXPECT_EQ(meant.spec.max_nodes, 12);
  EXPECT_EQ(meant.node_id, "");
  EXPECT_EQ(meant.hosting, Hosting::kAlways);
  EXPECT_EQ(
      Options(With(each, {{"SLURM_PROCID", "1"}}), {"--nnodes=12"}).hosting,
      Hosting::kNever);
}

TEST_F(SlurmDefaultsTest, UnequalTasksPerNodeAreCounted) {
  EXPECT_THAT(
      Refusal(With(Task(0), {{"SLURM_STEP_TASKS_PER_NODE", "1(x2),2"}})),
      HasSubstr("several tasks"));
}

TEST_F(SlurmDefaultsTest, MoreNodesThanTheStepHasAreRejected) {
  EXPECT_THAT(Refusal(Task(0), {"--nnodes=4"}),
              HasSubstr("--nnodes=4: Slurm's step has 3 nodes"));
  EXPECT_EQ(Options(Task(0), {"--nnodes=2:8"}).spec.max_nodes, 8);
}

TEST_F(SlurmDefaultsTest, TheRejoinTimeoutIsShortInAStep) {
  EXPECT_EQ(Options(Task(0)).spec.rejoin_timeout, seconds(30));
  EXPECT_EQ(Options(Task(0), {"--nnodes=2:3"}).spec.rejoin_timeout,
            seconds(30));
  // The defaults of a Slurm step do not change join_timeout, the time limit for
  // the first round.
  EXPECT_EQ(Options(Task(0)).spec.join_timeout, seconds(600));
  EXPECT_EQ(
      Options(Task(0), {"--rdzv-conf=rejoin_timeout=2"}).spec.rejoin_timeout,
      seconds(2));
  // With these flags, nodes of another Slurm step may join the job, so Slurm's
  // shorter default of rejoin_timeout (30 s) must not apply.
  for (const char* flag : {"--nnodes=2:4", "--rdzv-id=mine"}) {
    EXPECT_EQ(Options(Task(0), {flag}).spec.rejoin_timeout, seconds(600));
  }
  EXPECT_EQ(Options(Batch(1)).spec.rejoin_timeout, seconds(600));
}

TEST_F(SlurmDefaultsTest, AStepOfOneNodeHasNoEndpoint) {
  Environment one = With(Task(0), {{"SLURM_STEP_NODELIST", "n2"},
                                   {"SLURM_STEP_NUM_TASKS", "1"},
                                   {"SLURM_STEP_TASKS_PER_NODE", "1"}});
  EXPECT_TRUE(Options(one).endpoints.empty());
  EXPECT_EQ(Options(one).spec.max_nodes, 1);
  EXPECT_EQ(Options(one).workers_per_node, "8");
  // With --nnodes=1 each node runs a job of its own and needs no other node, so
  // no endpoint is set.
  EXPECT_TRUE(Options(Task(0), {"--nnodes=1"}).endpoints.empty());
}

TEST_F(SlurmDefaultsTest, AHeterogeneousStepMeetsInItsFirstComponent) {
  // The step has both components of a heterogeneous job. The step's list of
  // hosts is sorted over both components, so n1 comes first. But the
  // coordinator must be on n3, the host of the first component, where task 0
  // runs.
  const Environment het = {{"SLURM_HET_SIZE", "2"},
                           {"SLURM_JOB_NODELIST_HET_GROUP_0", "n3"},
                           {"SLURM_JOB_NODELIST_HET_GROUP_1", "n[1-2]"},
                           {"SLURM_STEP_NODELIST", "n[1-3]"}};
  const RunOptions first =
      Options(With(With(Task(0), het), {{"SLURMD_NODENAME", "n3"}}));
  EXPECT_EQ(first.endpoints.front().host, "n3");
  EXPECT_EQ(first.hosting, Hosting::kAlways);
  EXPECT_EQ(first.run_id, "41.2");
  const RunOptions second =
      Options(With(With(Task(1), het), {{"SLURMD_NODENAME", "n1"}}));
  EXPECT_EQ(second.endpoints.front().host, "n3");
  EXPECT_EQ(second.hosting, Hosting::kNever);
  // A Slurm step that runs only on the second component of a heterogeneous
  // Slurm job has a run id of its own.
  const RunOptions alone =
      Options(With(With(Task(0), het), {{"SLURM_STEP_NODELIST", "n[1-2]"},
                                        {"SLURMD_NODENAME", "n1"}}));
  EXPECT_EQ(alone.endpoints.front().host, "n1");
  EXPECT_EQ(alone.run_id, "41+1.2");
}

TEST_F(SlurmDefaultsTest, ABatchScriptOfAOneNodeJobIsThatNode) {
  const RunOptions options =
      Options(With(Batch(1), {{"SLURM_GPUS_ON_NODE", "2"}}));
  EXPECT_TRUE(options.endpoints.empty());
  EXPECT_EQ(options.spec.max_nodes, 1);
  EXPECT_EQ(options.run_id, "41");
  EXPECT_EQ(options.workers_per_node, "2");
  EXPECT_THAT(Refusal(Batch(4)), HasSubstr("job of 4 nodes"));
  EXPECT_THAT(Refusal(Batch(4)), HasSubstr("launch --slurm"));
  EXPECT_THAT(Refusal(Batch(4), {"--nnodes=4"}), HasSubstr("job of 4 nodes"));
  EXPECT_EQ(Options(Batch(4), {"--nnodes=1"}).spec.max_nodes, 1);
  EXPECT_EQ(Options(Batch(4), {"--nnodes=4", "--rdzv-endpoint=n1:2"})
                .endpoints.front()
                .host,
            "n1");
}

TEST_F(SlurmDefaultsTest, AShellOnALoginNodeIsRejected) {
  EXPECT_THAT(Refusal(LoginShell()), HasSubstr("need not be on one"));
  EXPECT_THAT(Refusal(LoginShell(), {"--nnodes=1"}), HasSubstr("srun"));
  EXPECT_THAT(Refusal({{"SLURM_JOB_ID", "41"}}),
              HasSubstr("this shell has a Slurm job but"));
  EXPECT_THAT(Options(LoginShell(), {"--rdzv-endpoint=a:1"}).run_id, "none");
}

TEST_F(SlurmDefaultsTest, SallocsShellOnANodeActsAsABatchScript) {
  const Environment interactive =
      With(Batch(2), {{"SLURM_STEP_ID", "4294967290"},
                      {"SLURM_STEP_NODELIST", "n1"},
                      {"SLURM_STEP_NUM_TASKS", "1"}});
  EXPECT_THAT(Refusal(interactive), HasSubstr("job of 2 nodes"));
}

TEST_F(SlurmDefaultsTest, SlurmFlagInsideAStepIsRejected) {
  EXPECT_EQ(Options(Batch(4), {"--slurm"}).remote.start, RemoteStart::kSlurm);
  EXPECT_EQ(Options(LoginShell(), {"--slurm"}).remote.start,
            RemoteStart::kSlurm);
  EXPECT_THAT(Refusal(Task(0), {"--slurm"}), HasSubstr("srun has started"));
  for (const char* no : {"--slurm=0", "--slurm=false"}) {
    EXPECT_THAT(Refusal(Batch(4), {no}), HasSubstr("job of 4 nodes"));
    EXPECT_THAT(Refusal(LoginShell(), {no}), HasSubstr("need not be on one"));
    EXPECT_EQ(Options(Task(0), {no}).spec.max_nodes, 3);
  }
}

TEST_F(SlurmDefaultsTest, ErrorsNameTheInvalidVariable) {
  EXPECT_THAT(Refusal(With(Task(0), {{"SLURM_STEP_NODELIST", "n[1-"}})),
              HasSubstr("SLURM_STEP_NODELIST=n[1-: '[' without ']'"));
  EXPECT_THAT(Refusal(With(Task(0), {{"SLURM_JOB_ID", "x"}})),
              HasSubstr("SLURM_JOB_ID=x: "));
  EXPECT_THAT(Refusal(With(Task(0), {{"SLURM_STEP_NUM_TASKS", "-1"}})),
              HasSubstr("SLURM_STEP_NUM_TASKS=-1: "));
  EXPECT_THAT(Refusal(With(Task(0), {{"SLURM_STEP_TASKS_PER_NODE", "1(x"}})),
              IsEmpty());
  EXPECT_THAT(Refusal(With(Task(0), {{"SLURM_STEP_NODELIST", "n[1-"}})),
              HasSubstr("--cluster=none"));
}

}  // namespace
}  // namespace muster::launcher
