#include "launcher/coordinator_choice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "launcher/options/flag_table.h"

namespace muster::launcher {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

MachineFacts Node1() {
  MachineFacts facts;
  facts.host_name = "node1";
  facts.addresses = {"127.0.0.1", "10.0.0.1", "192.168.7.1", "::1"};
  facts.outward_address = "10.0.0.1";
  return facts;
}

RunOptions Options(std::vector<std::string> args) {
  args.push_back("./x");
  absl::StatusOr<ParsedOptions> parsed =
      ParseRunOptions(FlagsOf(FlagUser::kLaunchOnly), args, {});
  EXPECT_TRUE(parsed.ok()) << parsed.status().message();
  return parsed.ok() ? parsed->options : RunOptions();
}

absl::StatusOr<CoordinatorChoice> Try(const std::vector<std::string>& args,
                                      const std::vector<std::string>& resolved,
                                      const MachineFacts& facts) {
  const RunOptions options = Options(args);
  const absl::StatusOr<Meeting> meeting = DecideMeeting(options, facts);
  if (!meeting.ok()) return meeting.status();
  return ChooseCoordinator(*meeting, options, facts, {resolved});
}

bool IsAlone(const std::vector<std::string>& args) {
  const absl::StatusOr<Meeting> meeting = DecideMeeting(Options(args), Node1());
  EXPECT_TRUE(meeting.ok()) << meeting.status();
  return meeting.ok() && meeting->alone;
}

CoordinatorChoice Choice(const std::vector<std::string>& args,
                         const std::vector<std::string>& resolved,
                         const MachineFacts& facts = Node1()) {
  absl::StatusOr<CoordinatorChoice> choice = Try(args, resolved, facts);
  EXPECT_TRUE(choice.ok()) << choice.status().message();
  return choice.ok() ? *choice : CoordinatorChoice();
}

absl::Status Error(const std::vector<std::string>& args,
                   const std::vector<std::string>& resolved) {
  return Try(args, resolved, Node1()).status();
}

TEST(CoordinatorChoice, OtherNodesTakeOverInAJobOfThreeNodesOrMore) {
  const auto is_taken_over = [](std::vector<std::string> args) {
    args.emplace_back("--rdzv-endpoint=h:1");
    const bool hosted = Choice(args, {"10.0.0.1"}).is_taken_over;
    EXPECT_EQ(Choice(args, {"10.0.0.2"}).is_taken_over, hosted);
    return hosted;
  };
  EXPECT_TRUE(is_taken_over({"--nnodes=3"}));
  EXPECT_TRUE(is_taken_over({"--nnodes=1:3", "--takeover=majority"}));
  EXPECT_FALSE(is_taken_over({"--nnodes=2"}));
  EXPECT_FALSE(is_taken_over({"--nnodes=3", "--takeover=never"}));
  EXPECT_TRUE(is_taken_over({"--nnodes=3", "--state-dir=/s"}));
  EXPECT_FALSE(
      Choice({"--nnodes=3", "--rdzv-endpoint=h:1,g:1"}, {}).is_taken_over);
  EXPECT_TRUE(
      Choice({"--nnodes=3", "--master-addr=h", "--node-rank=1"}, {"10.0.0.2"})
          .is_taken_over);
}

TEST(CoordinatorChoice, SeveralEndpointsOfNodesAreThoseOfTheFirstToHost) {
  const std::vector<std::string> args = {
      "--nnodes=3", "--takeover=majority",
      "--rdzv-endpoint=node1:80,node2:80,node3:80"};
  const CoordinatorChoice first = Choice(args, {"192.168.7.1"});
  EXPECT_EQ(first.place, CoordinatorPlace::kHereIfFree);
  EXPECT_EQ(first.listen.ToString(), "[::]:80");
  EXPECT_EQ(rendezvous::EndpointsText(first.endpoints), "node1:80");
  EXPECT_EQ(rendezvous::EndpointsText(first.others), "node2:80,node3:80");
  EXPECT_TRUE(first.is_taken_over);
  // The name of the first node does not resolve, for example because its pod is
  // gone: the others count.
  for (const std::vector<std::string>& resolved :
       {std::vector<std::string>{"10.0.0.2"}, {}}) {
    MachineFacts facts = Node1();
    facts.host_name = "node2";
    const CoordinatorChoice other = Choice(args, resolved, facts);
    EXPECT_EQ(other.place, CoordinatorPlace::kElsewhere);
    EXPECT_EQ(rendezvous::EndpointsText(other.endpoints), "node1:80");
    EXPECT_EQ(rendezvous::EndpointsText(other.others), "node2:80,node3:80");
    EXPECT_TRUE(other.is_taken_over);
  }
}

TEST(CoordinatorChoice, EndpointsOfNodesHaveOnePort) {
  EXPECT_THAT(
      Error({"--nnodes=3", "--takeover=auto", "--rdzv-endpoint=a:80,b:81"}, {})
          .message(),
      ::testing::HasSubstr("--rdzv-endpoint=a:80,b:81: with --takeover"));
  EXPECT_TRUE(Error({"--nnodes=3", "--rdzv-endpoint=a:80,b:81"}, {}).ok());
  // Without takeovers, nodes do not listen: the endpoints are those of daemons.
  for (const char* flag : {"--takeover=never", "--nnodes=2"}) {
    EXPECT_EQ(Choice({"--nnodes=3", "--takeover=auto",
                      "--rdzv-endpoint=node1:80,b:80", flag},
                     {})
                  .reason,
              "2 endpoints are those of daemons");
  }
}

TEST(CoordinatorChoice, StandaloneMeetsNobody) {
  for (const std::vector<std::string>& args :
       {std::vector<std::string>{"--standalone"},
        {},
        {"--nnodes=1"},
        {"--rdzv-backend=c10d"},
        {"--master-port=1234"},
        {"--rdzv-backend=c10d", "--rdzv-endpoint=localhost:0"},
        {"--standalone", "--rdzv-endpoint=node9:1"}}) {
    EXPECT_TRUE(IsAlone(args));
    const CoordinatorChoice choice = Choice(args, {});
    EXPECT_EQ(choice.place, CoordinatorPlace::kHere);
    EXPECT_EQ(choice.listen.ToString(), "127.0.0.1:0");
    EXPECT_EQ(choice.own_address, "127.0.0.1");
  }
}

TEST(CoordinatorChoice, StandaloneListensAtTheLoopbackAddressThatIsThere) {
  MachineFacts facts = Node1();
  facts.loopback = "::1";
  const auto choice = Try({"--standalone"}, {}, facts);
  ASSERT_TRUE(choice.ok()) << choice.status();
  EXPECT_EQ(choice->listen.ToString(), "[::1]:0");
  EXPECT_EQ(choice->own_address, "::1");
}

TEST(CoordinatorChoice, SingleNodeWithAnEndpointUsesIt) {
  EXPECT_FALSE(IsAlone({"--rdzv-endpoint=node1"}));
  EXPECT_FALSE(IsAlone({"--nnodes=1:2", "--rdzv-backend=c10d"}));
}

TEST(CoordinatorChoice, TheOwnerOfTheAddressHosts) {
  const CoordinatorChoice choice =
      Choice({"--nnodes=2", "--rdzv-endpoint=node1"}, {"192.168.7.1"});
  EXPECT_EQ(choice.place, CoordinatorPlace::kHereIfFree);
  EXPECT_EQ(choice.listen.ToString(), "[::]:29400") << "a name: everywhere";
  EXPECT_EQ(choice.endpoints.front().ToString(), "node1:29400");
  EXPECT_EQ(choice.own_address, "192.168.7.1");
}

TEST(CoordinatorChoice, TheOthersConnect) {
  const CoordinatorChoice choice =
      Choice({"--nnodes=2", "--rdzv-endpoint=node2:80"}, {"10.0.0.2"});
  EXPECT_EQ(choice.place, CoordinatorPlace::kElsewhere);
  EXPECT_EQ(choice.endpoints.front().ToString(), "node2:80");
}

TEST(CoordinatorChoice, DaemonsHostAtSeveralEndpoints) {
  for (const std::vector<std::string>& more :
       {std::vector<std::string>{},
        {"--rdzv-conf=is_host=0"},
        {"--nnodes=1"},
        {"--node-rank=0"},
        {"--rdzv-backend=c10d"},
        {"--rdzv-backend=static", "--master-addr=node1"}}) {
    std::vector<std::string> args = {"--nnodes=2",
                                     "--rdzv-endpoint=node1,node2:80"};
    args.insert(args.end(), more.begin(), more.end());
    // This machine is node1, the host of the first endpoint. It does not host
    // the coordinator, because several endpoints mean that the user runs
    // rendezvousd daemons (separate programs) at these endpoints.
    const CoordinatorChoice choice = Choice(args, {});
    EXPECT_EQ(choice.place, CoordinatorPlace::kElsewhere);
    EXPECT_EQ(rendezvous::EndpointsText(choice.endpoints),
              "node1:29400,node2:80");
    EXPECT_FALSE(IsAlone(args));
  }
}

TEST(CoordinatorChoice, StandaloneIgnoresSeveralEndpointsAsItDoesOne) {
  EXPECT_EQ(Choice({"--standalone", "--rdzv-endpoint=node1,node2"}, {}).place,
            CoordinatorPlace::kHere);
}

TEST(CoordinatorChoice, AnAddressIsBoundAsItIs) {
  EXPECT_EQ(Choice({"--nnodes=2", "--rdzv-endpoint=10.0.0.1"}, {"10.0.0.1"})
                .listen.ToString(),
            "10.0.0.1:29400");
  const CoordinatorChoice v6 =
      Choice({"--nnodes=2", "--rdzv-endpoint=[::1]:7"}, {"::1"});
  EXPECT_EQ(v6.listen.ToString(), "[::1]:7");
  EXPECT_EQ(v6.own_address, "::1");
}

TEST(CoordinatorChoice, AllOfTheLoopbackNetIsOurs) {
  const CoordinatorChoice choice =
      Choice({"--nnodes=2", "--rdzv-endpoint=127.0.0.9"}, {"127.0.0.9"});
  EXPECT_EQ(choice.place, CoordinatorPlace::kHereIfFree);
  EXPECT_EQ(choice.listen.host, "127.0.0.9");
  EXPECT_EQ(choice.own_address, "127.0.0.9");
}

TEST(CoordinatorChoice, LocalhostStaysLocal) {
  const CoordinatorChoice choice =
      Choice({"--nnodes=2", "--rdzv-endpoint=localhost"}, {"127.0.0.1", "::1"});
  EXPECT_EQ(choice.place, CoordinatorPlace::kHereIfFree);
  EXPECT_EQ(choice.listen.ToString(), "127.0.0.1:29400");
  EXPECT_EQ(choice.own_address, "127.0.0.1");
}

// Debian's /etc/hosts gives a machine's own name 127.0.1.1, which its peers
// cannot dial.
TEST(CoordinatorChoice, LoopbackNameIsNotGivenToPeers) {
  const CoordinatorChoice choice =
      Choice({"--nnodes=2", "--rdzv-endpoint=node1"}, {"127.0.1.1"});
  EXPECT_EQ(choice.place, CoordinatorPlace::kHereIfFree);
  EXPECT_EQ(choice.listen.host, "::");
  EXPECT_EQ(choice.own_address, "10.0.0.1");
}

TEST(CoordinatorChoice, WithoutARouteTheFirstRealAddressIsUsed) {
  MachineFacts facts = Node1();
  facts.outward_address = "";
  EXPECT_EQ(
      Choice({"--nnodes=2", "--rdzv-endpoint=node1"}, {"127.0.1.1"}, facts)
          .own_address,
      "10.0.0.1");
  facts.addresses = {"127.0.0.1"};
  EXPECT_EQ(
      Choice({"--nnodes=2", "--rdzv-endpoint=node1"}, {"127.0.1.1"}, facts)
          .own_address,
      "127.0.0.1");
}

TEST(CoordinatorChoice, OurOwnNameIsOursBeforeItResolves) {
  EXPECT_EQ(
      Choice({"--nnodes=2", "--rdzv-endpoint=NODE1.svc.cluster.local"}, {})
          .place,
      CoordinatorPlace::kHereIfFree);
}

TEST(CoordinatorChoice, AnUnknownNameIsUnavailable) {
  const absl::Status status =
      Error({"--nnodes=2", "--rdzv-endpoint=nowhere"}, {});
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("nowhere does not resolve; look at --rdzv-endpoint"));
}

