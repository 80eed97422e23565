#include "trainer_sdk/session/session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/monotonic_clock.h"
#include "base/testing/free_port.h"
#include "store/server/store_server.h"
#include "trainer_sdk/store/store_barrier.h"

namespace muster {
namespace {

using testing::HasSubstr;

Instant Late() { return MonotonicNow() + std::chrono::seconds(30); }

SessionPlan PlanOf(int rank, int world_size, StorePlace host, int port) {
  SessionPlan plan;
  plan.launcher = Launcher::kEnvironment;
  plan.rank = rank;
  plan.world_size = world_size;
  plan.local_rank = rank;
  plan.store_place = host;
  plan.master_address = "127.0.0.1";
  plan.master_port = port;
  return plan;
}

void OnEachRank(int size, const std::function<void(int)>& run) {
  std::vector<std::thread> threads;
  threads.reserve(size);
  for (int rank = 0; rank < size; ++rank) threads.emplace_back(run, rank);
  for (std::thread& thread : threads) thread.join();
}

TEST(Session, AloneNeedsNothing) {
  SessionPlan plan;
  plan.local_world_size = 1;
  plan.group_rank = 0;
  plan.group_world_size = 1;
  auto session = Session::Start(plan).value();
  EXPECT_EQ(session->world_size(), 1);
  ASSERT_TRUE(session->store()->Set("k", "v").ok());
  EXPECT_EQ(session->store()->Get("k", Late()).value(), "v");
  // Without an agent, Send must drop the report and not fail.
  session->progress().Send({.step = 1});
}

TEST(Session, RankZeroServesTheStoreUntilAllAreDone) {
  constexpr int kSize = 4;
  const int port = FreePort();
  std::atomic<int> gone = 0;
  OnEachRank(kSize, [&](int rank) {
    auto session =
        Session::Start(PlanOf(rank, kSize, StorePlace::kRankZero, port));
    ASSERT_TRUE(session.ok()) << session.status();
    Store& store = *(*session)->store();
    ASSERT_TRUE(StoreBarrier(store, "b", rank, kSize, Late()).ok());
    if (rank == 0) {
      session->reset();
      // Rank 0's session serves the store. Its destructor must have waited
      // until each of the other ranks had increased `gone` and ended its
      // session.
      EXPECT_EQ(gone, kSize - 1);
    } else {
      EXPECT_TRUE(store.Add("late", 1).ok());
      ++gone;
    }
  });
}

TEST(Session, UnknownSizesAreAgreedOn) {
  constexpr int kSize = 3;
  const int port = FreePort();
  OnEachRank(kSize, [&](int rank) {
    auto session =
        Session::Start(PlanOf(rank, kSize, StorePlace::kRankZero, port));
    ASSERT_TRUE(session.ok()) << session.status();
    EXPECT_EQ((*session)->local_world_size(), kSize);
    EXPECT_EQ((*session)->group_rank(), 0);
    EXPECT_EQ((*session)->group_world_size(), 1);
  });
}

TEST(Session, AnAgentsStoreOutlivesTheSessionAndHidesItsKeys) {
  auto agent = store::StoreServer::Start({.address = "127.0.0.1"}).value();
  SessionPlan plan = PlanOf(0, 1, StorePlace::kAgent, agent->port());
  plan.local_world_size = plan.group_world_size = 1;
  plan.group_rank = 0;
  const auto sees = [&plan] {
    return Session::Start(plan).value()->store()->Check({"k"}).value();
  };
  ASSERT_TRUE(Session::Start(plan).value()->store()->Set("k", "v").ok());
  EXPECT_TRUE(sees());
  // A session with another restart count, round or run must not see the key "k"
  // of the first session.
  plan.restart_count = 1;
  EXPECT_FALSE(sees());
  plan.restart_count = 0;
  plan.round = 1;
  EXPECT_FALSE(sees());
  plan.round = 0;
  plan.run_id = "other";
  EXPECT_FALSE(sees());
}

TEST(Session, APortThatIsTakenIsSaid) {
  auto other = store::StoreServer::Start({}).value();
  absl::Status taken =
      Session::Start(PlanOf(0, 2, StorePlace::kRankZero, other->port()))
          .status();
  EXPECT_TRUE(absl::IsAlreadyExists(taken)) << taken;
  EXPECT_THAT(std::string(taken.message()), HasSubstr("set MASTER_PORT"));
}

TEST(Session, AStoreThatDoesNotComeIsSaid) {
  const int port = FreePort();
  absl::Status late =
      Session::Start(PlanOf(1, 2, StorePlace::kRankZero, port),
                     {.connect_timeout = std::chrono::milliseconds(30)})
          .status();
  EXPECT_TRUE(absl::IsDeadlineExceeded(late)) << late;
  EXPECT_THAT(std::string(late.message()),
              HasSubstr("rank 1 of 2 cannot join its world: no store at "
                        "127.0.0.1:" +
                        std::to_string(port)));
}

TEST(Session, ARankThatDoesNotComeIsNamed) {
  absl::Status late =
      Session::Start(PlanOf(0, 2, StorePlace::kRankZero, FreePort()),
                     {.connect_timeout = std::chrono::seconds(1)})
          .status();
  EXPECT_TRUE(absl::IsDeadlineExceeded(late)) << late;
  EXPECT_THAT(std::string(late.message()), HasSubstr("host/1'"));
}

TEST(Session, ADeadRankDoesNotHoldRankZero) {
  const int port = FreePort();
  SessionPlan plan = PlanOf(0, 2, StorePlace::kRankZero, port);
  plan.local_world_size = 2;
  plan.group_rank = 0;
  plan.group_world_size = 1;
  auto session = Session::Start(plan, {.linger = Duration::zero()}).value();
  session.reset();
  // Rank 1 never connected, and rank 0's destructor must not have waited for
  // it. If a new server can use the port, the store's server has stopped.
  EXPECT_TRUE(store::StoreServer::Start({.port = port}).ok());
}

}  // namespace
}  // namespace muster
