#include "rendezvous/server/connection_pool.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

namespace muster::rendezvous {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Id = ConnectionPool::Id;

class ConnectionPoolTest : public ::testing::Test {
 protected:
  // The limits of the pool: 6 connections that wait for the hand-over to gRPC,
  // 16 connections on trial (gRPC serves them, but they have made no valid call
  // yet), and 3 callers (connections that have made a valid call). The fair
  // share of each network is an eighth of the connections on trial, that is, 2.
  ConnectionPool pool_{
      {.waiting = 6, .on_trial = 16, .callers = 3, .nodes = 100}};
  Instant now_{seconds(1000)};
  Id last_ = 0;

  Id Open(const std::string& network) {
    pool_.Opened(now_, ++last_, network);
    return last_;
  }
  // Opens a connection that sends data, and checks that ConnectionPool::Apply
  // hands it over to gRPC at once.
  Id OpenOnTrial(const std::string& network) {
    const Id id = Open(network);
    pool_.Spoke(id);
    EXPECT_THAT(Apply().hand_over, ElementsAre(id));
    return id;
  }
  ConnectionPool::Changes Apply() { return pool_.Apply(now_); }
};

TEST_F(ConnectionPoolTest, LimitsLeaveMostDescriptorsToNodes) {
  const ConnectionLimits many = LimitsFor(20'000);
  EXPECT_EQ(many.waiting, 1024u);
  EXPECT_EQ(many.on_trial, 512u);
  EXPECT_EQ(many.callers, 512u);
  EXPECT_EQ(many.nodes, 20'000 - 2048);
  for (const int few : {45, 156, 924}) {
    const ConnectionLimits limits = LimitsFor(few);
    EXPECT_GE(limits.nodes, few / 2 - 1);
    EXPECT_LE(limits.nodes + limits.waiting + limits.on_trial + limits.callers,
              static_cast<size_t>(few));
  }
  EXPECT_EQ(LimitsFor(1).nodes, 1);
}

TEST_F(ConnectionPoolTest, ASilentConnectionIsNotHandedOverAndClosedInTime) {
  const Id id = Open("a");
  EXPECT_THAT(Apply().hand_over, IsEmpty());
  EXPECT_EQ(pool_.NextDeadline(), now_ + ConnectionPool::kFirstMessageTimeout);
  now_ += ConnectionPool::kFirstMessageTimeout - milliseconds(1);
  EXPECT_THAT(Apply().close, IsEmpty());
  now_ += milliseconds(1);
  EXPECT_THAT(Apply().close, ElementsAre(id));
  EXPECT_EQ(pool_.size(), 0u);
  EXPECT_EQ(pool_.NextDeadline(), std::nullopt);
}

TEST_F(ConnectionPoolTest, AConnectionWithoutAValidCallIsClosedInTime) {
  const Id silent_then = OpenOnTrial("a");
  const Id good = OpenOnTrial("b");
  pool_.Proved(good);
  EXPECT_EQ(pool_.NextDeadline(), now_ + ConnectionPool::kFirstMessageTimeout);
  now_ += ConnectionPool::kFirstMessageTimeout;
  EXPECT_THAT(Apply().close, ElementsAre(silent_then));
  now_ += seconds(1000);
  EXPECT_THAT(Apply().close, IsEmpty());
}

TEST_F(ConnectionPoolTest, ANodeIsNeverClosed) {
  const Id node = OpenOnTrial("a");
  pool_.Joined(node);
  for (int i = 0; i < 100; ++i) pool_.Proved(OpenOnTrial("a"));
  now_ += seconds(1000);
  EXPECT_THAT(Apply().close, ::testing::Not(::testing::Contains(node)));
}

TEST_F(ConnectionPoolTest, AConnectionWhoseLastNodeHasLeftIsACallerAgain) {
  const Id id = OpenOnTrial("a");
  pool_.Joined(id);
  pool_.Joined(id);
  pool_.Left(id);
  EXPECT_TRUE(pool_.callers().empty());
  pool_.Left(id);
  EXPECT_EQ(pool_.callers().size(), 1u);
  pool_.Left(id);
  pool_.Left(id + 1);
  EXPECT_EQ(pool_.callers().size(), 1u);
}

TEST_F(ConnectionPoolTest, AmongTooManyCallersTheOldestOfTheLargestIsClosed) {
  pool_.Proved(OpenOnTrial("quiet"));
  const Id oldest = OpenOnTrial("busy");
  pool_.Proved(oldest);
  pool_.Proved(OpenOnTrial("busy"));
  EXPECT_FALSE(pool_.NeedsApply(now_));
  pool_.Proved(OpenOnTrial("busy"));
  EXPECT_TRUE(pool_.NeedsApply(now_));
  EXPECT_THAT(Apply().close, ElementsAre(oldest));
}

TEST_F(ConnectionPoolTest, TheSilentMakeWayForNewcomers) {
  const Id first = Open("flood");
  for (int i = 0; i < 4; ++i) Open("flood");
  const Id other = Open("other");
  EXPECT_THAT(Apply().close, IsEmpty());
  EXPECT_TRUE(pool_.MayAccept());
  const Id newcomer = Open("other");
  EXPECT_THAT(Apply().close, ElementsAre(first));
  pool_.Spoke(other);
  pool_.Spoke(newcomer);
  EXPECT_THAT(Apply().hand_over, ElementsAre(other, newcomer));
}

TEST_F(ConnectionPoolTest, AFloodOnTrialClosesItsOwnConnections) {
  const Id honest = OpenOnTrial("honest");
  const Id first = OpenOnTrial("flood");
  for (int i = 0; i < 14; ++i) OpenOnTrial("flood");
  const Id newcomer = Open("flood");
  pool_.Spoke(newcomer);
  const ConnectionPool::Changes changes = Apply();
  EXPECT_THAT(changes.close, ElementsAre(first));
  EXPECT_THAT(changes.hand_over, ElementsAre(newcomer));
  pool_.Proved(honest);
  EXPECT_EQ(pool_.callers().size(), 1u);
}

// The agents of 8 networks take all 16 places for connections that have made no
// valid call yet, two for each network. Further agents must wait.
TEST_F(ConnectionPoolTest, AgentsThatConnectAtOnceWaitForEachOther) {
  std::vector<Id> first;
  for (int i = 0; i < 16; ++i) {
    first.push_back(OpenOnTrial("host-" + std::to_string(i / 2)));
  }
  now_ += milliseconds(300);
  std::vector<Id> waiting;
  for (int i = 0; i < 6; ++i) {
    waiting.push_back(Open("host-" + std::to_string(100 + i)));
    pool_.Spoke(waiting.back());
  }
  ConnectionPool::Changes changes = Apply();
  EXPECT_THAT(changes.close, IsEmpty());
  EXPECT_THAT(changes.hand_over, IsEmpty());
  EXPECT_FALSE(pool_.MayAccept()) << "all have spoken, one for each network";
  EXPECT_TRUE(pool_.IsCrowded());
  pool_.Joined(first[3]);
  EXPECT_TRUE(pool_.NeedsApply(now_));
  EXPECT_THAT(Apply().hand_over, ElementsAre(waiting[0]));
  EXPECT_TRUE(pool_.MayAccept());
  // After kFairTime the oldest connections on trial (served, but without a
  // valid call) are closed, so that the waiting connections get their places.
  EXPECT_EQ(pool_.NextDeadline(),
            now_ - milliseconds(300) + ConnectionPool::kFairTime);
  now_ = *pool_.NextDeadline();
  changes = Apply();
  EXPECT_EQ(changes.hand_over.size(), 5u);
  EXPECT_THAT(changes.close,
              ElementsAre(first[0], first[1], first[2], first[4], first[5]));
}

TEST_F(ConnectionPoolTest, TheFairTimeBeginsWithTheHandOver) {
  const Id slow = Open("slow");
  now_ += 2 * ConnectionPool::kFairTime;
  pool_.Spoke(slow);
  EXPECT_THAT(Apply().hand_over, ElementsAre(slow));
  for (int i = 0; i < 15; ++i) OpenOnTrial("host-" + std::to_string(i));
  pool_.Spoke(Open("newcomer"));
  EXPECT_THAT(Apply().close, IsEmpty());
}

TEST_F(ConnectionPoolTest, TheSilentMakeWayBeforeThoseThatHaveSpoken) {
  for (int i = 0; i < 16; ++i) OpenOnTrial("host-" + std::to_string(i));
  pool_.Spoke(Open("a"));
  pool_.Spoke(Open("a"));
  const Id silent = Open("b");
  for (int i = 0; i < 4; ++i) Open("c-" + std::to_string(i));
  EXPECT_THAT(Apply().close, ElementsAre(silent));
}

TEST_F(ConnectionPoolTest, AWaitingCrowdOfOneNetworkMakesWay) {
  for (int i = 0; i < 16; ++i) OpenOnTrial("host-" + std::to_string(i));
  const Id oldest = Open("flood");
  pool_.Spoke(oldest);
  for (int i = 0; i < 5; ++i) pool_.Spoke(Open("flood"));
  EXPECT_TRUE(pool_.MayAccept());
  pool_.Spoke(Open("other"));
  EXPECT_THAT(Apply().close, ElementsAre(oldest));
}

TEST_F(ConnectionPoolTest, WhatHasEndedIsForgotten) {
  const Id silent = Open("a");
  const Id on_trial = OpenOnTrial("a");
  const Id caller = OpenOnTrial("a");
  pool_.Proved(caller);
  for (const Id id : {silent, on_trial, caller}) pool_.Ended(id);
  EXPECT_EQ(pool_.size(), 0u);
  pool_.Spoke(silent);
  pool_.Proved(on_trial);
  pool_.Joined(caller);
  EXPECT_EQ(pool_.size(), 0u);
}

// Simulates a flood of 5,000 connections a second from one address. About half
// of them stay silent, the others begin a session. From the same address come
// honest clients, which make a valid call 40 ms after they have connected. No
// honest client may be closed before its call.
TEST_F(ConnectionPoolTest, UnderAFloodHonestClientsGetThrough) {
  const ConnectionLimits limits = LimitsFor(20'000);
  ConnectionPool pool(limits);
  std::mt19937 random(3);
  // The honest clients that have not made their call yet. Key: the time at
  // which the client will make the call.
  std::map<Instant, Id> honest;
  std::set<Id> handed_over;
  int proved = 0;
  for (Id id = 1; id <= 50'000; ++id) {
    now_ += std::chrono::microseconds(200);
    const bool is_honest = id % 500 == 0;
    pool.Opened(now_, id, "same");
    if (is_honest) honest.emplace(now_ + milliseconds(40), id);
    if (is_honest || random() % 2 == 0) pool.Spoke(id);
    while (!honest.empty() && honest.begin()->first <= now_) {
      const Id caller = honest.begin()->second;
      ASSERT_TRUE(handed_over.count(caller));
      pool.Proved(caller);
      ASSERT_TRUE(pool.callers().connections().count(caller));
      pool.Ended(caller);
      ++proved;
      honest.erase(honest.begin());
    }
    const ConnectionPool::Changes changes = pool.Apply(now_);
    handed_over.insert(changes.hand_over.begin(), changes.hand_over.end());
    ASSERT_LE(pool.on_trial().size(), limits.on_trial);
    ASSERT_LE(pool.size(), limits.waiting + limits.on_trial);
    ASSERT_TRUE(pool.MayAccept());
  }
  EXPECT_EQ(proved, 99);
}

}  // namespace
}  // namespace muster::rendezvous