TEST(CoordinatorChoice, IsHostCommandsAndForbids) {
  const std::string here = "--rdzv-endpoint=10.0.0.1";
  const std::string there = "--rdzv-endpoint=10.0.0.2";
  EXPECT_EQ(
      Choice({"--nnodes=2", here, "--rdzv-conf=is_host=0"}, {"10.0.0.1"}).place,
      CoordinatorPlace::kElsewhere);
  const CoordinatorChoice forced =
      Choice({"--nnodes=2", there, "--rdzv-conf=is_host=1"}, {"10.0.0.2"});
  EXPECT_EQ(forced.place, CoordinatorPlace::kHere);
  EXPECT_EQ(forced.listen.host, "::") << "10.0.0.2 cannot be bound here";
  EXPECT_EQ(forced.own_address, "10.0.0.1");
}

TEST(CoordinatorChoice, NodeRankZeroOfAStaticJobHosts) {
  const std::vector<std::string> job = {"--nnodes=2", "--master-addr=10.0.0.9",
                                        "--master-port=7"};
  std::vector<std::string> args = job;
  args.push_back("--node-rank=0");
  CoordinatorChoice choice = Choice(args, {"10.0.0.9"});
  EXPECT_EQ(choice.place, CoordinatorPlace::kHere);
  EXPECT_EQ(choice.endpoints.front().ToString(), "10.0.0.9:7");
  args.back() = "--node-rank=1";
  EXPECT_EQ(Choice(args, {"10.0.0.9"}).place, CoordinatorPlace::kElsewhere);
  args.back() = "--master-addr=10.0.0.1";
  EXPECT_EQ(Choice(args, {"10.0.0.1"}).place, CoordinatorPlace::kHereIfFree)
      << "without a rank: the owner";
}

