// Tests of reports that a stranger may send to a coordinator without a token:
// absurd numbers, and several nodes on one stream. The coordinator must refuse
// each of them, and the job of the honest nodes must not be disturbed.

#include <gmock/gmock.h>
#include <grpcpp/channel.h>
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "base/net/socket_address.h"
#include "proto/coordinator.grpc.pb.h"
#include "rendezvous/client/channel.h"
#include "rendezvous/client/grpc_link.h"
#include "rendezvous/protocol/report.h"
#include "rendezvous/server/coordinator.h"
#include "rendezvous/server/grpc_server.h"
#include "rendezvous/testing/loopback.h"
#include "rendezvous/testing/scripted_node.h"
#include "tests/security/hostile_stream.h"

namespace muster::rendezvous {
namespace {

using ::testing::HasSubstr;

class HostileReports : public ::testing::Test {
 protected:
  void SetUp() override {
    GrpcServer::Options options;
    options.listen = {"127.0.0.1", 0};
    auto server = GrpcServer::Start(&coordinator_, options);
    ASSERT_TRUE(server.ok()) << server.status();
    server_ = *std::move(server);
  }

  std::shared_ptr<grpc::Channel> Channel() {
    return OpenChannel(
        *NumericAddress(server_->address().host, server_->address().port),
        ClientCredentials({}, "", server_->address().host));
  }
  std::unique_ptr<ScriptedNode> Join(const std::string& host) {
    GrpcLink::Options options;
    options.endpoints = {server_->address()};
    return std::make_unique<ScriptedNode>(
        std::make_unique<GrpcLink>(std::move(options)),
        FirstReport("job", host, 2));
  }
  Report Stranger() {
    Report report = FirstReport("job", "stranger", 2);
    report.sequence = 1;
    return report;
  }
  // Checks that two honest nodes can run a round and succeed.
  void TheJobGoesOn(ScriptedNode* a, ScriptedNode* b) {
    for (ScriptedNode* node : {a, b}) {
      const int round = node->WaitFor(DirectiveKind::kRun).place.round;
      EXPECT_LE(round, 10);
      node->Tell([&](Report* report) {
        report->round = round;
        report->phase = NodePhase::kRunning;
      });
    }
    const auto status = coordinator_.GetJob("job");
    ASSERT_TRUE(status.ok()) << status.status();
    EXPECT_EQ(status->world_size, 2);
    for (ScriptedNode* node : {a, b}) {
      node->Tell([](Report* report) { report->phase = NodePhase::kSucceeded; });
    }
    EXPECT_EQ(a->WaitFor(DirectiveKind::kFinished).verdict.outcome,
              Outcome::kSucceeded);
  }

