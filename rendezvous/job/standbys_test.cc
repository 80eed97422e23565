#include "rendezvous/job/standbys.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace muster::rendezvous {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// A world of the nodes "a", "b", … whose processes have the endpoints "A:1",
// "B:1", ….
struct StandbysTest : testing::Test {
  void AddMember(const std::string& id, const std::string& endpoint) {
    nodes.Add({.node_id = id}, Instant()).standby_endpoint = endpoint;
    world.members.push_back({.node_id = id});
  }

  Membership nodes;
  World world;
};

TEST_F(StandbysTest, OwnProcessIsTheHostAndNoStandby) {
  AddMember("a", "A:1");
  AddMember("b", "B:1");
  AddMember("c", "C:1");
  const Standbys chosen = Standbys::Of(world, nodes, "B:1");
  EXPECT_THAT(chosen.endpoints, ElementsAre("A:1", "C:1"));
  EXPECT_EQ(chosen.host_rank, 1);
}

TEST_F(StandbysTest, OnlyTheFirstProcessesAreStandbys) {
  for (const char* id : {"a", "b", "c", "d", "e"}) AddMember(id, id);
  const Standbys chosen = Standbys::Of(world, nodes, "own");
  EXPECT_THAT(chosen.endpoints, ElementsAre("a", "b", "c"));
  EXPECT_EQ(chosen.host_rank, -1);
}

TEST_F(StandbysTest, MembersWithoutNodeOrProcessAreSkipped) {
  AddMember("a", "");
  world.members.push_back({.node_id = "lost"});
  AddMember("c", "C:1");
  EXPECT_THAT(Standbys::Of(world, nodes, "own").endpoints, ElementsAre("C:1"));
}

TEST(Standbys, EachProcessIsAddedOnce) {
  Standbys standbys;
  EXPECT_TRUE(standbys.Add({.standby_endpoint = "A:1"}, "own"));
  EXPECT_FALSE(standbys.Add({.standby_endpoint = "A:1"}, "own"));
  EXPECT_THAT(standbys.endpoints, ElementsAre("A:1"));
}

TEST(Standbys, OwnProcessAndLeavingNodesAreNotAdded) {
  Standbys standbys;
  EXPECT_FALSE(standbys.Add({.standby_endpoint = "own"}, "own"));
  EXPECT_FALSE(standbys.Add({.standby_endpoint = ""}, "own"));
  EXPECT_FALSE(standbys.Add({.standby_endpoint = "A:1", .going = true}, "own"));
  EXPECT_THAT(standbys.endpoints, IsEmpty());
}

TEST(Standbys, AFullListTakesTheNextAfterARemoval) {
  Standbys standbys{.endpoints = {"a", "b", "c"}};
  EXPECT_FALSE(standbys.Add({.standby_endpoint = "d"}, "own"));
  standbys.Remove({.standby_endpoint = "b"});
  EXPECT_TRUE(standbys.Add({.standby_endpoint = "d"}, "own"));
  EXPECT_THAT(standbys.endpoints, ElementsAre("a", "c", "d"));
}

}  // namespace
}  // namespace muster::rendezvous
