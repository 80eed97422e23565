// Tests of processes that create a group over Gloo while one of them dies. The
// round does not end, so the other processes must detect the death themselves.
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/monotonic_clock.h"
#include "trainer_sdk/gloo/gloo_transport.h"
#include "trainer_sdk/process_group/formation.h"
#include "trainer_sdk/shared_memory/testing/forked_ranks.h"

namespace muster {
namespace {

// The deadline for creating the group. If a death is not detected, creation
// ends only at this deadline.
constexpr Duration kForming = std::chrono::seconds(30);
constexpr Duration kTestTimeout = std::chrono::seconds(60);
constexpr int kRanks = 3;

// A store that kills this process just before the first call for which `fatal`
// returns true.
class FatalStore final : public Store {
 public:
  FatalStore(std::shared_ptr<Store> store,
             std::function<bool(const std::string& call)> fatal)
      : store_(std::move(store)), fatal_(std::move(fatal)) {}

  absl::Status Set(const std::string& key, const std::string& value) override {
    Maybe(absl::StrCat("set ", key));
    return store_->Set(key, value);
  }
  absl::StatusOr<std::string> Get(const std::string& key,
                                  Instant deadline) override {
    return store_->Get(key, deadline);
  }
  absl::Status Wait(const std::vector<std::string>& keys,
                    Instant deadline) override {
    Maybe(absl::StrCat("wait ", keys[0]));
    return store_->Wait(keys, deadline);
  }
  absl::StatusOr<int64_t> Add(const std::string& key, int64_t amount) override {
    return store_->Add(key, amount);
  }
  absl::StatusOr<std::string> CompareSet(const std::string& key,
                                         const std::string& expected,
                                         const std::string& desired) override {
    return store_->CompareSet(key, expected, desired);
  }
  absl::StatusOr<bool> Delete(const std::string& key) override {
    return store_->Delete(key);
  }
  absl::StatusOr<bool> Check(const std::vector<std::string>& keys) override {
    return store_->Check(keys);
  }

 private:
  void Maybe(const std::string& call) {
    if (fatal_(call)) kill(getpid(), SIGKILL);
  }

  const std::shared_ptr<Store> store_;
  const std::function<bool(const std::string& call)> fatal_;
};

void ExpectNamedByAll(int victim, const std::string& fatal) {
  const ForkedRanks ranks(kRanks, [&](GroupPlace place) {
    if (place.rank == victim) {
      place.store = std::make_shared<FatalStore>(
          place.store, [fatal](const std::string& call) {
            return absl::StartsWith(call, fatal);
          });
    }
    return FormTransport(
               [](GroupPlace part, Instant deadline) {
                 return NewGlooTransport(std::move(part), {}, deadline);
               },
               std::move(place), MonotonicNow() + kForming)
        .status();
  });
  const std::vector<absl::Status> ends =
      ranks.Wait(MonotonicNow() + kTestTimeout);
  const std::string name = absl::StrCat("rank ", victim, " (host ");
  const std::string pid = absl::StrCat("pid ", ranks.pid(victim), ")");
  for (int rank = 0; rank < kRanks; ++rank) {
    const std::string message(ends[rank].message());
    if (rank == victim) {
      EXPECT_TRUE(absl::IsCancelled(ends[rank])) << ends[rank];
      continue;
    }
    EXPECT_TRUE(absl::IsUnavailable(ends[rank])) << ends[rank];
    EXPECT_TRUE(absl::StrContains(message, name)) << message;
    EXPECT_TRUE(absl::StrContains(message, pid)) << message;
  }
}

// The last rank dies after it has published its address, and before it connects
// to the other ranks. No other rank connects to the last rank, but every rank
// must name it as dead.
TEST(GlooFormingDeaths, BeforeItHasCalledTheOthers) {
  ExpectNamedByAll(kRanks - 1, "wait watch/tcp/");
}

// A rank dies after the ranks are connected by TCP, and before it has published
// its addresses for Gloo. All other ranks must name it as dead.
TEST(GlooFormingDeaths, BeforeItsAddressIsPublished) {
  for (const int victim : {0, 1}) ExpectNamedByAll(victim, "set gloo/rank/");
}

// Rank 1 dies while Gloo on the other ranks waits for the connection from rank
// 1. All other ranks must name rank 1 as dead.
TEST(GlooFormingDeaths, BeforeItHasConnected) {
  ExpectNamedByAll(1, "wait gloo/rank/");
}

}  // namespace
}  // namespace muster