  Coordinator coordinator_{Coordinator::Options{}};
  std::unique_ptr<GrpcServer> server_;
};

TEST_F(HostileReports, AnEpochOfTheFarFutureDeposesNobody) {
  // The highest epoch that a message may contain (BoundedReader::Epoch).
  constexpr uint64_t kHighest = ~uint64_t{0} - (uint64_t{1} << 40);
  auto a = Join("a");
  auto b = Join("b");
  for (int field = 0; field < 3; ++field) {
    HostileStream hostile(Channel());
    Report report = Stranger();
    if (field == 0) report.promised_epoch = kHighest;
    if (field == 1) report.electorate.epoch = kHighest;
    if (field == 2) report.electorate.world.epoch = kHighest;
    hostile.Send(report);
    const v1::Directive refused = hostile.Read();
    EXPECT_EQ(refused.kind(), v1::Directive::REFUSED) << field;
    EXPECT_THAT(refused.reason(), HasSubstr("in the future")) << field;
  }
  EXPECT_TRUE(absl::IsInvalidArgument(
      coordinator_.Told("job", kHighest, "192.0.2.1:1")));
  TheJobGoesOn(a.get(), b.get());
}

TEST_F(HostileReports, AnElectorateLargerThanTheJobIsRefused) {
  auto a = Join("a");
  a->WaitFor(DirectiveKind::kWait);
  HostileStream stranger(Channel());
  Report report = Stranger();
  report.electorate = {.epoch = 1, .nodes = 100'000, .rank = 99'999};
  stranger.Send(report);
  const v1::Directive answer = stranger.Read();
  EXPECT_EQ(answer.kind(), v1::Directive::REFUSED);
  EXPECT_THAT(answer.reason(), HasSubstr("an electorate of 100000 nodes"));
  auto b = Join("b");
  TheJobGoesOn(a.get(), b.get());
}

TEST_F(HostileReports, ARoundThatNobodyBeganEndsNoJob) {
  auto a = Join("a");
  a->WaitFor(DirectiveKind::kWait);
  HostileStream stranger(Channel());
  Report report = Stranger();
  report.round = 1'000'000'000;
  stranger.Send(report);
  const v1::Directive answer = stranger.Read();
  EXPECT_EQ(answer.kind(), v1::Directive::REFUSED);
  EXPECT_THAT(answer.reason(), HasSubstr("round 1000000000"));
  auto b = Join("b");
  TheJobGoesOn(a.get(), b.get());
}

// A report of a node with 65,536 workers is refused. Without such a limit, the
// number of ranks of a job could overflow an int.
TEST_F(HostileReports, ANodeWithMoreWorkersThanAMachineHasIsRefused) {
  auto a = Join("a");
  a->WaitFor(DirectiveKind::kWait);
  HostileStream stranger(Channel());
  Report report = Stranger();
  report.node.slots = 65536;
  stranger.Send(report);
  const grpc::Status end = stranger.End();
  EXPECT_EQ(end.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_THAT(end.error_message(), HasSubstr("node.slots is 65536"));
  auto b = Join("b");
  TheJobGoesOn(a.get(), b.get());
}

TEST_F(HostileReports, ProgressOfMoreWorkersThanTheNodeHasIsRefused) {
  auto a = Join("a");
  a->WaitFor(DirectiveKind::kWait);
  HostileStream stranger(Channel());
  Report report = Stranger();
  report.progress.resize(4096);
  stranger.Send(report);
  const v1::Directive answer = stranger.Read();
  EXPECT_EQ(answer.kind(), v1::Directive::REFUSED);
  EXPECT_THAT(answer.reason(), HasSubstr("4096 workers"));
  auto b = Join("b");
  TheJobGoesOn(a.get(), b.get());
}

TEST_F(HostileReports, OneStreamJoinsAsOneNode) {
  auto a = Join("a");
  a->WaitFor(DirectiveKind::kWait);
  HostileStream stranger(Channel());
  // The stranger claims to be 2000 nodes on one stream. It does so in a new job
  // "crowd", because the existing job "job" would refuse nodes that claim
  // another number of nodes.
  for (int i = 0; i < 2000; ++i) {
    Report report = FirstReport("crowd", "node-" + std::to_string(i), 100'000);
    report.sequence = 1;
    stranger.Send(report);
  }
  const grpc::Status end = stranger.End();
  EXPECT_EQ(end.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_THAT(end.error_message(),
              HasSubstr("one stream speaks for one node: first \"node-0\", "
                        "now \"node-1\""));
  const auto crowd = coordinator_.GetJob("crowd");
  ASSERT_TRUE(crowd.ok()) << crowd.status();
  EXPECT_LE(crowd->nodes.size(), 1u);
  auto b = Join("b");
  TheJobGoesOn(a.get(), b.get());
}

// Cuts the stream of node b. Before b reconnects, a stranger reports with b's
// name.
TEST_F(HostileReports, ABrokenNodesPlaceIsNotTaken) {
  TcpRelay relay(server_->address().port);
  auto a = Join("a");
  Report report = FirstReport("job", "b", 2);
  report.place_key = "known to b alone";
  report.spec.reconnect_grace = std::chrono::seconds(30);
  GrpcLink::Options options;
  options.endpoints = {{"127.0.0.1", relay.port()}};
  ScriptedNode b(std::make_unique<GrpcLink>(std::move(options)), report);
  const int round = b.WaitFor(DirectiveKind::kRun).place.round;

  // The stranger sends a copy of b's report with a guess of b's place key, the
  // secret that proves that a report comes from b's agent. The stranger can
  // know b's incarnation, which the job's status shows, but not the key.
  Report stranger = report;
  stranger.place_key = "guessed";
  stranger.sequence = 1000;
  HostileStream while_connected(Channel());
  while_connected.Send(stranger);
  EXPECT_EQ(while_connected.Read().kind(), v1::Directive::REFUSED);
  relay.Cut();
  HostileStream while_broken(Channel());
  ++stranger.sequence;
  while_broken.Send(stranger);
  const v1::Directive answer = while_broken.Read();
  EXPECT_EQ(answer.kind(), v1::Directive::REFUSED);
  EXPECT_THAT(answer.reason(), HasSubstr("node b belongs to another agent"));

  b.WaitUntilConnected(2);
  EXPECT_EQ(b.WaitFor(DirectiveKind::kRun).place.round, round);
  TheJobGoesOn(a.get(), &b);
}

}  // namespace
}  // namespace muster::rendezvous
