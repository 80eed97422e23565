#include "launcher/config/config_defaults.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "launcher/config/config_file.h"
#include "launcher/options/flag_table.h"
#include "launcher/options/run_options.h"

namespace muster::launcher {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

using Args = std::vector<std::string>;
using Environment = std::map<std::string, std::string>;

// The output of `accelerate config` on a single machine.
constexpr char kOneMachine[] =
    "distributed_type: MULTI_GPU\nmachine_rank: 0\nnum_machines: 1\n"
    "num_processes: 2\n";
constexpr char kNoMachines[] = "distributed_type: MULTI_GPU\n";
constexpr char kTwoMachines[] =
    "distributed_type: MULTI_GPU\nmachine_rank: 0\nnum_machines: 2\n"
    "num_processes: 4\nmain_process_ip: 10.0.0.1\nmain_process_port: 1234\n"
    "same_network: true\n";
// The settings for torchrun in InstructLab's default configuration.
constexpr char kInstructLab[] =
    "train:\n  nproc_per_node: 1\n  additional_args:\n    nnodes: 1\n"
    "    node_rank: 0\n    rdzv_endpoint: 127.0.0.1:12222\n";

// Parses a command line as launch does, with a configuration file that contains
// `text`.
absl::StatusOr<ParsedOptions> Parse(const std::string& text,
                                    const Environment& environment, Args args) {
  const std::vector<Flag> flags = FlagsOf(FlagUser::kLaunchOnly);
  args.emplace_back("train.py");
  return ParseRunOptions(
      flags, args, environment,
      [&](const FlagValues& given) -> absl::StatusOr<Defaults> {
        auto meaning = ReadConfig(
            text, flags,
            {.file_name = "f", .working_directory = "", .python_path = ""});
        if (!meaning.ok()) return meaning.status();
        return FileAndCluster(std::move(meaning->defaults), given, environment);
      });
}

RunOptions Options(const std::string& text, const Environment& environment,
                   const Args& args = {}) {
  const auto parsed = Parse(text, environment, args);
  EXPECT_TRUE(parsed.ok()) << parsed.status();
  return parsed.ok() ? parsed->options : RunOptions();
}

// The environment of one of srun's two tasks, each on its own node.
Environment Task(const std::string& task) {
  return {
      {"SLURM_JOB_ID", "41"},           {"SLURM_STEP_ID", "0"},
      {"SLURM_JOB_NODELIST", "n[1-2]"}, {"SLURM_STEP_NODELIST", "n[1-2]"},
      {"SLURM_STEP_NUM_TASKS", "2"},    {"SLURM_STEP_TASKS_PER_NODE", "1(x2)"},
      {"SLURM_PROCID", task},           {"SLURM_LOCALID", "0"}};
}

Environment Pod(const std::string& index) {
  return {{"KUBERNETES_SERVICE_HOST", "10.0.0.1"},
          {"JOB_COMPLETION_INDEX", index},
          {"MUSTER_JOB_NAME", "train"},
          {"MUSTER_SERVICE", "train"},
          {"MUSTER_NODES", "2"}};
}

TEST(FileAndClusterTest, AStepsNodesOutweighAFileForOne) {
  const RunOptions options = Options(kOneMachine, Task("1"));
  EXPECT_EQ(options.spec.max_nodes, 2);
  EXPECT_EQ(options.endpoints.front().host, "n1");
  EXPECT_EQ(options.hosting, Hosting::kNever);
  EXPECT_EQ(options.workers_per_node, "2");
  EXPECT_THAT(options.remarks,
              ElementsAre(AllOf(HasSubstr("f:3: num_machines=1: no effect"),
                                HasSubstr("SLURM_STEP_NUM_TASKS=2"))));
  EXPECT_EQ(Options(kNoMachines, Task("0")).spec.max_nodes, 2);
  EXPECT_THAT(Options(kNoMachines, Task("0")).remarks, IsEmpty());
  EXPECT_EQ(Options("nnodes: 1:1\n", Task("0")).spec.max_nodes, 2);
}

TEST(FileAndClusterTest, PodsOutweighAFileForOne) {
  const RunOptions options = Options(kOneMachine, Pod("1"));
  EXPECT_EQ(options.spec.max_nodes, 2);
  EXPECT_EQ(options.endpoints.size(), 1u);
  EXPECT_EQ(options.hosting, Hosting::kNever);
  EXPECT_THAT(options.remarks,
              Contains(AllOf(HasSubstr("f:3: num_machines=1: no effect"),
                             HasSubstr("MUSTER_NODES=2"))));
  EXPECT_EQ(Options(kNoMachines, Pod("0")).spec.max_nodes, 2);
}

TEST(FileAndClusterTest, HostsOutweighAFileForOne) {
  const RunOptions options = Options(kOneMachine, {}, {"--hostfile=h"});
  EXPECT_EQ(options.remote.given.count("nnodes"), 0u) << "every host";
  EXPECT_THAT(options.remarks,
              ElementsAre(AllOf(HasSubstr("f:3: num_machines=1: no effect"),
                                HasSubstr("--hostfile=h"))));
  // This configuration file names the host file itself. So its nnodes means
  // hosts of that host file, and keeps its effect.
  EXPECT_EQ(Options("hostfile: h\nnnodes: 1\n", {}).remote.given.at("nnodes"),
            "1");
}

TEST(FileAndClusterTest, AFilesRankIsNotEveryNodes) {
  for (const char* const task : {"0", "1"}) {
    const RunOptions options = Options(kTwoMachines, Task(task));
    EXPECT_FALSE(options.node_rank.has_value());
    EXPECT_EQ(options.endpoints.front().host, "n1");
    EXPECT_EQ(options.hosting,
              task == std::string("0") ? Hosting::kAlways : Hosting::kNever);
    EXPECT_THAT(
        options.remarks,
        ElementsAre(AllOf(HasSubstr("f:2: machine_rank=0, "
                                    "f:5: main_process_ip=10.0.0.1: no effect"),
                          HasSubstr("SLURM_STEP_NUM_TASKS=2"))));
  }
  const RunOptions pod = Options(kTwoMachines, Pod("1"));
  EXPECT_FALSE(pod.node_rank.has_value());
  EXPECT_EQ(pod.hosting, Hosting::kNever);
  // This pod's environment lacks MUSTER_NODES, so the file gives the number of
  // pods. Even then the file's node rank has no effect.
  Environment unnumbered = Pod("1");
  unnumbered.erase("MUSTER_NODES");
  EXPECT_FALSE(Options(kTwoMachines, unnumbered).node_rank.has_value());
  const RunOptions hosts = Options(kTwoMachines, {}, {"--hostfile=h"});
  EXPECT_EQ(hosts.remote.given.count("node-rank"), 0u);
  EXPECT_EQ(hosts.remote.given.count("master-addr"), 0u);
  EXPECT_EQ(hosts.spec.max_nodes, 2);
  const RunOptions own = Options("hostfile: h\nnode-rank: 1\n", {});
  EXPECT_EQ(own.remote.given.count("node-rank"), 0u);
}

TEST(FileAndClusterTest, AFilesSlurmIsDoneOnceTheStepIsThere) {
  EXPECT_EQ(Options("slurm: true\n", Task("1")).remote.start,
            RemoteStart::kNone);
  const Environment batch = {{"SLURM_JOB_ID", "41"},
                             {"SLURM_JOB_NODELIST", "n[1-2]"},
                             {"SLURM_PROCID", "0"}};
  EXPECT_EQ(Options("slurm: true\n", batch).remote.start, RemoteStart::kSlurm);
  EXPECT_EQ(Options("slurm: true\nnnodes: 1\n", batch).remote.start,
            RemoteStart::kSlurm);
}

TEST(FileAndClusterTest, InstructLabsDefaultsAreOfOneNode) {
  const RunOptions options = Options(kInstructLab, Task("1"));
  EXPECT_EQ(options.spec.max_nodes, 2);
  EXPECT_FALSE(options.node_rank.has_value());
  EXPECT_EQ(options.endpoints.front().host, "n1");
}

TEST(FileAndClusterTest, TheCommandLineTakesPrecedence) {
  const RunOptions one = Options(kOneMachine, Task("1"), {"--nnodes=1"});
  EXPECT_EQ(one.spec.max_nodes, 1);
  EXPECT_THAT(one.remarks, IsEmpty());
  const RunOptions ranked = Options(kTwoMachines, Task("1"), {"--node-rank=1"});
  EXPECT_EQ(ranked.node_rank, 1);
  EXPECT_EQ(ranked.master.host, "10.0.0.1");
  EXPECT_THAT(ranked.remarks, IsEmpty());
  const RunOptions there =
      Options(kTwoMachines, Task("1"), {"--master-addr=n7"});
  EXPECT_EQ(there.master.host, "n7");
  EXPECT_EQ(there.node_rank, 1) << "SLURM_PROCID";
}

TEST(FileAndClusterTest, AFileHoldsForASingleNode) {
  const RunOptions two = Options(kTwoMachines, {});
  EXPECT_EQ(two.node_rank, 0);
  EXPECT_EQ(two.master.host, "10.0.0.1");
  const RunOptions one = Options(kOneMachine, {});
  EXPECT_EQ(one.spec.max_nodes, 1);
  EXPECT_THAT(one.remarks, IsEmpty());
  // The Slurm job has one node, and the file says two machines: two such Slurm
  // jobs may form one training job. So the file's node rank keeps its effect.
  Environment single = Task("0");
  single["SLURM_STEP_NUM_TASKS"] = "1";
  EXPECT_EQ(Options(kTwoMachines, single).node_rank, 0);
  EXPECT_EQ(Options(kTwoMachines, single).master.host, "10.0.0.1");
  EXPECT_THAT(Options(kOneMachine, single).remarks, IsEmpty());
}

TEST(FileAndClusterTest, AFilesOneDoesNotLeaveABatchScriptsOtherNodesIdle) {
  Environment batch = Task("0");
  for (const char* name :
       {"SLURM_STEP_ID", "SLURM_STEP_NODELIST", "SLURM_STEP_NUM_TASKS"}) {
    batch.erase(name);
  }
  for (const char* const text : {kOneMachine, kInstructLab}) {
    EXPECT_THAT(std::string(Parse(text, batch, {}).status().message()),
                AllOf(HasSubstr("batch script of a job of 2 nodes"),
                      HasSubstr("=1 is of a file")));
  }
  EXPECT_EQ(Options(kOneMachine, batch, {"--nnodes=1"}).spec.max_nodes, 1);
  EXPECT_EQ(Options(kOneMachine, batch, {"--slurm"}).remote.start,
            RemoteStart::kSlurm);
}

}  // namespace
}  // namespace muster::launcher
