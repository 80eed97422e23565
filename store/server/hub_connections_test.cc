#include "store/server/hub_connections.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <chrono>
#include <string>
#include <vector>

namespace muster::store {
namespace {

using Role = StoreConnection::Role;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class HubConnectionsTest : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(events_.Open().ok()); }

  // Adds one end of a socket pair; the other end is in peers_.
  StoreConnection& Add(Role role = Role::kClient) {
    int ends[2];
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0,
                         ends),
              0);
    peers_.emplace_back(ends[1]);
    return *connections_.Add({OwnedFd(ends[0]), nullptr}, role);
  }
  std::string ReceivedBy(size_t peer) {
    std::string bytes(4096, '\0');
    const ssize_t count =
        recv(peers_[peer].get(), bytes.data(), bytes.size(), 0);
    return bytes.substr(0, count < 0 ? 0 : static_cast<size_t>(count));
  }
  void RemoveEnding() {
    while (StoreConnection* ending = connections_.NextEnding()) {
      connections_.Remove(*ending);
    }
  }

  HubEvents events_;
  std::vector<std::string> said_;
  BoundedNotices notices_{
      [this](const std::string& sentence) { said_.push_back(sentence); }};
  BufferBudget budget_{1000, std::chrono::seconds(5)};
  HubConnections connections_{&events_, &budget_, &notices_, 0};
  std::vector<OwnedFd> peers_;
};

TEST_F(HubConnectionsTest, ScheduledConnectionsAreTakenInOrderOnce) {
  StoreConnection& a = Add();
  StoreConnection& b = Add();
  for (StoreConnection* connection : {&b, &a, &b}) {
    connection->out.Append("x");
    connections_.Schedule(*connection);
  }
  EXPECT_EQ(connections_.scheduled(), 2u);
  EXPECT_EQ(connections_.TakeScheduled(), &b);
  connections_.Send(b);
  EXPECT_EQ(ReceivedBy(1), "xx");
  EXPECT_EQ(connections_.TakeScheduled(), &a);
  EXPECT_EQ(connections_.scheduled(), 0u);
}

TEST_F(HubConnectionsTest, SendScheduledSendsOnceForEach) {
  StoreConnection& a = Add();
  StoreConnection& b = Add();
  a.out.Append("to a");
  connections_.Schedule(a);
  b.out.Append("to b");
  connections_.Schedule(b);
  EXPECT_THAT(connections_.SendScheduled(), ElementsAre(&a, &b));
  EXPECT_EQ(ReceivedBy(0), "to a");
  EXPECT_EQ(ReceivedBy(1), "to b");
  EXPECT_TRUE(a.out.empty());
  EXPECT_EQ(connections_.scheduled(), 0u);
}

TEST_F(HubConnectionsTest, AnEndingConnectionIsNotTaken) {
  StoreConnection& a = Add();
  a.out.Append("x");
  connections_.Schedule(a);
  connections_.End(a);
  EXPECT_TRUE(a.out.empty());
  EXPECT_EQ(connections_.TakeScheduled(), nullptr);
  const StoreClientId id = a.id;
  RemoveEnding();
  EXPECT_EQ(connections_.Find(id), nullptr);
  EXPECT_EQ(connections_.size(), 0u);
  EXPECT_EQ(budget_.bytes(), 0u);
}

TEST_F(HubConnectionsTest, InputThatIsProcessedOutlivesTheEnd) {
  StoreConnection& a = Add();
  a.in.Append("half a request");
  a.processed = true;
  connections_.End(a);
  EXPECT_EQ(a.in.view(), "half a request");
}

TEST_F(HubConnectionsTest, TooMuchUnreadDataEndsTheConnection) {
  StoreConnection& a = Add();
  a.out.Append(std::string(size_t{1} << 30, 'x'));
  connections_.Schedule(a);
  EXPECT_TRUE(a.ending);
  EXPECT_THAT(said_, ElementsAre(HasSubstr("is not read")));
}

TEST_F(HubConnectionsTest, RefuseLargestEndsTheConnectionWithTheMostInput) {
  StoreConnection& a = Add();
  StoreConnection& b = Add();
  a.in.Append(std::string(400, 'a'));
  b.in.Append(std::string(800, 'b'));
  connections_.Charge(a);
  connections_.Charge(b);
  ASSERT_TRUE(budget_.IsFull());
  connections_.RefuseLargest();
  EXPECT_FALSE(a.ending);
  EXPECT_TRUE(b.ending);
  EXPECT_FALSE(budget_.IsFull());
}

TEST_F(HubConnectionsTest, RefuseUnreadEndsClientsUntilRequestsGoOn) {
  StoreConnection& a = Add();
  StoreConnection& b = Add();
  a.out.Append(std::string(100, 'a'));
  connections_.Charge(a);
  b.out.Append(std::string(700, 'b'));
  connections_.Charge(b);
  ASSERT_TRUE(budget_.RequestsWait());
  connections_.RefuseUnread();
  EXPECT_FALSE(a.ending);
  EXPECT_TRUE(b.ending);
  EXPECT_THAT(said_, ElementsAre(HasSubstr("all requests have waited 5 s")));
}

TEST_F(HubConnectionsTest, WatchFollowsTheStateOfTheConnection) {
  StoreConnection& a = Add();
  EXPECT_EQ(a.watched, static_cast<uint32_t>(EPOLLIN));
  a.stalled = true;
  connections_.Watch(a);
  EXPECT_EQ(a.watched, 0u);
  a.out.Append("x");
  // The hub sends the data of a scheduled connection soon. So epoll need not
  // watch whether the socket of `a` is writable.
  a.scheduled = true;
  connections_.Watch(a);
  EXPECT_EQ(a.watched, 0u);
  a.scheduled = false;
  connections_.Watch(a);
  EXPECT_EQ(a.watched, static_cast<uint32_t>(EPOLLOUT));
}

TEST_F(HubConnectionsTest, TheUpstreamsLossIsAFailureWhileClientsAreThere) {
  StoreConnection& upstream = Add(Role::kUpstream);
  Add();
  EXPECT_EQ(connections_.Find(kUpstreamClient), &upstream);
  connections_.End(upstream);
  RemoveEnding();
  EXPECT_EQ(connections_.upstream(), nullptr);
  EXPECT_FALSE(connections_.failure().ok());
  EXPECT_FALSE(connections_.Result().ok());
}

TEST_F(HubConnectionsTest, TheUpstreamMayEndAfterAllClients) {
  StoreConnection& upstream = Add(Role::kUpstream);
  connections_.End(Add());
  RemoveEnding();
  connections_.End(upstream);
  RemoveEnding();
  EXPECT_FALSE(connections_.failure().ok());
  EXPECT_TRUE(connections_.Result().ok());
}

TEST_F(HubConnectionsTest, ARefusedUpstreamIsAFailure) {
  StoreConnection& upstream = Add(Role::kUpstream);
  connections_.Refuse(upstream, "it sends nonsense");
  EXPECT_THAT(std::string(connections_.failure().message()),
              HasSubstr("it sends nonsense"));
}

}  // namespace
}  // namespace muster::store
