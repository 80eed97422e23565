#include "store/server/request_intake.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>

namespace muster::store {
namespace {

using Role = StoreConnection::Role;

// More bytes than RequestGate allows a connection to leave unread.
const std::string kMuch((size_t{1} << 20) + 1, 'x');

// A service in which the test sets what MayGoOn returns.
class TurnService : public StoreService {
 public:
  void OnRequest(StoreClientId, StoreFraming, const StoreRequest&,
                 StoreEffects*) override {}
  bool MayGoOn(StoreClientId) const override { return may_go_on; }
  void OnGone(StoreClientId, StoreEffects*) override {}
  size_t bytes() const override { return 0; }
  bool WantsTicks() const override { return false; }
  void OnTick(StoreEffects*) override {}
  absl::StatusOr<size_t> OnUpstream(std::string_view bytes,
                                    StoreEffects*) override {
    return bytes.size();
  }

  bool may_go_on = true;
};

class RequestGateTest : public ::testing::Test {
 protected:
  RequestGateTest() {
    relay_.role = Role::kRelay;
    upstream_.role = Role::kUpstream;
    client_.id = 1;
    other_.id = 2;
  }

  BufferBudget budget_{1000, std::chrono::seconds(5)};
  TurnService service_;
  RequestGate gate_{&budget_, &service_};
  StoreConnection client_, other_, relay_, upstream_;
};

TEST_F(RequestGateTest, UnreadRepliesStallARequest) {
  EXPECT_FALSE(gate_.MustStall(client_, nullptr));
  client_.out.Append(kMuch);
  EXPECT_TRUE(gate_.MustStall(client_, nullptr));
  relay_.out.Append(kMuch);
  EXPECT_TRUE(gate_.MustStall(relay_, nullptr));
}

TEST_F(RequestGateTest, TheUpstreamIsNeverStalled) {
  upstream_.out.Append(kMuch);
  service_.may_go_on = false;
  EXPECT_FALSE(gate_.MustStall(upstream_, &upstream_));
}

TEST_F(RequestGateTest, TheServiceStallsClientsOnly) {
  service_.may_go_on = false;
  EXPECT_TRUE(gate_.MustStall(client_, nullptr));
  EXPECT_FALSE(gate_.MustStall(relay_, nullptr));
}

TEST_F(RequestGateTest, AFullUpstreamStallsClientsUntilItHasRoom) {
  EXPECT_FALSE(gate_.TakeUpstreamRoom(upstream_));
  upstream_.out.Append(kMuch);
  EXPECT_TRUE(gate_.MustStall(client_, &upstream_));
  EXPECT_FALSE(gate_.TakeUpstreamRoom(upstream_));
  upstream_.out.Consume(kMuch.size());
  EXPECT_TRUE(gate_.TakeUpstreamRoom(upstream_));
  // The first TakeUpstreamRoom that returned true was the signal to resume all
  // stalled clients. So a second call must return false.
  EXPECT_FALSE(gate_.TakeUpstreamRoom(upstream_));
}

TEST_F(RequestGateTest, RequestsWaitForTheBudgetInOrder) {
  budget_.Charge(other_.share, 600, 600);
  EXPECT_TRUE(gate_.RequestsWait());
  gate_.Enqueue(other_);
  gate_.Enqueue(client_);
  gate_.Enqueue(other_);  // must change nothing: other_ is in the FIFO already
  EXPECT_TRUE(client_.stalled);
  EXPECT_FALSE(gate_.HasTurn());
  budget_.Charge(other_.share, 0, 0);
  // The budget has room again, but a new request must wait until the
  // connections that are already in the FIFO (Enqueue) have had their turn.
  EXPECT_TRUE(gate_.RequestsWait());
  ASSERT_TRUE(gate_.HasTurn());
  EXPECT_EQ(gate_.TakeNext(), other_.id);
  EXPECT_EQ(gate_.TakeNext(), client_.id);
  EXPECT_FALSE(gate_.HasTurn());
  EXPECT_FALSE(gate_.RequestsWait());
}

}  // namespace
}  // namespace muster::store
