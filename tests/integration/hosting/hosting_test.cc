// Tests of jobs whose coordinator runs on one of their own nodes.
#include <dirent.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "base/testing/free_port.h"
#include "rendezvous/testing/loopback.h"
#include "tests/integration/harness/cluster.h"
#include "tests/integration/harness/subprocess.h"

namespace muster {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::StartsWith;
using Program = std::unique_ptr<Subprocess>;

constexpr char kAgent[] = "launcher/agent";

bool HasIpv6() {
  const int probe = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (probe < 0) return false;
  sockaddr_in6 address = {};
  address.sin6_family = AF_INET6;
  address.sin6_addr = in6addr_loopback;
  const int bound =
      bind(probe, reinterpret_cast<sockaddr*>(&address), sizeof(address));
  close(probe);
  return bound == 0;
}

std::string TestFolder() {
  std::string pattern = ::testing::TempDir() + "/hosting.XXXXXX";
  EXPECT_NE(mkdtemp(pattern.data()), nullptr);
  return pattern;
}

bool IsEmpty(const std::string& folder) {
  DIR* dir = opendir(folder.c_str());
  if (dir == nullptr) return true;
  int entries = 0;
  while (readdir(dir) != nullptr) ++entries;
  closedir(dir);
  return entries == 2;
}

Program Launch(std::vector<std::string> words,
               std::map<std::string, std::string> environment = {}) {
  words.insert(words.begin(), kLaunch);
  return std::make_unique<Subprocess>(std::move(words), std::move(environment));
}

class Hosting : public ::testing::Test {
 protected:
  Program Node(std::vector<std::string> flags, std::vector<std::string> deed,
               std::map<std::string, std::string> environment = {}) {
    flags.push_back("--rdzv-endpoint=" + endpoint_);
    flags = WithMixedNodes(std::move(flags));
    flags.insert(flags.end(), kWorker);
    flags.insert(flags.end(), deed.begin(), deed.end());
    return Launch(std::move(flags), std::move(environment));
  }

  Program Ask(std::vector<std::string> words) {
    words.push_back("--endpoint=" + endpoint_);
    return Launch(std::move(words));
  }

