// Tests of GrpcLink with a real coordinator over gRPC.

#include "rendezvous/client/grpc_link.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/testing/free_port.h"
#include "rendezvous/server/coordinator.h"
#include "rendezvous/server/grpc_server.h"
#include "rendezvous/testing/loopback.h"
#include "rendezvous/testing/scripted_node.h"
#include "rendezvous/tls/token_identity.h"

namespace muster::rendezvous {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class GrpcLinkTest : public ::testing::Test {
 protected:
  void Serve(int port = 0, const std::string& token = "",
             GrpcServer::Options options = {}) {
    coordinator_ = std::make_unique<Coordinator>(Coordinator::Options{});
    options.listen = {"127.0.0.1", port};
    if (!token.empty()) options.tokens = {token};
    auto server = GrpcServer::Start(coordinator_.get(), options);
    ASSERT_TRUE(server.ok()) << server.status();
    server_ = *std::move(server);
    endpoint_ = server_->address();
  }
  void ServeNowhere() { endpoint_ = {"127.0.0.1", FreePort()}; }
  void StopServing() {
    server_.reset();
    coordinator_.reset();
  }
  void TearDown() override { StopServing(); }

  std::unique_ptr<ScriptedNode> Node(Report first,
                                     const std::string& token = "") {
    GrpcLink::Options options;
    options.endpoints = first_endpoints_;
    options.endpoints.push_back(endpoint_);
    options.token = token;
    return std::make_unique<ScriptedNode>(
        std::make_unique<GrpcLink>(std::move(options)), std::move(first));
  }

