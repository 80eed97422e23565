// Tests of announcements over real gRPC. Also tests that an agent's link tells
// the standby in its process which coordinator to follow.

#include "rendezvous/client/announcer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "rendezvous/client/following_link.h"
#include "rendezvous/client/grpc_link.h"
#include "rendezvous/server/grpc_server.h"
#include "rendezvous/testing/scripted_node.h"

namespace muster::rendezvous {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// A gRPC server with a coordinator that takes part in takeovers.
class Hosted {
 public:
  Hosted(Standby::Kind kind, const std::string& token)
      : coordinator_({.only_run_id = "job",
                      .takeover = Coordinator::Options::Takeover{
                          .kind = kind, .own_endpoint = ""}}) {
    GrpcServer::Options options;
    options.listen = {"127.0.0.1", 0};
    options.tokens = {token};
    auto server = GrpcServer::Start(&coordinator_, options);
    EXPECT_TRUE(server.ok()) << server.status();
    server_ = *std::move(server);
    coordinator_.SetOwnEndpoint(address().ToString());
  }

  Coordinator& coordinator() { return coordinator_; }
  const Endpoint& address() const { return server_->address(); }
  // The endpoint at which this coordinator believes the job's coordinator to
  // be; empty: unknown.
  std::string leader() const {
    const auto elsewhere = coordinator_.WhereElse();
    return elsewhere.has_value() ? elsewhere->endpoint : "";
  }

 private:
  Coordinator coordinator_;
  std::unique_ptr<GrpcServer> server_;
};

std::unique_ptr<ScriptedNode> Node(std::unique_ptr<CoordinatorLink> link,
                                   const Report& first) {
  return std::make_unique<ScriptedNode>(std::move(link), first);
}

std::unique_ptr<GrpcLink> LinkTo(const Endpoint& endpoint,
                                 const std::string& token) {
  return std::make_unique<GrpcLink>(
      GrpcLink::Options{.endpoints = {endpoint}, .token = token});
}

// Returns the report of a node that runs a round of three nodes and has lost
// the coordinator.
Report SurvivorReport(const std::string& host, int rank) {
  Report report = FirstReport("job", host, 3);
  report.phase = NodePhase::kRunning;
  report.round = 1;
  report.place = Place{.round = 1,
                       .epoch = 5,
                       .group_rank = rank,
                       .group_world_size = 3,
                       .first_rank = rank,
                       .world_size = 3,
                       .role_first_rank = rank,
                       .role_world_size = 3,
                       .master_address = "127.0.0.1",
                       .master_port = 29500};
  report.promised_epoch = 5;
  report.electorate = {
      .epoch = 5, .world = {.epoch = 5, .round = 1}, .nodes = 3, .rank = rank};
  return report;
}

class AnnouncerTest : public ::testing::Test {
 protected:
  // Makes `successor_` win the election and take the job over.
  void TakeOver() {
    for (int rank = 0; rank < 2; ++rank) {
      nodes_[rank] =
          Node(LinkTo(successor_.address(), "s3cret"),
               SurvivorReport("node-" + std::string(1, 'b' + rank), rank));
    }
    for (const auto& node : nodes_) {
      const Directive asked = node->WaitUntil([](const Directive& directive) {
        return directive.kind == DirectiveKind::kStandBy && directive.epoch > 0;
      });
      node->Tell([&](Report* r) { r->promised_epoch = asked.epoch; });
    }
    nodes_[0]->WaitFor(DirectiveKind::kRun);
  }