  std::string endpoint_ = "127.0.0.1:" + std::to_string(FreePort());
};

TEST_F(Hosting, TheFirstAgentOfAMachineHostsAndTheOthersConnect) {
  Program first = Node({"--nnodes=2", "--nproc-per-node=2"}, {});
  ASSERT_TRUE(first->Printed("1 of 2 nodes")) << first->Output();
  Program second = Node({"--nnodes=2", "--nproc-per-node=2"}, {});
  EXPECT_EQ(first->ExitCode(), 0) << first->Output();
  EXPECT_EQ(second->ExitCode(), 0) << second->Output();
  EXPECT_EQ(first->Lines("world=4").size(), 2u) << first->Output();
  EXPECT_EQ(second->Lines("world=4").size(), 2u) << second->Output();
}

TEST_F(Hosting, OfAgentsStartedTogetherExactlyOneHosts) {
  std::vector<Program> nodes(4);
  for (Program& node : nodes) node = Node({"--nnodes=4"}, {});
  for (Program& node : nodes) {
    EXPECT_EQ(node->ExitCode(), 0) << node->Output();
    EXPECT_EQ(node->Lines("world=4").size(), 1u) << node->Output();
  }
}

// A socket of another program is bound to the coordinator's port but does not
// listen. The node that hosts the coordinator must retry until the port is
// free.
TEST_F(Hosting, ATakenPortWithoutListenerIsTriedAgain) {
  HeldPort held = HoldPort();
  endpoint_ = "127.0.0.1:" + std::to_string(held.port);
  Program first = Node({"--nnodes=2"}, {});
  ASSERT_TRUE(first->Printed("no program listens there")) << first->Output();
  held.holder.Close();
  ASSERT_TRUE(first->Printed("1 of 2 nodes")) << first->Output();
  Program second = Node({"--nnodes=2"}, {});
  EXPECT_EQ(first->ExitCode(), 0) << first->Output();
  EXPECT_EQ(second->ExitCode(), 0) << second->Output();
}

TEST_F(Hosting, HostsOverIpv6) {
  if (!HasIpv6()) GTEST_SKIP() << "::1 cannot be bound here";
  endpoint_ = "[::1]:" + std::to_string(FreePort());
  Program first = Node({"--nnodes=2"}, {});
  Program second = Node({"--nnodes=2"}, {});
  EXPECT_EQ(first->ExitCode(), 0) << first->Output();
  EXPECT_EQ(second->ExitCode(), 0) << second->Output();
  EXPECT_THAT(first->Output(), HasSubstr("master=::1:")) << "an IP stays one";
}

TEST_F(Hosting, StaticNodesMeetAtRankZero) {
  const std::string port = "--master-port=" + std::to_string(FreePort());
  Program second = Launch({"--nnodes=2", "--node-rank=1", port, kWorker});
  Program first = Launch({"--nnodes=2", "--node_rank=0", port, kWorker});
  EXPECT_EQ(first->ExitCode(), 0) << first->Output();
  EXPECT_EQ(second->ExitCode(), 0) << second->Output();
  EXPECT_EQ(first->Lines("rank=0 ").size(), 1u) << first->Output();
  EXPECT_EQ(second->Lines("rank=1 ").size(), 1u) << second->Output();
}

TEST_F(Hosting, APortInUseIsAnErrorOfOneLine) {
  int port = 0;
  const int holder = rendezvous::ListenOnLoopback(&port);
  Program node = Launch({"--nnodes=2", "--node-rank=0",
                         "--master-port=" + std::to_string(port), kWorker});
  EXPECT_EQ(node->ExitCode(), 1);
  EXPECT_THAT(node->Output(), HasSubstr("port in use"));
  EXPECT_EQ(node->Lines("").size(), 1u) << node->Output();
  close(holder);
}

TEST_F(Hosting, AStoresPortInUseBlamesNoRank) {
  for (const std::string flag : {"--master-port", "--store-port"}) {
    int port = 0;
    const int holder = rendezvous::ListenOnLoopback(&port);
    const std::string number = std::to_string(port);
    Program node = Launch(
        {"--standalone", "--nproc-per-node=2", flag + "=" + number, kWorker});
    EXPECT_EQ(node->ExitCode(), 1) << node->Output();
    const std::string output = node->Output();
    EXPECT_THAT(node->Lines("port " + number + " is taken on "), SizeIs(1))
        << output;
    EXPECT_THAT(output, HasSubstr("choose another with " + flag));
    EXPECT_THAT(output, Not(HasSubstr("rank 0 (")));
    EXPECT_THAT(output, Not(HasSubstr("ROOT CAUSE")));
    EXPECT_THAT(output, Not(HasSubstr("pid 0")));
    close(holder);
  }
}

TEST_F(Hosting, AnotherRunIdIsAnErrorOfOneLine) {
  Program first = Node({"--nnodes=2", "--rdzv-id=a"}, {});
  ASSERT_TRUE(first->Printed("1 of 2 nodes")) << first->Output();
  Program stranger = Node({"--nnodes=2", "--rdzv-id=b"}, {});
  EXPECT_EQ(stranger->ExitCode(), 1);
  EXPECT_THAT(stranger->Output(), HasSubstr("belongs to job \"a\""));
  EXPECT_EQ(stranger->Lines("").size(), 1u) << stranger->Output();
  // The refused node must not have disturbed job "a", which still gets its
  // second node.
  Program second = Node({"--nnodes=2", "--rdzv-id=a"}, {});
  EXPECT_EQ(first->ExitCode(), 0) << first->Output();
  EXPECT_EQ(second->ExitCode(), 0) << second->Output();
}

TEST_F(Hosting, ADrainedHostKeepsHosting) {
  const std::vector<std::string> flags = {"--nnodes=1:2", "--rdzv-id=j",
                                          "--rdzv-conf=last_call_timeout=60"};
  std::vector<std::string> host_flags = flags;
  host_flags.emplace_back("--node-id=host");
  Program host = Node(host_flags, {"forever"});
  ASSERT_TRUE(host->Printed("waiting")) << host->Output();
  Program other = Node(flags, {"forever"});
  ASSERT_TRUE(host->Printed("up rank=")) << host->Output();
  ASSERT_TRUE(other->Printed("up rank=")) << other->Output();

  EXPECT_EQ(Ask({"drain", "host"})->ExitCode(), 0);
  ASSERT_TRUE(other->Printed("round=2 world=1")) << other->Output();
  Program watch = Ask({"watch", "j"});
  ASSERT_TRUE(watch->Printed("job j: running")) << watch->Output();
  Program status = Ask({"status", "j"});
  EXPECT_EQ(status->ExitCode(), 0) << status->Output();
  EXPECT_EQ(Ask({"cancel"})->ExitCode(), 0);
  EXPECT_EQ(other->ExitCode(), 143) << other->Output();
  EXPECT_EQ(host->ExitCode(), 0) << host->Output();
  EXPECT_EQ(watch->ExitCode(), 0) << watch->Output();
}

TEST_F(Hosting, AWatcherSeesTheEnd) {
  Program node = Node({"--nnodes=1", "--rdzv-id=j"}, {"forever"});
  ASSERT_TRUE(node->Printed("up rank=")) << node->Output();
  Program watch = Ask({"watch"});
  ASSERT_TRUE(watch->Printed("job j: running")) << watch->Output();
  node->Signal(SIGTERM);
  EXPECT_EQ(node->ExitCode(), 143) << node->Output();
  EXPECT_EQ(watch->ExitCode(), 0) << watch->Output();
}

TEST_F(Hosting, AHangingNodeDoesNotDelayItsHost) {
  const std::vector<std::string> flags = {
      "--nnodes=1:2",
      "--rdzv-conf=last_call_timeout=60,close_timeout=0.3,"
      "keep_alive_interval=0.2,keep_alive_max_attempt=25"};
  Program host = Node(flags, {"succeed-in", "2"});
  ASSERT_TRUE(host->Printed("waiting")) << host->Output();
  Program other = Node(flags, {"forever"});
  ASSERT_TRUE(host->Printed("round=1 world=2")) << host->Output();
  other->Signal(SIGSTOP);
  EXPECT_EQ(host->ExitCode(), 0) << host->Output();
  EXPECT_THAT(host->Output(), HasSubstr("round=2 world=1"));
  EXPECT_THAT(host->Output(),
              HasSubstr("some nodes did not take the verdict within 0.3 s"));
  other->Signal(SIGKILL);
  other->Signal(SIGCONT);
}

TEST_F(Hosting, IsHostForbidsHosting) {
  Program node = Node(
      {"--nnodes=2", "--rdzv-conf=is_host=0", "--connect-timeout=0.3"}, {});
  EXPECT_EQ(node->ExitCode(), 1) << node->Output();
  EXPECT_THAT(node->Output(), HasSubstr("no answer from the coordinator"));
}

TEST_F(Hosting, TheAgentsProgramJoinsALaunch) {
  Program host = Node({"--nnodes=2", "--rdzv-id=j"}, {});
  Subprocess agent({kAgent, "--nnodes=2", "--rdzv-id=j", kWorker},
                   {{"MUSTER_COORDINATOR", endpoint_}});
  EXPECT_EQ(host->ExitCode(), 0) << host->Output();
  EXPECT_EQ(agent.ExitCode(), 0) << agent.Output();
  EXPECT_EQ(agent.Lines("up rank=").size(), 1u) << agent.Output();
}

TEST_F(Hosting, WithoutTheTokenNoNodeJoins) {
  const std::map<std::string, std::string> token = {{"MUSTER_TOKEN", "secret"}};
  Program host = Node({"--nnodes=2"}, {}, token);
  ASSERT_TRUE(host->Printed("1 of 2 nodes")) << host->Output();
  Program stranger = Node({"--nnodes=2"}, {}, {{"MUSTER_TOKEN", "guess"}});
  EXPECT_EQ(stranger->ExitCode(), 1);
  EXPECT_THAT(stranger->Output(),
              HasSubstr("has another token than this process"));
  Program friendly = Node({"--nnodes=2"}, {}, token);
  EXPECT_EQ(friendly->ExitCode(), 0) << friendly->Output();
  EXPECT_EQ(host->ExitCode(), 0) << host->Output();
}

TEST_F(Hosting, DecisionsAreWrittenToTheLogFolder) {
  const std::string folder = TestFolder();
  Program node = Launch({"--rdzv-id=j", "--log-dir=" + folder, kWorker});
  EXPECT_EQ(node->ExitCode(), 0) << node->Output();
  std::ifstream file(folder + "/latest/events.jsonl");
  std::ostringstream events;
  events << file.rdbuf();
  for (const char* kind : {"join", "assign", "finish"}) {
    EXPECT_THAT(events.str(),
                HasSubstr(std::string("\"kind\":\"") + kind + "\""));
  }
}

// Two nodes share a file system and have no --rdzv-id. In each run they must
// share one new log folder.
TEST_F(Hosting, TheNodesOfEachRunShareAFreshLogFolder) {
  namespace fs = std::filesystem;
  const std::string folder = TestFolder();
  std::vector<std::string> latest;
  for (int run = 0; run < 2; ++run) {
    Program first = Node({"--nnodes=2", "--log-dir=" + folder}, {});
    ASSERT_TRUE(first->Printed("1 of 2 nodes")) << first->Output();
    Program second = Node({"--nnodes=2", "--log-dir=" + folder}, {});
    EXPECT_EQ(first->ExitCode(), 0) << first->Output();
    EXPECT_EQ(second->ExitCode(), 0) << second->Output();
    latest.push_back(fs::read_symlink(folder + "/latest"));
  }
  EXPECT_NE(latest[0], latest[1]);
  for (const std::string& name : latest) {
    EXPECT_THAT(name, StartsWith("none_"));
    for (const char* rank : {"0", "1"}) {
      const std::string log =
          folder + "/" + name + "/attempt_0/" + rank + "/stdout.log";
      std::ifstream file(log);
      std::ostringstream text;
      text << file.rdbuf();
      EXPECT_THAT(text.str(), HasSubstr("world=2")) << log;
    }
    EXPECT_TRUE(fs::exists(folder + "/" + name + "/events.jsonl"));
  }
  EXPECT_EQ(std::distance(fs::directory_iterator(folder), {}), 3)
      << "two runs and a link";
}

TEST_F(Hosting, ASuccessLeavesNoTemporaryFiles) {
  const std::string folder = TestFolder();
  const std::map<std::string, std::string> here = {{"TMPDIR", folder}};
  Program good = Launch({"--standalone", kWorker}, here);
  EXPECT_EQ(good->ExitCode(), 0) << good->Output();
  EXPECT_TRUE(IsEmpty(folder));

  Program bad = Launch({"--standalone", kWorker, "exit", "3", "0"}, here);
  EXPECT_EQ(bad->ExitCode(), 3) << bad->Output();
  EXPECT_THAT(bad->Output(),
              HasSubstr("log and error files are in " + folder + "/muster_"));
  EXPECT_FALSE(IsEmpty(folder));
}

TEST_F(Hosting, QuietPrintsNothingAfterSuccess) {
  Program node = Launch({"--standalone", "--quiet", kWorker});
  EXPECT_EQ(node->ExitCode(), 0) << node->Output();
  EXPECT_EQ(node->Lines("").size(), 1u) << node->Output();
  Program bad = Launch({"--standalone", "--quiet", kWorker, "exit", "3", "0"});
  EXPECT_EQ(bad->ExitCode(), 3);
  EXPECT_THAT(bad->Output(), HasSubstr("FAILED"));
}

TEST_F(Hosting, NoticesArePrintedOnce) {
  Program node =
      Launch({"--standalone", "--start-method=fork",
              "--event-log-handler=console", kWorker, "exit-until", "1", "2"});
  node->ExitCode();
  for (const char* flag : {"--start-method has no effect",
                           "--event-log-handler=console has no "
                           "effect"}) {
    EXPECT_EQ(node->Lines(flag).size(), 1u) << node->Output();
  }
}

// Two users start different commands on the same port, both without a run id.
// The second user's node must not join the first user's job: it is refused,
// because its command differs.
TEST_F(Hosting, ANodeWithAnotherCommandIsRejected) {
  const std::vector<std::string> meeting = {"--nnodes=1", "--rdzv-backend=c10d",
                                            "--rdzv-endpoint=" + endpoint_};
  std::vector<std::string> one = meeting;
  one.insert(one.end(), {kWorker, "forever", "--lr=3"});
  std::vector<std::string> two = meeting;
  two.insert(two.end(), {"--no-python", "sh", "-c", "echo hi; exit 3"});
  Program job = Launch(one);
  ASSERT_TRUE(job->Printed("up rank=0")) << job->Output();
  Program stranger = Launch(two);
  EXPECT_EQ(stranger->ExitCode(), 1);
  EXPECT_THAT(stranger->Output(), HasSubstr("forever --lr=3"));
  EXPECT_THAT(stranger->Output(), HasSubstr("sh -c 'echo hi; exit 3'"));
  EXPECT_THAT(stranger->Output(), HasSubstr("mixed_nodes=1"));
  EXPECT_THAT(stranger->Output(), HasSubstr("--rdzv-endpoint of its own"));
  EXPECT_EQ(stranger->Lines("").size(), 1u) << stranger->Output();
  // The refused node must not have disturbed the job, which runs until SIGTERM.
  job->Signal(SIGTERM);
  EXPECT_EQ(job->ExitCode(), 143) << job->Output();
}

TEST_F(Hosting, ASpareThatNeverRanPrintsANotice) {
  const std::vector<std::string> flags = {"--nnodes=1", "--rdzv-id=j"};
  Program job = Node(flags, {"catch", "USR1"});
  ASSERT_TRUE(job->Printed("ready rank=0")) << job->Output();
  Program spare = Node(flags, {"catch", "USR1"});
  ASSERT_TRUE(spare->Printed("spare")) << spare->Output();
  Program pod =
      Node(flags, {"catch", "USR1"}, {{"KUBERNETES_SERVICE_HOST", "10.0.0.1"}});
  ASSERT_TRUE(pod->Printed("spare")) << pod->Output();
  kill(WorkerPids(*job, 1).at(0), SIGUSR1);
  EXPECT_EQ(job->ExitCode(), 0) << job->Output();
  EXPECT_EQ(spare->ExitCode(), 69);
  EXPECT_EQ(pod->ExitCode(), 0);
  for (const Program* one : {&spare, &pod}) {
    const std::string output = (*one)->Output();
    EXPECT_THAT(output, HasSubstr("its program never ran"));
    EXPECT_THAT(output, ::testing::Not(HasSubstr("SUCCEEDED")));
  }
}

// A pod of job "b" looks for its coordinator at a host name that may still
// resolve to a pod of the earlier job "a". So it finds the coordinator of job
// "a", and must retry until it finds its own.
TEST_F(Hosting, AnotherJobsCoordinatorIsAskedAgainInAPod) {
  const std::pair<std::vector<std::string>, std::string> cases[] = {
      {{"--nnodes=1:2", "--rdzv-conf=last_call_timeout=0"},
       "belongs to job \"a\""},
      // In this case job "a" has a single node. Its coordinator then creates a
      // token, and refuses the pod because the pod does not have the token.
      {{"--nnodes=1"}, "asks for a job token"},
  };
  for (const auto& [flags, why] : cases) {
    std::vector<std::string> of_a = flags;
    of_a.emplace_back("--rdzv-id=a");
    Program before = Node(of_a, {"forever"});
    ASSERT_TRUE(before->Printed("up rank=0")) << before->Output();
    Program pod = Node({"--nnodes=2", "--rdzv-id=b", "--rdzv-conf=is_host=0"},
                       {}, {{"KUBERNETES_SERVICE_HOST", "10.0.0.1"}});
    ASSERT_TRUE(pod->Printed("asking again for")) << pod->Output();
    EXPECT_THAT(pod->Output(), HasSubstr(why));
    before->Signal(SIGTERM);
    EXPECT_EQ(before->ExitCode(), 143) << before->Output();
    Program first = Node({"--nnodes=2", "--rdzv-id=b"}, {});
    EXPECT_EQ(first->ExitCode(), 0) << first->Output();
    EXPECT_EQ(pod->ExitCode(), 0) << pod->Output();
  }
}

// The replacement of a pod joins while the old pod is still writing its
// checkpoint. The new pod must wait until the old one has ended.
TEST_F(Hosting, AReplacementPodWaitsForTheEndOfTheOldOne) {
  const std::vector<std::string> flags = {"--nnodes=1:2", "--rdzv-id=j",
                                          "--rdzv-conf=last_call_timeout=60"};
  std::vector<std::string> placed = flags;
  placed.emplace_back("--node-id=pod-1");
  Program host = Node(flags, {"forever"});
  ASSERT_TRUE(host->Printed("waiting")) << host->Output();
  Program old = Node(placed, {"forever"});
  ASSERT_TRUE(old->Printed("up rank=")) << old->Output();
  Program next =
      Node(placed, {"forever"}, {{"KUBERNETES_SERVICE_HOST", "10.0.0.1"}});
  ASSERT_TRUE(next->Printed("which is alive; this node takes its place"))
      << next->Output();
  Program status = Ask({"status", "j"});
  EXPECT_EQ(status->ExitCode(), 0);
  EXPECT_THAT(status->Output(), HasSubstr("waits for the end of node"));
  old->Signal(SIGKILL);
  ASSERT_TRUE(next->Printed("up rank=1")) << next->Output();
  EXPECT_EQ(Ask({"cancel"})->ExitCode(), 0);
  EXPECT_EQ(next->ExitCode(), 143) << next->Output();
}

}  // namespace
}  // namespace muster