  std::unique_ptr<Coordinator> coordinator_;
  std::unique_ptr<GrpcServer> server_;
  Endpoint endpoint_;
  // Endpoints that nodes try before endpoint_; nothing listens on them.
  std::vector<Endpoint> first_endpoints_;
};

TEST_F(GrpcLinkTest, TwoNodesJoinAndAreGivenTheirPlaces) {
  Serve();
  auto a = Node(FirstReport("job", "node-a", 2));
  auto b = Node(FirstReport("job", "node-b", 2));
  const Directive to_a = a->WaitFor(DirectiveKind::kRun);
  const Directive to_b = b->WaitFor(DirectiveKind::kRun);
  EXPECT_EQ(to_a.place.group_rank, 0);
  EXPECT_EQ(to_b.place.group_rank, 1);
  EXPECT_EQ(to_a.place.group_world_size, 2);
  EXPECT_EQ(to_b.place.master_address, "127.0.0.1");
  EXPECT_EQ(to_b.place.master_port, 29500);
  EXPECT_EQ(a->own_address(), "127.0.0.1");
  EXPECT_EQ(a->peer_address(), "127.0.0.1");
}

TEST_F(GrpcLinkTest, AJobGoesFromJoinToItsVerdict) {
  Serve();
  auto a = Node(FirstReport("job", "node-a", 1));
  const int round = a->WaitFor(DirectiveKind::kRun).place.round;
  a->Tell([&](Report* report) {
    report->phase = NodePhase::kRunning;
    report->round = round;
  });
  a->Tell([](Report* report) { report->phase = NodePhase::kSucceeded; });
  const Directive end = a->WaitFor(DirectiveKind::kFinished);
  EXPECT_EQ(end.verdict.outcome, Outcome::kSucceeded);
  a->Close();
  EXPECT_TRUE(coordinator_->WaitUntilDeserted(std::chrono::seconds(20)));
}

TEST_F(GrpcLinkTest, ACoordinatorThatStartsLateIsReached) {
  ServeNowhere();
  auto a = Node(FirstReport("job", "node-a", 1));
  const std::string refused =
      a->WaitUntilDisconnected(absl::StatusCode::kUnavailable);
  EXPECT_THAT(refused, HasSubstr("connection refused"));
  EXPECT_THAT(refused, HasSubstr(endpoint_.ToString()));
  Serve(endpoint_.port);
  a->WaitFor(DirectiveKind::kRun);
}

TEST_F(GrpcLinkTest, ReconnectsAfterTheCoordinatorWasStartedAnew) {
  Serve(FreePort());
  auto a = Node(FirstReport("job", "node-a", 1));
  const Directive first = a->WaitFor(DirectiveKind::kRun);
  a->Tell([&](Report* report) {
    report->phase = NodePhase::kRunning;
    report->round = first.place.round;
  });
  StopServing();
  a->WaitUntilDisconnected(absl::StatusCode::kUnavailable);
  Serve(endpoint_.port);
  a->WaitUntilConnected(2);
  // The restarted coordinator has another epoch. It does not know the round
  // that node-a runs, so it orders node-a to stop its workers.
  EXPECT_NE(a->WaitFor(DirectiveKind::kStop).epoch, first.epoch);
}

TEST_F(GrpcLinkTest, AWrongOrMissingTokenIsTurnedAway) {
  Serve(0, "s3cret");
  auto right = Node(FirstReport("job", "node-a", 1), "s3cret");
  right->WaitFor(DirectiveKind::kRun);
  auto wrong = Node(FirstReport("other", "node-b", 1), "guess");
  EXPECT_THAT(wrong->WaitUntilDisconnected(absl::StatusCode::kUnauthenticated),
              HasSubstr("has another token than this process"));
  auto none = Node(FirstReport("other", "node-c", 1));
  EXPECT_THAT(none->WaitUntilDisconnected(absl::StatusCode::kUnauthenticated),
              HasSubstr("none was given"));
  EXPECT_EQ(wrong->connections(), 0);
  EXPECT_EQ(none->connections(), 0);
  EXPECT_EQ(coordinator_->ListJobs().size(), 1u);
}

TEST_F(GrpcLinkTest, AWrongTokenAfterARestartIsSaidAndMayBeMended) {
  Serve(FreePort(), "s3cret");
  auto node = Node(FirstReport("job", "node-a", 1), "s3cret");
  node->WaitFor(DirectiveKind::kRun);
  StopServing();
  Serve(endpoint_.port, "another");
  node->WaitUntilDisconnected(absl::StatusCode::kUnavailable,
                              "has another token than this process");
  StopServing();
  Serve(endpoint_.port, "s3cret");
  node->WaitUntilConnected(2);
}

TEST_F(GrpcLinkTest, TokenWithoutTheRoleOrTheJobIsRefused) {
  Serve(0, "s3cret");
  const auto token = [](const TokenGrant& grant) {
    return *DeriveToken("s3cret", grant);
  };
  auto right =
      Node(FirstReport("ada-1", "node-a", 1),
           token({.name = "ada", .roles = {Role::kJoin}, .jobs = {"ada-*"}}));
  right->WaitFor(DirectiveKind::kRun);
  auto viewer = Node(FirstReport("ada-2", "node-b", 1),
                     token({.name = "ada", .roles = {Role::kView}}));
  EXPECT_THAT(
      viewer->WaitUntilDisconnected(absl::StatusCode::kPermissionDenied),
      HasSubstr("ada may not join"));
  auto other =
      Node(FirstReport("bob-1", "node-c", 1),
           token({.name = "ada", .roles = {Role::kJoin}, .jobs = {"ada-*"}}));
  EXPECT_THAT(other->WaitUntilDisconnected(absl::StatusCode::kPermissionDenied),
              HasSubstr("for ada-*"));
  EXPECT_EQ(coordinator_->ListJobs().size(), 1u);
}

TEST_F(GrpcLinkTest, NodesOfOnePrincipalAreBounded) {
  GrpcServer::Options options;
  options.max_nodes_per_principal = 1;
  Serve(0, "s3cret", options);
  const std::string ada =
      *DeriveToken("s3cret", {.name = "ada", .roles = {Role::kJoin}});
  auto first = Node(FirstReport("job-1", "node-a", 1), ada);
  first->WaitFor(DirectiveKind::kRun);
  auto second = Node(FirstReport("job-2", "node-b", 1), ada);
  EXPECT_THAT(
      second->WaitUntilDisconnected(absl::StatusCode::kResourceExhausted),
      HasSubstr("ada has 1 nodes"));
  auto other = Node(FirstReport("job-3", "node-c", 1), "s3cret");
  other->WaitFor(DirectiveKind::kRun);
  first->Close();
  second->WaitFor(DirectiveKind::kRun);
}

TEST_F(GrpcLinkTest, AnotherProtocolVersionIsRefusedWithTheReason) {
  Serve();
  Report report = FirstReport("job", "node-a", 1);
  report.protocol_version = 77;
  auto a = Node(report);
  EXPECT_THAT(a->WaitFor(DirectiveKind::kRefused).reason, HasSubstr("version"));
}

TEST_F(GrpcLinkTest, AReportBeyondBoundsNamesTheField) {
  Serve();
  Report report = FirstReport("job", "node-a", 1);
  report.node.topology.assign(100, "rack");
  auto a = Node(report);
  EXPECT_THAT(a->WaitUntilDisconnected(absl::StatusCode::kFailedPrecondition),
              HasSubstr("node.topology"));
}

TEST_F(GrpcLinkTest, ABrokenStreamIsNoticedAtOnce) {
  Serve();
  Report report = FirstReport("job", "node-a", 2);
  // The keep-alive interval is long, and so is the lease. So the coordinator
  // can learn of the loss of node-b only from the end of node-b's stream.
  report.spec.keep_alive_interval = std::chrono::hours(1);
  report.spec.reconnect_grace = Duration::zero();
  auto a = Node(report);
  report.node.node_id = report.node.host = "node-b";
  auto b = Node(report);
  a->WaitFor(DirectiveKind::kRun);
  b->WaitFor(DirectiveKind::kRun);
  b.reset();
  a->WaitFor(DirectiveKind::kStop);
}

TEST_F(GrpcLinkTest, AKilledAgentsConnectionIsNoticedAtOnce) {
  Serve();
  Report report = FirstReport("job", "node-a", 2);
  report.spec.keep_alive_interval = std::chrono::hours(1);
  report.spec.reconnect_grace = Duration::zero();
  auto a = Node(report);
  std::optional<TcpRelay> relay(std::in_place, endpoint_.port);
  endpoint_.port = relay->port();
  report.node.node_id = report.node.host = "node-b";
  auto b = Node(report);
  a->WaitFor(DirectiveKind::kRun);
  b->WaitFor(DirectiveKind::kRun);
  // End the TCP relay through which node-b is connected, so that its connection
  // breaks and it cannot connect again.
  relay.reset();
  a->WaitFor(DirectiveKind::kStop);
}

TEST_F(GrpcLinkTest, ABrokenConnectionIsMadeAgainAndTheRoundGoesOn) {
  Serve();
  TcpRelay relay(endpoint_.port);
  endpoint_.port = relay.port();
  Report report = FirstReport("job", "node-a", 1);
  report.spec.reconnect_grace = std::chrono::hours(1);
  auto a = Node(report);
  const Directive run = a->WaitFor(DirectiveKind::kRun);
  a->Tell([&](Report* r) {
    r->phase = NodePhase::kRunning;
    r->round = run.place.round;
  });
  relay.Cut();
  a->WaitUntilDisconnected(absl::StatusCode::kUnavailable);
  a->WaitUntilConnected(2);
  // The coordinator sends the same directive again on the new stream, with the
  // same revision.
  const Directive again = a->WaitFor(DirectiveKind::kRun);
  EXPECT_EQ(again.epoch, run.epoch);
  EXPECT_EQ(again.revision, run.revision);
  a->Tell([](Report* r) { r->phase = NodePhase::kSucceeded; });
  EXPECT_EQ(a->WaitFor(DirectiveKind::kFinished).verdict.outcome,
            Outcome::kSucceeded);
}

TEST_F(GrpcLinkTest, SaysWhatWasSentLastBeforeItCloses) {
  Serve();
  auto a = Node(FirstReport("job", "node-a", 2));
  a->WaitFor(DirectiveKind::kWait);
  a->Tell([](Report* report) { report->cancel = CancelWish{2, false}; });
  a->Close();
  const auto status = coordinator_->GetJob("job");
  ASSERT_TRUE(status.ok());
  EXPECT_EQ(status->phase, JobPhase::kFinished);
}

TEST_F(GrpcLinkTest, ANameThatDoesNotResolveIsNamed) {
  endpoint_ = {"no-such-host.invalid", 29400};
  auto a = Node(FirstReport("job", "node-a", 1));
  EXPECT_THAT(a->WaitUntilDisconnected(absl::StatusCode::kUnavailable),
              HasSubstr("no-such-host.invalid"));
}

TEST_F(GrpcLinkTest, AClosedEndpointIsPassedOver) {
  Serve();
  first_endpoints_ = {{"127.0.0.1", FreePort()}};
  auto a = Node(FirstReport("job", "node-a", 1));
  a->WaitFor(DirectiveKind::kRun);
}

TEST_F(GrpcLinkTest, AnEndpointThatDoesNotResolveIsPassedOver) {
  Serve();
  first_endpoints_ = {{"no-such-host.invalid", 29400}};
  auto a = Node(FirstReport("job", "node-a", 1));
  a->WaitFor(DirectiveKind::kRun);
}

TEST_F(GrpcLinkTest, MovesToTheEndpointThatLeadsNext) {
  first_endpoints_ = {{"127.0.0.1", FreePort()}, {"127.0.0.1", FreePort()}};
  Serve();
  auto a = Node(FirstReport("job", "node-a", 1));
  a->WaitFor(DirectiveKind::kRun);
  StopServing();
  const std::string left =
      a->WaitUntilDisconnected(absl::StatusCode::kUnavailable);
  EXPECT_THAT(left, HasSubstr(endpoint_.ToString()));
  Serve(first_endpoints_[1].port);
  a->WaitUntilConnected(2);
  StopServing();
  Serve(first_endpoints_[0].port);
  a->WaitUntilConnected(3);
}

TEST_F(GrpcLinkTest, MovesToAStandbyThatTheCoordinatorHasNamed) {
  Serve();
  auto a = Node(FirstReport("job", "node-a", 1));
  a->WaitFor(DirectiveKind::kRun);
  EXPECT_EQ(a->endpoint(), endpoint_.ToString());
  const int port = FreePort();
  a->link().SetStandbys({"malformed:", "127.0.0.1:" + std::to_string(port)});
  StopServing();
  Serve(port);
  a->WaitUntilConnected(2);
  EXPECT_EQ(a->endpoint(), "127.0.0.1:" + std::to_string(port));
}

TEST_F(GrpcLinkTest, ReconnectsWhereItIsTold) {
  Serve();
  Coordinator other(Coordinator::Options{});
  GrpcServer::Options options;
  options.listen = {"127.0.0.1", 0};
  auto there = GrpcServer::Start(&other, options);
  ASSERT_TRUE(there.ok()) << there.status();
  auto a = Node(FirstReport("job", "node-a", 1));
  a->WaitFor(DirectiveKind::kRun);
  a->link().Reconnect(Duration::zero(), (*there)->address().ToString());
  a->WaitUntilConnected(2);
  EXPECT_EQ(a->endpoint(), (*there)->address().ToString());
  // Reconnect names no endpoint, so the next connection goes to the configured
  // endpoint.
  a->link().Reconnect(Duration::zero(), "");
  a->WaitUntilConnected(3);
  EXPECT_EQ(a->endpoint(), endpoint_.ToString());
  a->Close();
}

TEST_F(GrpcLinkTest, WithoutAnAnswerEveryEndpointHasItsReason) {
  ServeNowhere();
  first_endpoints_ = {{"127.0.0.1", FreePort()}, {"no-such-host.invalid", 7}};
  auto a = Node(FirstReport("job", "node-a", 1));
  const std::string error =
      a->WaitUntilDisconnected(absl::StatusCode::kUnavailable);
  EXPECT_THAT(error, HasSubstr(first_endpoints_[0].ToString() +
                               ": connection refused"));
  EXPECT_THAT(error, HasSubstr("no-such-host.invalid"));
  EXPECT_THAT(error, HasSubstr(endpoint_.ToString() + ": connection refused"));
  EXPECT_THAT(error, Not(HasSubstr("\n")));
}

TEST_F(GrpcLinkTest, ARefusedTokenIsToldWhateverTheOtherEndpoints) {
  Serve(0, "s3cret");
  first_endpoints_ = {{"127.0.0.1", FreePort()}};
  auto wrong = Node(FirstReport("other", "node-b", 1), "guess");
  const std::string error =
      wrong->WaitUntilDisconnected(absl::StatusCode::kUnauthenticated);
  EXPECT_THAT(error, HasSubstr("has another token than this process"));
  EXPECT_THAT(error, Not(HasSubstr(first_endpoints_[0].ToString())));
}

TEST_F(GrpcLinkTest, AnotherProgramAtOneEndpointDoesNotEndTheSearch) {
  ServeNowhere();
  StrangeServer stranger("SSH-2.0-OpenSSH_9.2p1 Debian-2\r\n");
  first_endpoints_ = {{"127.0.0.1", stranger.port()}};
  auto a = Node(FirstReport("job", "node-a", 1));
  EXPECT_THAT(a->WaitUntilDisconnected(absl::StatusCode::kUnavailable),
              HasSubstr("not a Muster coordinator"));
  Serve(endpoint_.port);
  a->WaitFor(DirectiveKind::kRun);
}

TEST_F(GrpcLinkTest, AnotherProgramIsNotACoordinator) {
  for (const char* greeting :
       {"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n",
        "SSH-2.0-OpenSSH_9.2p1 Debian-2\r\n"}) {
    StrangeServer stranger(greeting);
    endpoint_ = {"127.0.0.1", stranger.port()};
    auto a = Node(FirstReport("job", "node-a", 1));
    EXPECT_THAT(a->WaitUntilDisconnected(absl::StatusCode::kFailedPrecondition),
                HasSubstr("not a Muster coordinator"));
    a->Close();
    EXPECT_EQ(a->connections(), 0);
  }
}

TEST_F(GrpcLinkTest, ReachesAnIpv6Coordinator) {
  coordinator_ = std::make_unique<Coordinator>(Coordinator::Options{});
  GrpcServer::Options options;
  options.listen = {"::1", 0};
  auto server = GrpcServer::Start(coordinator_.get(), options);
  if (!server.ok()) GTEST_SKIP() << "no IPv6 here: " << server.status();
  server_ = *std::move(server);
  endpoint_ = server_->address();
  auto a = Node(FirstReport("job", "node-a", 1));
  a->WaitFor(DirectiveKind::kRun);
  EXPECT_EQ(a->own_address(), "::1");
}

TEST_F(GrpcLinkTest, ClosesBeforeItWasEverConnected) {
  ServeNowhere();
  auto a = Node(FirstReport("job", "node-a", 1));
  a->Close();
  EXPECT_EQ(a->connections(), 0);
}

}  // namespace
}  // namespace muster::rendezvous
