#include "launcher/options/defaults.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>

#include "launcher/options/flag_table.h"
#include "launcher/options/run_options.h"

namespace muster::launcher {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

absl::StatusOr<ParsedOptions> Parse(
    std::vector<std::string> args, const Defaults& defaults,
    const std::map<std::string, std::string>& environment = {}) {
  return ParseRunOptions(FlagsOf(FlagUser::kLaunchOnly), args, environment,
                         [&](const FlagValues&) { return defaults; });
}

RunOptions Options(std::vector<std::string> args) {
  args.emplace_back("train.py");
  absl::StatusOr<ParsedOptions> parsed = Parse(args, {});
  EXPECT_TRUE(parsed.ok()) << parsed.status().message();
  return parsed.ok() ? parsed->options : RunOptions();
}

std::string Error(const std::string& flag) {
  const auto parsed = Parse({flag, "train.py"}, {});
  return parsed.ok() ? "" : std::string(parsed.status().message());
}

Defaults SaysNodes(const std::string& text) {
  Defaults defaults;
  defaults.flags["nnodes"] = {"SLURM_NNODES", text};
  return defaults;
}

TEST(Defaults, HoldWhereNobodySaidOtherwise) {
  EXPECT_EQ(Parse({"a.py"}, SaysNodes("3"))->options.spec.max_nodes, 3);
  EXPECT_EQ(
      Parse({"--nnodes=2", "a.py"}, SaysNodes("3"))->options.spec.max_nodes, 2);
  EXPECT_EQ(Parse({"a.py"}, SaysNodes("3"), {{"PET_NNODES", "4"}})
                ->options.spec.max_nodes,
            4);
}

// The nodes of a Slurm job may have different numbers of GPUs, but their
// commands must be equal. Therefore the job's command has the name of Slurm's
// variable instead of the number.
TEST(Defaults, SlurmsNumberOfWorkersIsKnownAsSlurms) {
  Defaults slurm;
  slurm.cluster = Cluster::kSlurm;
  slurm.flags["nproc-per-node"] = {"SLURM_GPUS_ON_NODE", "4"};
  const RunOptions options = Parse({"a.py"}, slurm)->options;
  EXPECT_EQ(options.workers_per_node, "4");
  EXPECT_EQ(options.workers_asked, "$SLURM_GPUS_ON_NODE");
  EXPECT_EQ(options.cluster, Cluster::kSlurm);
  EXPECT_EQ(Parse({"--nproc-per-node=4", "a.py"}, slurm)->options.workers_asked,
            "");
}

TEST(Defaults, InvalidDefaultNamesItsOrigin) {
  EXPECT_THAT(
      std::string(Parse({"a.py"}, SaysNodes("three")).status().message()),
      StartsWith("SLURM_NNODES=three: "));
}

TEST(Defaults, AreAskedForOnceTheCommandLineIsKnown) {
  bool asked = false;
  const auto source = [&](const FlagValues& given) -> absl::StatusOr<Defaults> {
    asked = true;
    EXPECT_TRUE(given.IsGiven("rdzv-id"));
    EXPECT_FALSE(given.IsGiven("nnodes"));
    return absl::InvalidArgumentError("job.yaml: line 3: what is that");
  };
  const auto parsed = ParseRunOptions(FlagsOf(FlagUser::kLaunchOnly),
                                      {"--rdzv-id=x", "a.py"}, {}, source);
  EXPECT_TRUE(asked);
  EXPECT_EQ(parsed.status().message(), "job.yaml: line 3: what is that");
}

TEST(Defaults, NameTheProgramOnlyWhereTheCommandLineDoesNot) {
  Defaults defaults;
  defaults.program = {"train.py", "--lr=1"};
  defaults.worker_environment["A"] = "1";
  defaults.remarks = {"something to know"};
  const auto parsed = Parse({}, defaults);
  ASSERT_TRUE(parsed.ok()) << parsed.status().message();
  EXPECT_THAT(parsed->options.program, ElementsAre("train.py", "--lr=1"));
  EXPECT_EQ(parsed->options.worker_environment.at("A"), "1");
  EXPECT_THAT(parsed->options.remarks, ElementsAre("something to know"));
  EXPECT_THAT(Parse({"other.py"}, defaults)->options.program,
              ElementsAre("other.py"));
}

TEST(Defaults, TheFirstOfTwoLayersTakesPrecedence) {
  Defaults file = SaysNodes("2");
  file.program = {"a.py"};
  file.remarks = {"first"};
  file.worker_environment["A"] = "file";
  Defaults cluster = SaysNodes("3");
  cluster.flags["rdzv-id"] = {"SLURM_JOB_ID", "7"};
  cluster.program = {"b.py"};
  cluster.remarks = {"second"};
  cluster.rejoin_timeout = std::chrono::seconds(3);
  cluster.worker_environment = {{"A", "cluster"}, {"B", "cluster"}};
  const Defaults both = Layered(file, cluster);
  EXPECT_EQ(both.flags.at("nnodes").text, "2");
  EXPECT_EQ(both.flags.at("rdzv-id").text, "7");
  EXPECT_THAT(both.program, ElementsAre("a.py"));
  EXPECT_THAT(both.remarks, ElementsAre("first", "second"));
  EXPECT_EQ(both.rejoin_timeout, std::chrono::seconds(3));
  EXPECT_EQ(both.worker_environment.at("A"), "file");
  EXPECT_EQ(both.worker_environment.at("B"), "cluster");
}

TEST(ClusterFlags, LabelsAreKeysWithValues) {
  EXPECT_THAT(Options({"--topology=block=b1, rack=r7"}).topology,
              ElementsAre("block=b1", "rack=r7"));
  for (const char* text : {"r7", "=r7", "rack="}) {
    EXPECT_THAT(Error(std::string("--topology=") + text),
                HasSubstr("is not KEY=VALUE; write"))
        << text;
  }
}

TEST(ClusterFlags, TheClusterIsOneOfThoseKnown) {
  EXPECT_THAT(Error("--cluster=pbs"), StartsWith("--cluster=pbs: "));
  EXPECT_EQ(Error("--cluster=none"), "");
}

TEST(RemoteFlags, AgentsAreStartedElsewhereOnlyIfAsked) {
  EXPECT_EQ(Options({}).remote.start, RemoteStart::kNone);
  EXPECT_EQ(Options({"--slurm"}).remote.start, RemoteStart::kSlurm);
  const RemoteOptions remote =
      Options({"--hostfile=hosts", "--include=a:0,1@b", "--export=A,NCCL_*",
               "--ssh-args=-p 2222", "--ssh-timeout=5"})
          .remote;
  EXPECT_EQ(remote.start, RemoteStart::kHostFile);
  EXPECT_EQ(remote.host_file, "hosts");
  EXPECT_EQ(remote.include, "a:0,1@b");
  EXPECT_THAT(remote.exports, ElementsAre("A", "NCCL_*"));
  EXPECT_EQ(remote.ssh_args, "-p 2222");
  EXPECT_EQ(remote.ssh_timeout, std::chrono::seconds(5));
  EXPECT_THAT(
      std::string(
          Parse({"--slurm", "--hostfile=h", "a.py"}, {}).status().message()),
      HasSubstr("give one of the two"));
}

TEST(RemoteFlags, FlagsOfAHostFileAreRefusedWithoutIt) {
  for (const std::string name :
       {"--include", "--exclude", "--export", "--ssh-args", "--ssh-timeout",
        "--ssh-fan-out"}) {
    EXPECT_THAT(Error(name + "=7"),
                StartsWith(name + ": is for --hostfile, without which"));
    EXPECT_EQ(
        Parse({"--hostfile=h", name + "=7", "a.py"}, {}).status().message(),
        "");
    EXPECT_THAT(
        std::string(
            Parse({"--slurm", name + "=7", "a.py"}, {}).status().message()),
        StartsWith(name + ": is for --hostfile and has no effect on --slurm"));
  }
  const auto file_says = [](const std::map<std::string, FlagDefault>& flags) {
    return std::string(Parse({"a.py"}, {.flags = flags}).status().message());
  };
  EXPECT_EQ(file_says({{"hostfile", {"a.yaml:1: hostfile", "h"}},
                       {"include", {"a.yaml:2: include", "b"}}}),
            "");
  // The message names the flag --export, but not its value "K=hush", which may
  // be a secret.
  EXPECT_THAT(file_says({{"export", {"a.yaml:1: export", "K=hush"}}}),
              AllOf(StartsWith("a.yaml:1: export: is for --hostfile"),
                    Not(HasSubstr("hush"))));
}

TEST(RemoteFlags, AHostHasSomeTimeToAnswer) {
  for (const char* const none : {"0", "0.0001"}) {
    EXPECT_THAT(
        std::string(Parse({"--hostfile=h", std::string("--ssh-timeout=") + none,
                           "a.py"},
                          {})
                        .status()
                        .message()),
        HasSubstr("is no time; write"));
  }
}

TEST(HealthFlags, ChecksAreNamedOrAll) {
  EXPECT_FALSE(Options({}).health.Asked());
  EXPECT_TRUE(Options({"--health-command=true"}).health.Asked());
  EXPECT_THAT(Options({"--health-checks=all"}).health.checks,
              ElementsAre("gpu", "disk", "memory", "shm"));
  EXPECT_THAT(Options({"--health-checks=none"}).health.checks, IsEmpty());
  EXPECT_THAT(Options({"--health-checks=disk,gpu"}).health.checks,
              ElementsAre("disk", "gpu"));
  EXPECT_THAT(Error("--health-checks=fan"),
              HasSubstr("fan is no check; write"));
  EXPECT_THAT(Error("--health-timeout=0"), HasSubstr("is no time; write"));
  EXPECT_THAT(Error("--health-interval=0"), HasSubstr("is no time; write"));
  EXPECT_EQ(
      Options({"--probe-listen=0.0.0.0:8080"}).health.probe_listen->ToString(),
      "0.0.0.0:8080");
}

TEST(PreemptionFlags, TheWorkersSignalIsOneOrNone) {
  const agent::PreemptionOptions given =
      Options({"--signals-to-preempt=USR1,TERM", "--preempt-signal=USR2",
               "--preempt-grace=9", "--on-preempt=save", "--requeue"})
          .preemption;
  EXPECT_THAT(given.signals, ElementsAre(SIGUSR1, SIGTERM));
  EXPECT_EQ(given.worker_signal, SIGUSR2);
  EXPECT_EQ(given.grace, std::chrono::seconds(9));
  EXPECT_EQ(given.command, "save");
  EXPECT_EQ(given.requeue, agent::Requeue::kYes);
  EXPECT_EQ(Options({"--preempt-signal=0"}).preemption.worker_signal, 0);
  EXPECT_EQ(Options({}).preemption.worker_signal, SIGTERM);
  EXPECT_EQ(Options({}).preemption.requeue, agent::Requeue::kNo);
  EXPECT_THAT(Error("--preempt-signal=USR1,USR2"), HasSubstr("is not one"));
  EXPECT_THAT(Error("--signals-to-preempt=TERM,CONT"),
              HasSubstr("SIGCONT announces nothing"));
  EXPECT_THAT(Error("--signals-to-preempt=TERM,INT"),
              HasSubstr("SIGINT is Ctrl-C"));
}

TEST(PreemptionFlags, NoSignalHasTwoMeanings) {
  const auto both = Parse({"--signals-to-preempt=USR1,TERM",
                           "--signals-to-leave=USR2,TERM", "train.py"},
                          {});
  EXPECT_EQ(std::string(both.status().message()),
            "--signals-to-preempt=USR1,TERM: SIGTERM is in --signals-to-leave "
            "as well; write it in one of the two");
  EXPECT_THAT(Options({"--signals-to-preempt=TERM", "--signals-to-leave=USR2"})
                  .preemption.signals,
              ElementsAre(SIGTERM));
}

TEST(WorkerFlags, FrameworkEnvsAreKnown) {
  EXPECT_THAT(
      Options({"--framework-env=tf,mpi"}).framework_envs,
      ElementsAre(agent::FrameworkEnv::kTensorFlow, agent::FrameworkEnv::kMpi));
  EXPECT_THAT(Error("--framework-env=pbs"),
              HasSubstr("'pbs' is no framework environment; write"));
}

TEST(WorkerFlags, EveryBinding) {
  EXPECT_EQ(Options({}).binding, agent::Binding::kNone);
  EXPECT_EQ(Options({"--numa-binding=node"}).binding, agent::Binding::kNode);
  EXPECT_EQ(Options({"--numa-binding=exclusive"}).binding,
            agent::Binding::kExclusive);
  EXPECT_EQ(Options({"--numa-binding=core-complex"}).binding,
            agent::Binding::kCoreComplex);
}

}  // namespace
}  // namespace muster::launcher