TEST(CoordinatorChoice, ANodeRankDoesNotHostElsewhere) {
  EXPECT_EQ(Choice({"--nnodes=2", "--node-rank=0", "--rdzv-endpoint=node2"},
                   {"10.0.0.2"})
                .place,
            CoordinatorPlace::kElsewhere);
}

TEST(CoordinatorChoice, C10dWithoutAnEndpointMeetsAtLocalhost) {
  const absl::StatusOr<Meeting> meeting =
      DecideMeeting(Options({"--nnodes=2", "--rdzv-backend=c10d"}), Node1());
  ASSERT_TRUE(meeting.ok()) << meeting.status();
  EXPECT_EQ(meeting->endpoints.front().ToString(), "localhost:29400");
}

TEST(CoordinatorChoice, ContradictingFlagsAreRefused) {
  EXPECT_THAT(std::string(Error({"--standalone", "--nnodes=2"}, {}).message()),
              StartsWith("--standalone: is for one node"));
  EXPECT_THAT(std::string(Error({"--nnodes=1:2"}, {}).message()),
              StartsWith("--nnodes=1:2: a static job has a fixed number"));
  EXPECT_THAT(
      std::string(Error({"--nnodes=2", "--rdzv-endpoint=node1:0"}, {"10.0.0.1"})
                      .message()),
      StartsWith("--rdzv-endpoint: port 0"));
  EXPECT_THAT(
      std::string(Error({"--nnodes=1", "--rdzv-endpoint=a,b:0"}, {}).message()),
      StartsWith("--rdzv-endpoint: port 0"));
  EXPECT_THAT(
      std::string(
          Error({"--nnodes=2", "--rdzv-endpoint=a:1,b:2", "--store-port=2"}, {})
              .message()),
      StartsWith("--store-port=2: is the coordinator's port"));
  EXPECT_THAT(
      std::string(
          Error({"--nnodes=2", "--master-port=0"}, {"127.0.0.1"}).message()),
      StartsWith("--master-port=0: port 0"));
}

}  // namespace
}  // namespace muster::launcher
