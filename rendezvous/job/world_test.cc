#include "rendezvous/job/world.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "rendezvous/protocol/job_spec.h"

namespace muster::rendezvous {
namespace {

NodeIdentity Node(const std::string& id, int slots, const std::string& role) {
  NodeIdentity node;
  node.node_id = id;
  node.host = id;
  node.slots = slots;
  node.role = role;
  return node;
}

TEST(World, RanksFollowTheSlotsOfTheNodesBefore) {
  const NodeIdentity a = Node("a", 2, "default");
  const NodeIdentity b = Node("b", 3, "default");
  const NodeIdentity c = Node("c", 1, "default");
  World world = LayOut({&a, &b, &c});
  world.master_address = "10.0.0.1";
  world.master_port = 29500;
  world.restart_count = 2;
  EXPECT_EQ(world.size(), 3);
  EXPECT_EQ(world.world_size, 6);

  const Place place = world.PlaceOf(1, 9);
  EXPECT_EQ(place.round, 9);
  EXPECT_EQ(place.group_rank, 1);
  EXPECT_EQ(place.group_world_size, 3);
  EXPECT_EQ(place.first_rank, 2);
  EXPECT_EQ(place.world_size, 6);
  EXPECT_EQ(place.role_first_rank, 2);
  EXPECT_EQ(place.role_world_size, 6);
  EXPECT_EQ(place.restart_count, 2);
  EXPECT_EQ(place.master_address, "10.0.0.1");
  EXPECT_EQ(place.master_port, 29500);
  EXPECT_EQ(world.PlaceOf(2, 9).first_rank, 5);
}

TEST(World, TheLargestWorldFitsAnInt) {
  const NodeIdentity node = Node("a", kMaxSlots, "default");
  const World world =
      LayOut(std::vector<const NodeIdentity*>(kMaxNodes, &node));
  EXPECT_EQ(world.world_size, int64_t{kMaxNodes} * kMaxSlots);
  EXPECT_EQ(world.members.back().role_world_size, world.world_size);
}

TEST(World, RolesAreCountedApart) {
  const NodeIdentity a = Node("a", 2, "trainer");
  const NodeIdentity b = Node("b", 4, "reader");
  const NodeIdentity c = Node("c", 3, "trainer");
  const World world = LayOut({&a, &b, &c});
  EXPECT_EQ(world.PlaceOf(0, 1).role_first_rank, 0);
  EXPECT_EQ(world.PlaceOf(0, 1).role_world_size, 5);
  EXPECT_EQ(world.PlaceOf(1, 1).role_first_rank, 0);
  EXPECT_EQ(world.PlaceOf(1, 1).role_world_size, 4);
  EXPECT_EQ(world.PlaceOf(2, 1).role_first_rank, 2);
  EXPECT_EQ(world.PlaceOf(2, 1).role_world_size, 5);
}

TEST(World, OnlyTheStoresNodeIsToldTheStoresClients) {
  const NodeIdentity a = Node("a", 1, "default");
  const NodeIdentity b = Node("b", 1, "default");
  World world = LayOut({&a, &b});
  world.store_clients = {"10.0.0.1", "10.0.0.2"};
  EXPECT_EQ(world.PlaceOf(0, 1).store_clients, world.store_clients);
  EXPECT_TRUE(world.PlaceOf(1, 1).store_clients.empty());
}

TEST(StoreClients, AreAllAddressesOfAllNodesOnce) {
  EXPECT_EQ(StoreClients({}), std::vector<std::string>());
  EXPECT_EQ(StoreClients({{"a1", "a2", "shared"}, {"b1", "shared"}, {"a2"}}),
            (std::vector<std::string>{"a1", "b1", "a2", "shared"}));
}

TEST(StoreClients, LeaveOutTheLastAddressesBeyondTheLimit) {
  const std::vector<std::vector<std::string>> members = {
      {"a1", "a2", "a3"}, {"b1", "b2"}, {"c1"}};
  EXPECT_EQ(StoreClients(members, 4),
            (std::vector<std::string>{"a1", "b1", "c1", "a2"}));
  EXPECT_EQ(StoreClients(members, 3),
            (std::vector<std::string>{"a1", "b1", "c1"}));
}

}  // namespace
}  // namespace muster::rendezvous
