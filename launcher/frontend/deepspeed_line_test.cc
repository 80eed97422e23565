#include "launcher/frontend/deepspeed_line.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::launcher {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::Pair;

using Args = std::vector<std::string>;
using Hosts = std::optional<std::vector<Host>>;

const Hosts kTwo = std::vector<Host>{
    {.name = "a", .user = "", .slots = 4, .chosen_slots = {}},
    {.name = "b", .user = "", .slots = 2, .chosen_slots = {}}};

absl::StatusOr<OwnLine> Translate(const Args& args,
                                  const Hosts& hosts = std::nullopt) {
  const absl::StatusOr<CommandLine> line =
      ParseCommandLine(DeepSpeedFlags(), args);
  EXPECT_TRUE(line.ok()) << line.status();
  return OwnLineOfDeepSpeed(*line, hosts);
}

OwnLine Of(const Args& args, const Hosts& hosts = std::nullopt) {
  absl::StatusOr<OwnLine> line = Translate(args, hosts);
  EXPECT_TRUE(line.ok()) << line.status();
  return line.ok() ? *std::move(line) : OwnLine();
}

std::string Refused(const Args& args, const Hosts& hosts = std::nullopt) {
  return std::string(Translate(args, hosts).status().message());
}

TEST(InDeepSpeedsWordsTest, ErrorsHaveDeepSpeedsFlagNames) {
  const auto said = [](const char* error) {
    return std::string(
        WithDeepSpeedFlagNames(absl::InvalidArgumentError(error)).message());
  };
  EXPECT_EQ(said("--num-gpus=x: is no number"), "--num_gpus=x: is no number");
  EXPECT_EQ(said("--nproc-per-node=9: too many"), "--num_gpus=9: too many");
  EXPECT_EQ(said("--no-ssh-check, --no-ssh, --hostfile=a-b"),
            "--no_ssh_check, --no_ssh, --hostfile=a-b");
}

TEST(OwnLineOfDeepSpeedTest, WithoutHostsTheJobRunsOnThisNode) {
  const OwnLine line = Of({"--num_gpus", "2", "train.py", "--num_gpus", "x"});
  EXPECT_THAT(line.args,
              ElementsAre("--nproc-per-node=2", "--framework-env=deepspeed",
                          "--python", "--local-rank-flag=local_rank",
                          "train.py", "--num_gpus", "x"));
  EXPECT_THAT(line.variables, ElementsAre(Pair("CUDA_VISIBLE_DEVICES", "0,1")));
  EXPECT_THAT(Of({"--num_accelerators=3", "t"}).args,
              Contains("--nproc-per-node=3"));
  EXPECT_THAT(Of({"--num_gpus=-1", "t"}).args,
              Contains("--nproc-per-node=gpu"));
}

TEST(OwnLineOfDeepSpeedTest, WithoutFlagsEveryGpuHasAWorker) {
  const OwnLine line = Of({"t"});
  EXPECT_THAT(line.args, Contains("--nproc-per-node=gpu"));
  EXPECT_THAT(line.variables, IsEmpty());
}

TEST(OwnLineOfDeepSpeedTest, SelectedGpusAreSetForThisNode) {
  const OwnLine line = Of({"-i", "localhost:0,2", "t"});
  EXPECT_THAT(line.args, Contains("--nproc-per-node=2"));
  EXPECT_THAT(line.variables, ElementsAre(Pair("CUDA_VISIBLE_DEVICES", "0,2")));
  EXPECT_THAT(Refused({"-e", "localhost:0", "t"}), HasSubstr("--exclude"));
  EXPECT_THAT(Refused({"-i", "elsewhere", "t"}), HasSubstr("elsewhere"));
}

TEST(OwnLineOfDeepSpeedTest, ProgramFlagsAreTranslated) {
  const OwnLine line =
      Of({"--no_python", "--no_local_rank", "--bind_cores_to_rank",
          "--enable_each_rank_log", "logs", "-q", "t"});
  for (const char* const flag :
       {"--no-python", "--numa-binding=exclusive", "--log-dir=logs",
        "--redirects=3", "--quiet"}) {
    EXPECT_THAT(line.args, Contains(flag));
  }
  EXPECT_THAT(line.args, Not(Contains(HasSubstr("--local-rank-flag"))));
  EXPECT_THAT(line.args, Not(Contains("--python")));
  EXPECT_THAT(Of({"--module", "m"}).args, Contains("--module"));
  EXPECT_THAT(Of({"--log_level", "info", "t"}).args, Not(Contains("--quiet")));
}

