#include "launcher/embedded_coordinator.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "rendezvous/client/grpc_link.h"
#include "rendezvous/testing/scripted_node.h"

namespace muster::launcher {
namespace {

using rendezvous::DirectiveKind;
using rendezvous::Report;
using rendezvous::ScriptedNode;

// Starts a node's standby, a coordinator that has never coordinated the job.
// `others`: the endpoints of other standbys; may be empty.
std::unique_ptr<EmbeddedCoordinator> StartStandby(
    const std::vector<rendezvous::Endpoint>& others) {
  EmbeddedCoordinator::Options options;
  options.listen = {"127.0.0.1", 0};
  options.job = {.run_id = "job",
                 .spec = rendezvous::FirstReport("job", "", 3).spec};
  options.takeover = EmbeddedCoordinator::Options::Takeover{
      .own_host = "127.0.0.1", .endpoints = others};
  auto standby = EmbeddedCoordinator::Start(
      options, Voice("launch", Talk::kErrorsOnly, STDERR_FILENO));
  EXPECT_TRUE(standby.ok()) << standby.status();
  return *std::move(standby);
}

// Returns node `rank` of a world of 5 nodes, for example node-a for rank 0. The
// node has lost its coordinator and connects to `standby`.
std::unique_ptr<ScriptedNode> Survivor(const EmbeddedCoordinator& standby,
                                       int rank) {
  constexpr uint64_t kEpoch = uint64_t{1} << 40;
  Report report = rendezvous::FirstReport(
      "job", std::string("node-") + static_cast<char>('a' + rank), 5);
  report.phase = rendezvous::NodePhase::kRunning;
  report.round = 1;
  report.place = rendezvous::Place{.round = 1,
                                   .epoch = kEpoch,
                                   .group_rank = rank,
                                   .group_world_size = 5,
                                   .first_rank = rank,
                                   .world_size = 5};
  report.promised_epoch = kEpoch;
  report.electorate = {.epoch = kEpoch,
                       .world = {.epoch = kEpoch, .round = 1},
                       .nodes = 5,
                       .rank = rank};
  rendezvous::GrpcLink::Options options;
  options.endpoints = {standby.address()};
  return std::make_unique<ScriptedNode>(
      std::make_unique<rendezvous::GrpcLink>(std::move(options)), report);
}

// A world of 5 nodes has lost its coordinator. Two nodes have connected to one
// standby, one node to another. Neither standby has a majority of the 5 nodes,
// so all three nodes must move to one standby.
TEST(EmbeddedCoordinatorTest, AStandbyAnnouncesTheNodesThatHaveGatheredAtIt) {
  const auto few = StartStandby({});
  const auto many = StartStandby({few->address()});
  const auto a = Survivor(*few, 0);
  const auto b = Survivor(*many, 1);
  const auto c = Survivor(*many, 2);
  EXPECT_EQ(a->WaitFor(DirectiveKind::kMoved).standbys.front(),
            many->own_endpoint().ToString());
}

// Standby `many` has two nodes and, because it was restarted, knows no other
// standby. When standby `few` announces itself to `many`, `many` must answer,
// so that the node of `few` moves to `many`.
TEST(EmbeddedCoordinatorTest, AStandbyAnswersTheAnnouncementOfAnother) {
  const auto many = StartStandby({});
  const auto few = StartStandby({many->address()});
  const auto b = Survivor(*many, 1);
  const auto c = Survivor(*many, 2);
  const auto a = Survivor(*few, 0);
  EXPECT_EQ(a->WaitFor(DirectiveKind::kMoved).standbys.front(),
            many->own_endpoint().ToString());
}

}  // namespace
}  // namespace muster::launcher
