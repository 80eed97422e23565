#include "launcher/admin_request.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::launcher {
namespace {

using ::testing::StartsWith;
using Environment = std::map<std::string, std::string>;

AdminRequest Request(const std::vector<std::string>& args,
                     const Environment& environment = {}) {
  const absl::StatusOr<AdminRequest> request =
      ParseAdminRequest(args, environment);
  EXPECT_TRUE(request.ok()) << request.status().message();
  return request.ok() ? *request : AdminRequest();
}

std::string Error(const std::vector<std::string>& args,
                  const Environment& environment = {}) {
  const absl::StatusOr<AdminRequest> request =
      ParseAdminRequest(args, environment);
  return request.ok() ? "" : std::string(request.status().message());
}

TEST(AdminRequest, Verbs) {
  EXPECT_EQ(Request({"status"}).verb, SubcommandId::kStatus);
  EXPECT_EQ(Request({"watch"}).verb, SubcommandId::kWatch);
  EXPECT_EQ(Request({"cancel"}).verb, SubcommandId::kCancel);
  EXPECT_EQ(Request({"drain", "node2"}).verb, SubcommandId::kDrain);
  EXPECT_EQ(Request({"drain", "--help"}).help, AdminHelpAsked::kYes);
}

TEST(AdminRequest, LogsAsksForTheNewestTenLinesOfAllRanks) {
  const AdminRequest request = Request({"logs", "job"});
  EXPECT_EQ(request.verb, SubcommandId::kLogs);
  EXPECT_EQ(request.run_id, "job");
  EXPECT_EQ(request.node, "");
  EXPECT_EQ(request.question, rendezvous::Inquiry());
}

TEST(AdminRequest, LogsReadsItsFlags) {
  const AdminRequest request =
      Request({"logs", "--rank=0-2,8", "--node", "n1", "-f", "-n", "3",
               "--since", "5m", "--grep", "loss|nan"});
  const rendezvous::Inquiry& question = request.question;
  EXPECT_EQ(question.kind, rendezvous::Inquiry::Kind::kLogs);
  EXPECT_EQ(question.ranks, std::vector<int>({0, 1, 2, 8}));
  EXPECT_EQ(request.node, "n1");
  EXPECT_EQ(question.follow, rendezvous::Inquiry::Follow::kYes);
  EXPECT_EQ(question.lines, 3);
  EXPECT_EQ(question.since, std::chrono::minutes(5));
  EXPECT_EQ(question.pattern, "loss|nan");
  EXPECT_EQ(Request({"logs", "--lines=all"}).question.lines, -1);
  EXPECT_EQ(Request({"logs", "--since=90"}).question.lines, -1);
  EXPECT_EQ(Request({"logs", "--since=2h"}).question.since,
            std::chrono::hours(2));
}

TEST(AdminRequest, StacksReadsItsFlags) {
  const AdminRequest request = Request({"stacks", "--rank=3", "--native"});
  EXPECT_EQ(request.verb, SubcommandId::kStacks);
  EXPECT_EQ(request.question.kind, rendezvous::Inquiry::Kind::kStacks);
  EXPECT_EQ(request.question.frames, rendezvous::Inquiry::Frames::kNative);
  EXPECT_EQ(request.question.ranks, std::vector<int>({3}));
}

TEST(AdminRequest, ValuesOfLogsThatCannotBeReadAreNamed) {
  EXPECT_THAT(Error({"logs", "--rank=x"}), StartsWith("--rank=x: is no list"));
  EXPECT_THAT(Error({"logs", "--rank=3-1"}), StartsWith("--rank=3-1: is no"));
  EXPECT_THAT(Error({"logs", "--rank=0-999999"}),
              StartsWith("--rank=0-999999: names more than"));
  EXPECT_THAT(Error({"logs", "--since=5d"}), StartsWith("--since=5d: is no"));
  EXPECT_THAT(Error({"logs", "--grep=("}),
              StartsWith("--grep=(: is no regular expression"));
  EXPECT_THAT(Error({"logs", "--lines=-2"}), StartsWith("--lines=-2: "));
}

TEST(AdminRequest, FlagsOfOtherSubcommandsAreRefused) {
  EXPECT_EQ(Error({"status", "--rank=1"}),
            "status: --rank is a flag of launch logs and stacks only");
  EXPECT_EQ(Error({"stacks", "-f"}),
            "stacks: --follow is a flag of launch logs only");
  EXPECT_EQ(Error({"logs", "--native"}),
            "logs: --native is a flag of launch stacks only");
}

TEST(AdminRequest, TheEndpointIsTheFlagThenTheVariableThenLocal) {
  const Environment set = {{"MUSTER_COORDINATOR", "node2:7"}};
  EXPECT_EQ(Request({"status"}).endpoints.front().ToString(),
            "127.0.0.1:29400");
  EXPECT_EQ(Request({"status"}, set).endpoints.front().ToString(), "node2:7");
  EXPECT_EQ(
      Request({"status", "--endpoint=node1"}, set).endpoints.front().ToString(),
      "node1:29400");
}

TEST(AdminRequest, SeveralEndpointsAreReadInTheirOrder) {
  const Environment set = {{"MUSTER_COORDINATOR", "a:7,b"}};
  EXPECT_EQ(rendezvous::EndpointsText(Request({"status"}, set).endpoints),
            "a:7,b:29400");
  EXPECT_EQ(rendezvous::EndpointsText(
                Request({"cancel", "--endpoint=c,d:1"}, set).endpoints),
            "c:29400,d:1");
  EXPECT_THAT(Error({"status", "--endpoint=a,"}),
              StartsWith("--endpoint=a,: endpoint 2 of 2 is empty"));
}

TEST(AdminRequest, InASlurmJobSlurmKnowsTheEndpoint) {
  const Environment step = {{"SLURM_JOB_ID", "41"}, {"SLURM_STEP_ID", "3"}};
  EXPECT_EQ(Request({"status"}, step).slurm_job, "41");
  EXPECT_EQ(Request({"status"}, step).slurm_step, 3u);
  EXPECT_EQ(Request({"status"}, {{"SLURM_JOB_ID", "41"}}).slurm_step,
            std::nullopt);
  EXPECT_EQ(Request({"status"}).slurm_job, "");
  // --slurm-job works inside and outside of a Slurm job. Inside a Slurm job,
  // the step of this process is ignored, because it does not belong to the job
  // that --slurm-job names.
  for (const Environment& environment : {Environment(), step}) {
    const AdminRequest other =
        Request({"drain", "n1", "--slurm-job=5_3"}, environment);
    EXPECT_EQ(other.slurm_job, "5_3");
    EXPECT_EQ(other.slurm_step, std::nullopt);
  }
  // In a worker, MUSTER_COORDINATOR names the coordinator of the worker's own
  // job. This variable takes precedence over the Slurm job in which the worker
  // runs.
  Environment worker = step;
  worker["MUSTER_COORDINATOR"] = "n1:7";
  EXPECT_EQ(Request({"status"}, worker).slurm_job, "");
  EXPECT_EQ(Request({"status"}, worker).endpoints.front().ToString(), "n1:7");
  EXPECT_EQ(Request({"status", "--endpoint=a:1"}, step).slurm_job, "");
}

TEST(AdminRequest, FlagsBeforeAndAfterTheArgument) {
  for (const std::vector<std::string>& args :
       {std::vector<std::string>{"drain", "--run_id=j", "n1", "--token-file=f"},
        std::vector<std::string>{"drain", "n1", "--run-id", "j", "--token-file",
                                 "f"}}) {
    const AdminRequest request = Request(args);
    EXPECT_EQ(request.node, "n1");
    EXPECT_EQ(request.run_id, "j");
    EXPECT_EQ(request.token_file, "f");
  }
  EXPECT_EQ(Request({"status", "j", "--json"}).format, AdminFormat::kJson);
  EXPECT_EQ(Request({"status", "job7"}).run_id, "job7");
}

TEST(AdminRequest, NodesAreListedFreedAndBanned) {
  EXPECT_EQ(Request({"nodes"}).verb, SubcommandId::kNodes);
  EXPECT_EQ(Request({"nodes", "--json"}).format, AdminFormat::kJson);
  EXPECT_EQ(Request({"nodes", "--free", "h1"}).free, "h1");
  const AdminRequest ban =
      Request({"nodes", "--ban=h2", "--reason=broken fan"});
  EXPECT_EQ(ban.ban, "h2");
  EXPECT_EQ(ban.reason, "broken fan");
  EXPECT_THAT(Error({"nodes", "h1"}), StartsWith("nodes: takes no argument"));
  EXPECT_THAT(Error({"nodes", "--free=a", "--ban=b"}),
              StartsWith("nodes: --free and --ban exclude"));
  EXPECT_THAT(Error({"nodes", "--reason=why"}),
              StartsWith("nodes: --reason is the reason of --ban"));
  EXPECT_THAT(Error({"nodes", "--free="}), StartsWith("--free"));
  EXPECT_THAT(Error({"nodes", "--ban=a", "--reason=" + std::string(201, 'x')}),
              StartsWith("--reason="));
  EXPECT_THAT(Error({"status", "--free=h1"}),
              StartsWith("status: --free is a flag of launch nodes only"));
}

TEST(AdminRequest, Mistakes) {
  EXPECT_THAT(Error({"drain"}), StartsWith("drain: names no node"));
  EXPECT_THAT(Error({"status", "a", "b"}), StartsWith("status: has one"));
  EXPECT_THAT(Error({"status", "--jsn"}), StartsWith("--jsn: unknown flag"));
  EXPECT_THAT(Error({"status", "--endpoint=:9"}),
              StartsWith("--endpoint=:9: "));
  for (const std::string job : {"", "x", "4,5", "7 8"}) {
    EXPECT_THAT(Error({"status", "--slurm-job=" + job}),
                StartsWith("--slurm-job=" + job + ": "));
  }
  EXPECT_THAT(Error({"status"}, {{"SLURM_JOB_ID", "7.x"}}),
              StartsWith("SLURM_JOB_ID=7.x: is no job"));
  EXPECT_THAT(Error({"status"}, {{"MUSTER_COORDINATOR", "a:b"}}),
              StartsWith("MUSTER_COORDINATOR=a:b: "));
}

}  // namespace
}  // namespace muster::launcher
