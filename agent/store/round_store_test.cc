#include "agent/store/round_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include "base/channel_key.h"
#include "base/owned_fd.h"
#include "base/testing/free_port.h"
#include "rendezvous/testing/loopback.h"
#include "store/testing/raw_client.h"

namespace muster::agent {
namespace {

using ::testing::HasSubstr;

rendezvous::Place PlaceOf(int round, int group_rank, int port) {
  rendezvous::Place place;
  place.round = round;
  place.group_rank = group_rank;
  place.group_world_size = 2;
  place.world_size = 2;
  place.master_address = "127.0.0.1";
  place.master_port = port;
  place.store_clients = {"127.0.0.1"};
  return place;
}

// Connects to a port on the loopback address. Returns no open descriptor if no
// server listens.
OwnedFd Connect(int port) {
  OwnedFd fd(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const sockaddr_in address = rendezvous::Loopback(port);
  if (connect(fd.get(), reinterpret_cast<const sockaddr*>(&address),
              sizeof address) != 0) {
    fd.Close();
  }
  return fd;
}

// Whether the peer closes the connection within 30 s.
bool IsHungUpOn(const OwnedFd& fd) {
  pollfd one = {.fd = fd.get(), .events = POLLIN, .revents = 0};
  if (poll(&one, 1, 30'000) != 1) return false;
  char byte;
  return recv(fd.get(), &byte, 1, 0) <= 0;
}

TEST(RoundStoreTest, HoldsItsPortAndServesItOnlyDuringTheRound) {
  RoundStore store({});
  const int port = store.Prepare().value();
  EXPECT_FALSE(Connect(port).open());
  EXPECT_EQ(store.Prepare().value(), port);
  // The socket `other` of another server cannot be bound to the store's port.
  OwnedFd other(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const int on = 1;
  setsockopt(other.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  const sockaddr_in address = rendezvous::Loopback(port);
  EXPECT_NE(bind(other.get(), reinterpret_cast<const sockaddr*>(&address),
                 sizeof address),
            0);
  ASSERT_TRUE(store.Begin(PlaceOf(1, 0, port)).ok());
  EXPECT_TRUE(Connect(port).open());
}

// With a world of one node, the store's port accepts no connections at this
// host's other addresses.
TEST(RoundStoreTest, AStoreOfOneNodeListensOnLoopbackAlone) {
  RoundStore store({});
  const int port = store.Prepare().value();
  rendezvous::Place place = PlaceOf(1, 0, port);
  place.group_world_size = 1;
  place.master_address = "192.0.2.1";
  EXPECT_EQ(store.Begin(place).value().ToString(),
            "127.0.0.1:" + std::to_string(port));
  EXPECT_TRUE(Connect(port).open());
  OwnedFd fd(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in other = rendezvous::Loopback(port);
  other.sin_addr.s_addr = htonl(INADDR_LOOPBACK + 1);
  EXPECT_NE(connect(fd.get(), reinterpret_cast<const sockaddr*>(&other),
                    sizeof other),
            0);
}

TEST(RoundStoreTest, AnAddressThatThisHostLacksIsListenedForOnAllAddresses) {
  RoundStore store({});
  const int port = store.Prepare().value();
  rendezvous::Place place = PlaceOf(1, 0, port);
  place.master_address = "192.0.2.1";
  EXPECT_EQ(store.Begin(place).value().host, "192.0.2.1");
  EXPECT_TRUE(Connect(port).open());
}

TEST(RoundStoreTest, AnOlderCoordinatorsRoundIsServedToAllAndThatIsSaid) {
  std::string notice;
  RoundStore store(
      {.on_notice = [&](const std::string& line) { notice = line; }});
  const int port = store.Prepare().value();
  rendezvous::Place place = PlaceOf(1, 0, port);
  place.store_clients.clear();
  ASSERT_TRUE(store.Begin(place).ok());
  EXPECT_THAT(notice, HasSubstr("serves every address"));
}

TEST(RoundStoreTest, EveryRoundHasAPortOfItsOwnAndTheLastOneIsClosed) {
  RoundStore store({});
  const int first = store.Prepare().value();
  ASSERT_TRUE(store.Begin(PlaceOf(1, 0, first)).ok());
  const int second = store.Prepare().value();
  EXPECT_NE(first, second);
  const OwnedFd worker = Connect(first);
  ASSERT_TRUE(worker.open());
  ASSERT_TRUE(store.Begin(PlaceOf(2, 0, second)).ok());
  EXPECT_TRUE(IsHungUpOn(worker));
  EXPECT_FALSE(Connect(first).open());
  EXPECT_TRUE(Connect(second).open());
}

TEST(RoundStoreTest, TheRequestsOfAllRoundsThatThisNodeServesAreCounted) {
  RoundStore store({});
  const int first = store.Prepare().value();
  EXPECT_FALSE(store.load().has_value());
  ASSERT_TRUE(store.Begin(PlaceOf(1, 0, first)).ok());
  EXPECT_EQ(store.load()->requests, 0);
  store::RawClient client(first);
  EXPECT_EQ(client.Add("n", 1), 1);
  const int64_t requests = store.load()->requests;
  EXPECT_GT(requests, 0);
  EXPECT_EQ(store.load()->keys, 1);
  const int second = store.Prepare().value();
  ASSERT_TRUE(store.Begin(PlaceOf(2, 0, second)).ok());
  EXPECT_EQ(store.load()->requests, requests);
  EXPECT_EQ(store.load()->keys, 0);
  store::RawClient next(second);
  EXPECT_EQ(next.Add("n", 1), 1);
  EXPECT_EQ(store.load()->requests, 2 * requests);
  // The server of the next round is on another node.
  ASSERT_TRUE(store.Begin(PlaceOf(3, 1, 4321)).ok());
  EXPECT_EQ(store.load()->requests, 2 * requests);
}

TEST(RoundStoreTest, ClosingReleasesWhoIsConnected) {
  RoundStore store({});
  const int port = store.Prepare().value();
  ASSERT_TRUE(store.Begin(PlaceOf(1, 0, port)).ok());
  const OwnedFd worker = Connect(port);
  ASSERT_TRUE(worker.open());
  store.Close("rank 1 failed");
  EXPECT_TRUE(IsHungUpOn(worker));
}

TEST(RoundStoreTest, ANodeThatIsNotTheMasterKeepsItsOwnForLater) {
  RoundStore store({});
  const int port = store.Prepare().value();
  const rendezvous::Endpoint master = store.Begin(PlaceOf(1, 1, 4321)).value();
  EXPECT_EQ(master.ToString(), "127.0.0.1:4321");
  EXPECT_EQ(store.Prepare().value(), port);
}

TEST(RoundStoreTest, NodesWithTheRoundsKeyMeetAndOthersDoNot) {
  rendezvous::Place place = PlaceOf(1, 0, 0);
  place.channel_key = std::string(kChannelKeyBytes, 'k');
  RoundStore master({.path = StorePath::kThroughAgent});
  place.master_port = master.Prepare().value();
  ASSERT_TRUE(master.Begin(place).ok());
  place.group_rank = 1;
  RoundStore node({.path = StorePath::kThroughAgent});
  const rendezvous::Endpoint relay = node.Begin(place).value();
  EXPECT_NE(relay.port, place.master_port);
  EXPECT_TRUE(Connect(relay.port).open());
  // The node `other` has the wrong key, so Begin fails. If Begin returned the
  // store's own address instead, the workers would connect to it in clear text.
  place.channel_key = std::string(kChannelKeyBytes, 'x');
  RoundStore other({.path = StorePath::kThroughAgent, .node_host = "host2"});
  const absl::Status refused = other.Begin(place).status();
  EXPECT_THAT(std::string(refused.message()),
              HasSubstr("--encrypt=workers: host2: the round's store at"));
}

TEST(RoundStoreTest, ARelayEndsWithTheStoreItRelays) {
  RoundStore master({});
  const int port = master.Prepare().value();
  ASSERT_TRUE(master.Begin(PlaceOf(1, 0, port)).ok());
  RoundStore node({.path = StorePath::kThroughAgent});
  const rendezvous::Endpoint relay = node.Begin(PlaceOf(1, 1, port)).value();
  EXPECT_EQ(relay.host, "127.0.0.1");
  EXPECT_NE(relay.port, port);
  const OwnedFd worker = Connect(relay.port);
  ASSERT_TRUE(worker.open());
  master.Close("rank 1 failed");
  EXPECT_TRUE(IsHungUpOn(worker));
}

TEST(RoundStoreTest, AStoreThatCannotBeRelayedIsLeftToTheWorkers) {
  const int port = FreePort();
  std::string notice;
  RoundStore node(
      {.path = StorePath::kThroughAgent,
       .on_notice = [&](const std::string& line) { notice = line; }});
  const rendezvous::Endpoint master = node.Begin(PlaceOf(1, 1, port)).value();
  EXPECT_EQ(master.port, port);
  EXPECT_THAT(notice, HasSubstr("cannot relay the store at 127.0.0.1:" +
                                std::to_string(port)));
}

TEST(RoundStoreTest, AnotherPortThanItsOwnIsRefusedAndNotWaitedFor) {
  RoundStore store({});
  const int port = store.Prepare().value();
  const absl::Status status = store.Begin(PlaceOf(1, 0, port ^ 1)).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInternal);
}

TEST(RoundStoreTest, AFixedPortServesRoundAfterRound) {
  const int port = FreePort();
  RoundStore store({.fixed_port = port});
  for (int round = 1; round <= 3; ++round) {
    EXPECT_EQ(store.Prepare().value(), port);
    ASSERT_TRUE(store.Begin(PlaceOf(round, 0, port)).ok());
    EXPECT_TRUE(Connect(port).open());
  }
}

TEST(RoundStoreTest, AFixedPortThatIsTakenIsNamed) {
  RoundStore other({});
  const int port = other.Prepare().value();
  ASSERT_TRUE(other.Begin(PlaceOf(1, 0, port)).ok());
  RoundStore store(
      {.fixed_port = port, .fixed_by = "--store-port", .node_host = "node1"});
  const absl::Status status = store.Begin(PlaceOf(1, 0, port)).status();
  EXPECT_EQ(status.message(),
            "port " + std::to_string(port) +
                " is taken on node1; choose another with --store-port");
}

TEST(RoundStoreTest, AWorkersOwnStoreHasItsPortHeldAndFree) {
  RoundStore store({.host = rendezvous::StoreHost::kWorker});
  const int port = store.Prepare().value();
  EXPECT_FALSE(Connect(port).open());
  ASSERT_TRUE(store.Begin(PlaceOf(1, 0, port)).ok());
  EXPECT_NE(store.Prepare().value(), port);
  // A socket that simulates the server of rank 0's worker, with SO_REUSEADDR as
  // in PyTorch.
  OwnedFd server(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const int on = 1;
  setsockopt(server.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  const sockaddr_in address = rendezvous::Loopback(port);
  ASSERT_EQ(bind(server.get(), reinterpret_cast<const sockaddr*>(&address),
                 sizeof address),
            0);
  ASSERT_EQ(listen(server.get(), 1), 0);
  EXPECT_TRUE(Connect(port).open());
}

}  // namespace
}  // namespace muster::agent
