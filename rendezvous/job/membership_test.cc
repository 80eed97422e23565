#include "rendezvous/job/membership.h"

#include <gtest/gtest.h>

namespace muster::rendezvous {
namespace {

using Memory = Membership::Memory;

NodeIdentity Identity(const std::string& id, uint64_t incarnation = 1) {
  NodeIdentity identity;
  identity.node_id = id;
  identity.host = id;
  identity.incarnation = incarnation;
  return identity;
}

Instant At(int seconds) { return Instant(std::chrono::seconds(seconds)); }

TEST(Membership, FindsByIdStreamRankAndName) {
  Membership nodes;
  NodeIdentity identity = Identity("a");
  identity.node_rank = 3;
  identity.host = "host-a";
  Node& a = nodes.Add(identity, At(0));
  nodes.SetStream(a, 11);
  EXPECT_EQ(nodes.Find("a"), &a);
  EXPECT_EQ(nodes.FindByStream(11), &a);
  EXPECT_EQ(nodes.FindByNodeRank(3), &a);
  EXPECT_EQ(nodes.FindByName("host-a"), &a);
  EXPECT_EQ(nodes.Find("b"), nullptr);
  EXPECT_EQ(nodes.FindByStream(12), nullptr);
  EXPECT_EQ(nodes.FindByNodeRank(0), nullptr);
  EXPECT_EQ(nodes.FindByName("b"), nullptr);
}

TEST(Membership, AHostWithTwoNodesIsNoName) {
  Membership nodes;
  NodeIdentity one = Identity("1");
  NodeIdentity two = Identity("2");
  one.host = two.host = "h";
  nodes.Add(one, At(0));
  nodes.Add(two, At(0));
  EXPECT_EQ(nodes.FindByName("h"), nullptr);
  EXPECT_NE(nodes.FindByName("2"), nullptr);
}

TEST(Membership, RemoveLeavesNoTrace) {
  Membership nodes;
  NodeIdentity identity = Identity("a");
  identity.node_rank = 0;
  Node& a = nodes.Add(identity, At(0));
  nodes.SetStream(a, 11);
  nodes.SetDeadline(a, At(5));
  nodes.Remove(a, Memory::kMayReturn);
  EXPECT_EQ(nodes.size(), 0u);
  EXPECT_EQ(nodes.FindByStream(11), nullptr);
  EXPECT_EQ(nodes.FindByNodeRank(0), nullptr);
  EXPECT_EQ(nodes.FirstDeadline(), std::nullopt);
  EXPECT_EQ(nodes.FirstToExpire(), nullptr);
  EXPECT_EQ(nodes.ready(), 0);
  EXPECT_EQ(nodes.broken(), 0);
}

TEST(Membership, CountsTheReadyAndTheBroken) {
  Membership nodes;
  Node& a = nodes.Add(Identity("a"), At(0));
  EXPECT_EQ(nodes.ready(), 0);
  EXPECT_EQ(nodes.broken(), 1);
  nodes.SetStream(a, 1);
  EXPECT_EQ(nodes.ready(), 1);
  EXPECT_EQ(nodes.broken(), 0);
  nodes.Update(a, [](Node& n) { n.phase = NodePhase::kRunning; });
  EXPECT_EQ(nodes.ready(), 0);
  nodes.Update(a, [](Node& n) { n.phase = NodePhase::kSucceeded; });
  EXPECT_EQ(nodes.ready(), 1);
  nodes.Update(a, [](Node& n) { n.part = Part::kAssigned; });
  EXPECT_EQ(nodes.ready(), 0);
  nodes.Update(a, [](Node& n) { n.part = Part::kNone; });
  nodes.Update(a, [](Node& n) { n.going = true; });
  EXPECT_EQ(nodes.ready(), 0);
  nodes.SetStream(a, 0);
  EXPECT_EQ(nodes.broken(), 1);
}

TEST(Membership, TheFirstDeadlineIsTheFirstToExpire) {
  Membership nodes;
  Node& a = nodes.Add(Identity("a"), At(0));
  Node& b = nodes.Add(Identity("b"), At(0));
  nodes.SetDeadline(a, At(9));
  nodes.SetDeadline(b, At(7));
  EXPECT_EQ(nodes.FirstToExpire(), &b);
  EXPECT_EQ(nodes.FirstDeadline(), At(7));
  nodes.SetDeadline(b, At(10));
  EXPECT_EQ(nodes.FirstToExpire(), &a);
}

TEST(Membership, ASupersededIncarnationIsRemembered) {
  Membership nodes;
  Node& a = nodes.Add(Identity("a", 1), At(0));
  nodes.Remove(a, Memory::kSuperseded);
  EXPECT_EQ(nodes.MemoryOf(Identity("a", 1)), Memory::kSuperseded);
  EXPECT_EQ(nodes.MemoryOf(Identity("a", 2)), Memory::kNeverAdmitted);
  EXPECT_EQ(nodes.MemoryOf(Identity("b", 1)), Memory::kNeverAdmitted);
}

TEST(Membership, ALostNodeMayReturnUntilAnotherTookItsPlace) {
  Membership nodes;
  nodes.Remove(nodes.Add(Identity("a", 1), At(0)), Memory::kMayReturn);
  EXPECT_EQ(nodes.MemoryOf(Identity("a", 1)), Memory::kMayReturn);
  nodes.Remove(nodes.Add(Identity("a", 2), At(0)), Memory::kMayReturn);
  EXPECT_EQ(nodes.MemoryOf(Identity("a", 1)), Memory::kSuperseded);
  EXPECT_EQ(nodes.MemoryOf(Identity("a", 2)), Memory::kMayReturn);
}

TEST(Membership, RemembersABoundedNumber) {
  Membership nodes;
  for (uint64_t i = 1; i <= 5000; ++i) {
    nodes.Remove(nodes.Add(Identity("a", i), At(0)), Memory::kSuperseded);
  }
  EXPECT_EQ(nodes.MemoryOf(Identity("a", 1)), Memory::kNeverAdmitted);
  EXPECT_EQ(nodes.MemoryOf(Identity("a", 5000)), Memory::kSuperseded);
}

TEST(Membership, ContenderIsKnownByItsNewestReportAndNotSuperseded) {
  Membership nodes;
  EXPECT_EQ(nodes.LastSequenceOf(Identity("a", 2)), 0u);
  nodes.Hear(Identity("a", 2), 4);
  nodes.Hear(Identity("a", 2), 5);
  nodes.Add(Identity("a", 3), At(0));
  EXPECT_EQ(nodes.LastSequenceOf(Identity("a", 2)), 5u);
  EXPECT_EQ(nodes.MemoryOf(Identity("a", 2)), Memory::kNeverAdmitted);
}

TEST(Membership, RemembersABoundedNumberOfContenders) {
  Membership nodes;
  for (uint64_t i = 1; i <= 5000; ++i) nodes.Hear(Identity("a", i), 1);
  EXPECT_EQ(nodes.LastSequenceOf(Identity("a", 1)), 0u);
  EXPECT_EQ(nodes.LastSequenceOf(Identity("a", 5000)), 1u);
}

}  // namespace
}  // namespace muster::rendezvous