TEST(OwnLineOfDeepSpeedTest, SeveralHostsAreStartedOverSsh) {
  const OwnLine line = Of({"-H", "hosts", "--include", "a@b:0", "--ssh_port",
                           "2222", "--master_port", "1234", "t"},
                          kTwo);
  for (const char* const flag : {"--hostfile=hosts", "--include=a@b:0",
                                 "--ssh-args=-p 2222", "--master-port=1234"}) {
    EXPECT_THAT(line.args, Contains(flag));
  }
  const OwnLine first = Of({"--num_nodes=1", "t"}, kTwo);
  EXPECT_THAT(first.args, Contains("--nproc-per-node=4"));
  EXPECT_THAT(first.args, Not(Contains(HasSubstr("--hostfile"))))
      << "a single host is this one";
  EXPECT_THAT(Of({"--num_nodes=1", "--force_multi", "t"}, kTwo).args,
              Contains("--hostfile=/job/hostfile"));
  EXPECT_THAT(Of({"--num_gpus=1", "t"}, kTwo).args,
              Contains("--nproc-per-node=1"));
}

TEST(OwnLineOfDeepSpeedTest, SlurmStartsTheNodes) {
  const OwnLine line = Of({"--launcher", "SLURM", "--num_gpus=2", "t"}, kTwo);
  for (const char* const flag :
       {"--slurm", "--nnodes=2", "--nproc-per-node=2"}) {
    EXPECT_THAT(line.args, Contains(flag));
  }
  EXPECT_THAT(line.args, Not(Contains(HasSubstr("--hostfile"))));
  EXPECT_THAT(
      Of({"--launcher=slurm", "--num_nodes=1", "--num_gpus=1", "t"}, kTwo).args,
      AllOf(Contains("--slurm"), Contains("--nnodes=1")));
  const OwnLine all = Of({"--launcher=slurm", "t"});
  EXPECT_THAT(all.args,
              AllOf(Contains("--slurm"), Not(Contains(HasSubstr("--nnodes"))),
                    Not(Contains(HasSubstr("--nproc-per-node")))));
  EXPECT_THAT(Of({"--launcher=slurm", "--num_nodes=3", "t"}).args,
              Contains("--nnodes=3"));
}

TEST(OwnLineOfDeepSpeedTest, SlurmNeedsEqualSlotsAndNoFilter) {
  Hosts alike = kTwo;
  alike->back().slots = 4;
  EXPECT_THAT(Of({"--launcher=slurm", "t"}, alike).args,
              Contains("--nproc-per-node=4"));
  EXPECT_THAT(Refused({"--launcher=slurm", "t"}, kTwo),
              HasSubstr("--hostfile: b has other slots than a"));
  for (const Hosts& hosts : {kTwo, alike, Hosts()}) {
    EXPECT_THAT(Refused({"--launcher=slurm", "--include=b:1", "t"}, hosts),
                HasSubstr("--include: does not go with --launcher slurm"));
    EXPECT_THAT(Refused({"--launcher=slurm", "--exclude=b", "t"}, hosts),
                HasSubstr("--exclude: does not go with --launcher slurm"));
  }
}

TEST(OwnLineOfDeepSpeedTest, NoSshRunsOneOfSeveralNodes) {
  const OwnLine line =
      Of({"--no_ssh", "--node_rank=1", "--master_addr=10.0.0.1", "t"}, kTwo);
  for (const char* const flag :
       {"--nnodes=2", "--node-rank=1", "--master-addr=10.0.0.1",
        "--nproc-per-node=2"}) {
    EXPECT_THAT(line.args, Contains(flag));
  }
  EXPECT_THAT(Refused({"--no_ssh", "t"}, kTwo), HasSubstr("--node_rank"));
  EXPECT_THAT(Refused({"--no_ssh", "--node_rank=2", "t"}, kTwo),
              HasSubstr("from 0 to 1"));
}

TEST(OwnLineOfDeepSpeedTest, UnsupportedFlagsAreRejected) {
  const Args kCases[] = {
      {"--autotuning=run", "t"}, {"--bind_core_list=0", "t"},
      {"--venv_script=x", "t"},  {"--save_pid", "t"},
      {"--num_nodes=2", "t"},    {"--num_gpus=2", "--include=localhost", "t"},
      {"--num_gpus=many", "t"}};
  for (const Args& args : kCases) {
    const std::string flag = args[0].substr(0, args[0].find('='));
    EXPECT_THAT(Refused(args).substr(0, 5), flag.substr(0, 5)) << flag;
  }
  EXPECT_THAT(Of({"--launcher_args=x", "t"}).remarks,
              ElementsAre(HasSubstr("no effect")));
}

}  // namespace
}  // namespace muster::launcher
