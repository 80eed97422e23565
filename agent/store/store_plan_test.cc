#include "agent/store/store_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/net/socket_address.h"
#include "rendezvous/protocol/report.h"

namespace muster::agent {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr size_t kMiB = size_t{1} << 20;

const std::vector<std::string> kOwn = {"127.0.0.1", "::1", "10.0.0.1",
                                       "fd00::1"};

rendezvous::Place PlaceAt(int nodes, const std::string& master,
                          std::vector<std::string> clients) {
  rendezvous::Place place;
  place.group_world_size = nodes;
  place.world_size = nodes;
  place.master_address = master;
  place.store_clients = std::move(clients);
  return place;
}

bool Serves(const StorePlan& plan, const std::string& address) {
  return plan.clients.Contains(*NumericAddress(address, 0));
}

TEST(StorePlan, ASingleNodeListensOnLoopback) {
  for (const char* master : {"10.0.0.1", "127.0.0.1", "node1", "localhost"}) {
    const StorePlan plan = PlanStore(PlaceAt(1, master, {master}), kOwn, {});
    EXPECT_EQ(plan.listen.front(), "127.0.0.1") << master;
    EXPECT_THAT(plan.listen, testing::Not(testing::Contains("")));
    EXPECT_TRUE(Serves(plan, "127.0.0.1"));
    EXPECT_FALSE(Serves(plan, "127.0.0.2"));
    EXPECT_FALSE(Serves(plan, "10.0.0.2"));
  }
  EXPECT_THAT(PlanStore(PlaceAt(1, "::1", {}), kOwn, {}).listen,
              ElementsAre("::1"));
  EXPECT_THAT(PlanStore(PlaceAt(1, "10.0.0.1", {}), kOwn, {}).listen,
              ElementsAre("127.0.0.1", "::1", "10.0.0.1"));
}

TEST(StorePlan, OwnHostIsThisOneAlone) {
  const AddressSet own =
      PlanStore(PlaceAt(2, "10.0.0.1", {"10.0.0.2"}), kOwn, {"10.0.0.3"})
          .own_host;
  for (const char* here : {"127.0.0.1", "::1", "10.0.0.1", "fd00::1"}) {
    EXPECT_TRUE(own.Contains(*NumericAddress(here, 0))) << here;
  }
  for (const char* other : {"127.0.0.2", "10.0.0.2", "10.0.0.3"}) {
    EXPECT_FALSE(own.Contains(*NumericAddress(other, 0))) << other;
  }
}

TEST(StorePlan, SeveralNodesMeetAtTheAdvertisedAddress) {
  const StorePlan plan =
      PlanStore(PlaceAt(2, "10.0.0.1", {"10.0.0.1", "10.0.0.2"}), kOwn, {});
  EXPECT_THAT(plan.listen, ElementsAre("10.0.0.1", ""));
  EXPECT_EQ(plan.remark, "");
}

TEST(StorePlan, ANameIsListenedForOnAllAddresses) {
  EXPECT_THAT(
      PlanStore(PlaceAt(2, "node1", {"node1", "10.0.0.2"}), kOwn, {}).listen,
      ElementsAre(""));
  EXPECT_THAT(
      PlanStore(PlaceAt(2, "localhost", {"localhost"}), kOwn, {}).listen,
      ElementsAre(""));
}

TEST(StorePlan, NodesOfOneHostMeetOnLoopback) {
  EXPECT_THAT(
      PlanStore(PlaceAt(2, "127.0.0.1",
                        {"127.0.0.1", "127.0.0.2", "10.0.0.1", "fd00::1"}),
                kOwn, {})
          .listen,
      ElementsAre("127.0.0.1"));
  EXPECT_THAT(
      PlanStore(PlaceAt(2, "127.0.0.1", {"127.0.0.1", "10.0.0.2"}), kOwn, {})
          .listen,
      ElementsAre(""));
  EXPECT_THAT(
      PlanStore(PlaceAt(2, "127.0.0.1", {"127.0.0.1", "node2"}), kOwn, {})
          .listen,
      ElementsAre(""));
}

TEST(StorePlan, ServesTheNodesOfTheRoundAndThisHost) {
  const StorePlan plan = PlanStore(
      PlaceAt(2, "10.0.0.1", {"10.0.0.1", "node2", "10.0.0.2", "fd00::2"}),
      kOwn, {});
  for (const char* address :
       {"127.0.0.1", "::1", "10.0.0.1", "fd00::1", "10.0.0.2", "fd00::2"}) {
    EXPECT_TRUE(Serves(plan, address)) << address;
  }
  for (const char* address : {"127.0.0.2", "10.0.0.3", "fd00::3", "0.0.0.0"}) {
    EXPECT_FALSE(Serves(plan, address)) << address;
  }
}

TEST(StorePlan, MoreClientsAreServed) {
  const StorePlan plan = PlanStore(PlaceAt(1, "10.0.0.1", {"10.0.0.1"}), kOwn,
                                   {"10.2.0.0/16", "192.0.2.7"});
  EXPECT_THAT(plan.listen, ElementsAre("10.0.0.1", ""));
  EXPECT_TRUE(Serves(plan, "10.2.3.4"));
  EXPECT_TRUE(Serves(plan, "192.0.2.7"));
  EXPECT_FALSE(Serves(plan, "10.3.0.1"));
  EXPECT_THAT(
      PlanStore(PlaceAt(1, "127.0.0.1", {"127.0.0.1"}), kOwn, {"any"}).listen,
      ElementsAre(""));
}

TEST(StorePlan, AnOlderCoordinatorLeavesTheStoreOpenAndThatIsSaid) {
  const StorePlan plan = PlanStore(PlaceAt(2, "10.0.0.1", {}), kOwn, {});
  EXPECT_TRUE(Serves(plan, "10.0.0.3"));
  EXPECT_THAT(plan.remark, HasSubstr("serves every address"));
  const StorePlan alone = PlanStore(PlaceAt(1, "10.0.0.1", {}), kOwn, {});
  EXPECT_FALSE(Serves(alone, "10.0.0.3"));
  EXPECT_EQ(alone.remark, "");
  EXPECT_THAT(PlanStore(PlaceAt(2, "127.0.0.1", {}), kOwn, {}).listen,
              ElementsAre(""));
}

TEST(StorePlan, MemoryGrowsWithTheWorkersUpToALimit) {
  const auto memory = [](int workers) {
    rendezvous::Place place = PlaceAt(2, "10.0.0.1", {"10.0.0.1"});
    place.world_size = workers;
    const StorePlan plan = PlanStore(place, kOwn, {});
    EXPECT_EQ(plan.max_buffer_bytes, plan.max_store_bytes + 1024 * kMiB);
    return plan.max_store_bytes / kMiB;
  };
  EXPECT_EQ(memory(1), 72u);
  EXPECT_EQ(memory(8), 128u);
  EXPECT_EQ(memory(119), 1016u);
  EXPECT_EQ(memory(120), 1024u);
  EXPECT_EQ(memory(2'000'000'000), 1024u);
}

TEST(ReportedAddresses, AreThoseThatOtherHostsMaySee) {
  EXPECT_THAT(ReportedAddresses(kOwn), ElementsAre("10.0.0.1", "fd00::1"));
  EXPECT_THAT(ReportedAddresses({"fe80::1", "10.0.0.1", "127.0.0.9"}),
              ElementsAre("10.0.0.1", "fe80::1"));
  EXPECT_THAT(ReportedAddresses({}), IsEmpty());
}

TEST(ReportedAddresses, HaveALimitThatLinkLocalOnesReachFirst) {
  std::vector<std::string> own = {"fe80::1"};
  for (int i = 0; i < rendezvous::kMaxNodeAddresses; ++i) {
    own.push_back("10.0.1." + std::to_string(i));
  }
  own.emplace_back("10.0.2.1");
  const std::vector<std::string> reported = ReportedAddresses(own);
  EXPECT_EQ(reported.size(), size_t{rendezvous::kMaxNodeAddresses});
  EXPECT_EQ(reported.back(), "10.0.1.15");
}

}  // namespace
}  // namespace muster::agent