  Hosted founder_{Standby::Kind::kFounder, "s3cret"};
  Hosted successor_{Standby::Kind::kSuccessor, "s3cret"};
  std::unique_ptr<ScriptedNode> nodes_[2];
};

TEST_F(AnnouncerTest, TheConfiguredEndpointLearnsOfTheSuccessor) {
  auto lost =
      Node(LinkTo(founder_.address(), "s3cret"), SurvivorReport("node-d", 2));
  lost->WaitFor(DirectiveKind::kStandBy);
  TakeOver();
  Announcer announcer(&successor_.coordinator(),
                      {.endpoints = {founder_.address(), successor_.address()},
                       .token = "s3cret",
                       .interval = milliseconds(10)});
  EXPECT_EQ(lost->WaitFor(DirectiveKind::kMoved).standbys,
            std::vector<std::string>{successor_.address().ToString()});
  EXPECT_EQ(founder_.leader(), successor_.address().ToString());
}

TEST_F(AnnouncerTest, ANameIsCalledAtEachOfItsAddresses) {
  auto lost =
      Node(LinkTo(founder_.address(), "s3cret"), SurvivorReport("node-d", 2));
  lost->WaitFor(DirectiveKind::kStandBy);
  TakeOver();
  Announcer announcer(
      &successor_.coordinator(),
      {.endpoints = {{"replaced-pod", founder_.address().port}},
       .token = "s3cret",
       .interval = milliseconds(10),
       .look_up = [](const std::string&,
                     int port) -> absl::StatusOr<std::vector<SocketAddress>> {
         // The name "replaced-pod" has two addresses, and nothing listens at
         // the first one.
         return std::vector<SocketAddress>{*NumericAddress("127.0.0.2", port),
                                           *NumericAddress("127.0.0.1", port)};
       }});
  lost->WaitFor(DirectiveKind::kMoved);
  EXPECT_EQ(founder_.leader(), successor_.address().ToString());
}

TEST_F(AnnouncerTest, NodesAtTwoStandbysComeTogether) {
  Hosted* first = &founder_;
  Hosted* second = &successor_;
  if (second->address().ToString() < first->address().ToString()) {
    std::swap(first, second);
  }
  auto stays =
      Node(LinkTo(first->address(), "s3cret"), SurvivorReport("node-b", 0));
  auto goes =
      Node(LinkTo(second->address(), "s3cret"), SurvivorReport("node-c", 1));
  stays->WaitFor(DirectiveKind::kStandBy);
  goes->WaitFor(DirectiveKind::kStandBy);
  // SetStandbys tells the first coordinator the address of the second
  // coordinator, and the first one's announcer then calls this address. In a
  // real process, the agent calls SetStandbys.
  first->coordinator().SetStandbys({second->address().ToString()});
  Announcer announcer(&first->coordinator(), {.endpoints = {first->address()},
                                              .token = "s3cret",
                                              .interval = milliseconds(10)});
  EXPECT_EQ(goes->WaitFor(DirectiveKind::kMoved).standbys,
            std::vector<std::string>{first->address().ToString()});
  EXPECT_EQ(second->leader(), "");
}

TEST_F(AnnouncerTest, ACoordinatorThatLacksAMajorityAsks) {
  // Two coordinators have the same job: `founder_` begins it anew with node-a,
  // while `successor_` takes over its earlier run. Only `founder_` has an
  // announcer. The announcer must ask `successor_` which process coordinates
  // the job; the answer makes `founder_` step down.
  auto fresh = Node(LinkTo(founder_.address(), "s3cret"),
                    FirstReport("job", "node-a", 3));
  fresh->WaitFor(DirectiveKind::kWait);
  TakeOver();
  std::promise<std::string> decided;
  DecisionCursor cursor;
  const auto watch = founder_.coordinator().Watch(
      "job", &cursor,
      [&](const Decision& decision) { decided.set_value(decision.kind); });
  ASSERT_TRUE(watch.ok()) << watch.status();
  Announcer announcer(&founder_.coordinator(),
                      {.endpoints = {successor_.address()},
                       .token = "s3cret",
                       .interval = milliseconds(10)});
  std::future<std::string> kind = decided.get_future();
  ASSERT_EQ(kind.wait_for(seconds(30)), std::future_status::ready);
  EXPECT_EQ(kind.get(), "deposed");
  founder_.coordinator().Unwatch(watch->id);
  fresh->Tell([](Report*) {});
  fresh->WaitFor(DirectiveKind::kMoved);
  EXPECT_EQ(founder_.leader(), successor_.address().ToString());
}

TEST_F(AnnouncerTest, NamesThatHangDelayNoOtherAndAreNotLookedUpEachTime) {
  std::promise<void> ending;
  std::promise<void> repeated;
  std::atomic<int> hanging = 0;
  std::atomic<int> unknown = 0;
  TakeOver();
  {
    Announcer announcer(
        &successor_.coordinator(),
        {.endpoints = {{"hangs", 1},
                       {"also-hangs", 1},
                       {"unknown", 1},
                       founder_.address()},
         .token = "s3cret",
         .interval = milliseconds(10),
         .look_up = [&, ended = ending.get_future().share()](
                        const std::string& host,
                        int) -> absl::StatusOr<std::vector<SocketAddress>> {
           if (host != "unknown") {
             ++hanging;
             ended.wait();
           } else if (++unknown == 5) {
             repeated.set_value();
           }
           return absl::UnavailableError("unknown");
         }});
    repeated.get_future().wait();
    EXPECT_EQ(founder_.leader(), successor_.address().ToString());
    EXPECT_EQ(hanging, 2) << "one look-up for each name";
  }
  ending.set_value();
}

TEST_F(AnnouncerTest, AnnouncementsNeedTheToken) {
  const auto seen = std::make_unique<Hosted>(Standby::Kind::kFounder, "guess");
  auto lost =
      Node(LinkTo(founder_.address(), "s3cret"), SurvivorReport("node-d", 2));
  auto witness =
      Node(LinkTo(seen->address(), "guess"), SurvivorReport("node-d", 2));
  lost->WaitFor(DirectiveKind::kStandBy);
  witness->WaitFor(DirectiveKind::kStandBy);
  Announcer announcer(&successor_.coordinator(),
                      {.endpoints = {founder_.address(), seen->address()},
                       .token = "guess",
                       .interval = milliseconds(10)});
  TakeOver();
  witness->WaitFor(DirectiveKind::kMoved);
  EXPECT_EQ(founder_.leader(), "");
}

TEST_F(AnnouncerTest, AStandbyFollowsTheCoordinatorOfItsAgent) {
  Hosted standby(Standby::Kind::kSuccessor, "s3cret");
  {
    auto own =
        Node(std::make_unique<FollowingLink>(
                 LinkTo(founder_.address(), "s3cret"), &standby.coordinator()),
             FirstReport("job", "node-a", 3));
    own->WaitFor(DirectiveKind::kWait);
    EXPECT_EQ(standby.leader(), founder_.address().ToString());
    own->link().Reconnect(seconds(60), "");
    EXPECT_EQ(standby.leader(), "");
  }
  auto own =
      Node(std::make_unique<FollowingLink>(LinkTo(founder_.address(), "s3cret"),
                                           &standby.coordinator()),
           FirstReport("job", "node-b", 3));
  own->WaitFor(DirectiveKind::kWait);
  EXPECT_EQ(standby.leader(), founder_.address().ToString());
  own->Close();
  EXPECT_EQ(standby.leader(), "");
}

TEST_F(AnnouncerTest, AStandbyDoesNotFollowAnotherStandby) {
  Hosted standby(Standby::Kind::kSuccessor, "s3cret");
  auto own =
      Node(std::make_unique<FollowingLink>(
               LinkTo(successor_.address(), "s3cret"), &standby.coordinator()),
           SurvivorReport("node-b", 0));
  own->WaitFor(DirectiveKind::kStandBy);
  EXPECT_EQ(standby.leader(), "");
}

}  // namespace
}  // namespace muster::rendezvous
