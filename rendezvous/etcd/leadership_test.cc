#include "rendezvous/etcd/leadership.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

namespace muster::rendezvous {
namespace {

using std::chrono::milliseconds;
using Request = Leadership::Request;
using Stage = Leadership::Stage;

Instant At(int64_t ms) { return Instant(milliseconds(ms)); }

constexpr Leadership::Lock kHeld = {.holding = 7, .renewal = 9};

// Returns a candidate that leads term 5 after a claim that was sent at time 0.
Leadership Leader() {
  Leadership leader{Leadership::Limits()};
  EXPECT_EQ(leader.Next(At(0)), Request::kRead);
  leader.OnRead(At(0), {});
  EXPECT_EQ(leader.Next(At(0)), Request::kClaim);
  leader.OnClaimed(5);
  return leader;
}

TEST(NextEpochTest, EpochsGrowIfTheClockIsBehind) {
  EXPECT_EQ(NextEpoch(7, 5), 8u);
  EXPECT_EQ(NextEpoch(7, 7), 8u);
}

TEST(NextEpochTest, EpochsGrowIfTheKeysAreGone) {
  EXPECT_EQ(NextEpoch(0, 1'700'000'000'000), 1'700'000'000'000u);
}

TEST(LeadershipTest, AFreeLockIsClaimedAtOnce) {
  Leadership leader = Leader();
  EXPECT_EQ(leader.stage(), Stage::kLeading);
  EXPECT_EQ(leader.term(), 5);
  EXPECT_TRUE(leader.Leads(At(999)));
  EXPECT_FALSE(leader.Leads(At(1000)));
}

TEST(LeadershipTest, AStandbyClaimsALockThatNobodyRenews) {
  Leadership standby{Leadership::Limits()};
  ASSERT_EQ(standby.Next(At(0)), Request::kRead);
  standby.OnRead(At(10), kHeld);
  EXPECT_EQ(standby.NextDeadline(), At(200));
  EXPECT_EQ(standby.Next(At(199)), Request::kNone);
  ASSERT_EQ(standby.Next(At(200)), Request::kRead);
  EXPECT_EQ(standby.NextDeadline(), std::nullopt);
  EXPECT_EQ(standby.Next(At(900)), Request::kNone) << "one request at a time";
  standby.OnRead(At(1200), kHeld);
  ASSERT_EQ(standby.Next(At(1200)), Request::kRead);
  standby.OnRead(At(1210), kHeld);
  EXPECT_EQ(standby.NextDeadline(), At(1260)) << "1.25 s after the first look";
  EXPECT_EQ(standby.Next(At(1259)), Request::kNone);
  EXPECT_EQ(standby.Next(At(1260)), Request::kClaim);
  EXPECT_EQ(standby.seen(), kHeld);
}

TEST(LeadershipTest, ARenewalPostponesTheTakeover) {
  Leadership standby{Leadership::Limits()};
  ASSERT_EQ(standby.Next(At(0)), Request::kRead);
  standby.OnRead(At(0), kHeld);
  ASSERT_EQ(standby.Next(At(1200)), Request::kRead);
  standby.OnRead(At(1201), {.holding = 7, .renewal = 10});
  EXPECT_EQ(standby.Next(At(1260)), Request::kNone);
  ASSERT_EQ(standby.Next(At(1400)), Request::kRead);
  standby.OnRead(At(1401), {.holding = 7, .renewal = 10});
  EXPECT_EQ(standby.Next(At(2451)), Request::kClaim);
}

TEST(LeadershipTest, AStandbyReadsAgainAfterARefusedClaim) {
  Leadership standby{Leadership::Limits()};
  ASSERT_EQ(standby.Next(At(0)), Request::kRead);
  standby.OnRead(At(0), {});
  ASSERT_EQ(standby.Next(At(0)), Request::kClaim);
  standby.OnRefused();
  EXPECT_EQ(standby.stage(), Stage::kStandby);
  EXPECT_EQ(standby.NextDeadline(), At(200));
  EXPECT_EQ(standby.Next(At(200)), Request::kRead);
}

TEST(LeadershipTest, AStandbyReadsAgainAfterAClaimWithoutAnswer) {
  Leadership standby{Leadership::Limits()};
  ASSERT_EQ(standby.Next(At(0)), Request::kRead);
  standby.OnRead(At(0), {});
  ASSERT_EQ(standby.Next(At(0)), Request::kClaim);
  standby.OnFailed(At(300));
  EXPECT_EQ(standby.Next(At(300)), Request::kRead);
}

TEST(LeadershipTest, AReadWithoutAnswerIsRepeated) {
  Leadership standby{Leadership::Limits()};
  ASSERT_EQ(standby.Next(At(0)), Request::kRead);
  standby.OnFailed(At(100));
  EXPECT_EQ(standby.NextDeadline(), At(200));
  ASSERT_EQ(standby.Next(At(200)), Request::kRead);
  standby.OnFailed(At(500));
  EXPECT_EQ(standby.NextDeadline(), At(500));
}

TEST(LeadershipTest, ALeaseBeginsWhenItsRenewalIsSent) {
  Leadership leader = Leader();
  EXPECT_EQ(leader.NextDeadline(), At(200));
  EXPECT_EQ(leader.Next(At(199)), Request::kNone);
  ASSERT_EQ(leader.Next(At(200)), Request::kRenew);
  EXPECT_EQ(leader.NextDeadline(), At(1000)) << "the end of the lease";
  EXPECT_FALSE(leader.Leads(At(1000))) << "not renewed yet";
  leader.OnRenewed();
  EXPECT_TRUE(leader.Leads(At(1199)));
  EXPECT_FALSE(leader.Leads(At(1200)));
  EXPECT_EQ(leader.leads_until(), At(1200));
}

TEST(LeadershipTest, ALeaderWithoutAnswersStopsAtTheEndOfItsLease) {
  Leadership leader = Leader();
  ASSERT_EQ(leader.Next(At(200)), Request::kRenew);
  leader.OnFailed(At(500));
  ASSERT_EQ(leader.Next(At(500)), Request::kRenew);
  EXPECT_EQ(leader.Next(At(999)), Request::kNone);
  EXPECT_EQ(leader.stage(), Stage::kLeading);
  EXPECT_EQ(leader.Next(At(1000)), Request::kNone);
  EXPECT_EQ(leader.stage(), Stage::kOver);
  leader.OnRenewed();
  EXPECT_FALSE(leader.Leads(At(1001))) << "an answer that comes too late";
  EXPECT_EQ(leader.NextDeadline(), std::nullopt);
}

TEST(LeadershipTest, ALeaderWhoseRenewalIsRefusedStopsAtOnce) {
  Leadership leader = Leader();
  ASSERT_EQ(leader.Next(At(200)), Request::kRenew);
  leader.OnRefused();
  EXPECT_EQ(leader.stage(), Stage::kOver);
  EXPECT_FALSE(leader.Leads(At(200)));
  EXPECT_EQ(leader.Next(At(5000)), Request::kNone);
}

// --- A simulation: three candidates and a store, with random faults.

// Times are in microseconds of a global clock that no candidate can read.
using Micros = int64_t;

class Election {
 public:
  explicit Election(uint64_t seed) : random_(seed) {
    for (int i = 0; i < kCandidates; ++i) {
      candidates_[i].rate = Uniform(0.95, 1.05);
      candidates_[i].offset = static_cast<Micros>(Uniform(0, 1e12));
      Start(i);
    }
    // The longest message delay in microseconds. One third of the simulated
    // elections has a slow network, one third a moderate one, one third a fast
    // one.
    slowest_ = random_() % 3 == 0   ? Micros{4000000}
               : random_() % 2 == 0 ? Micros{200000}
                                    : Micros{3000};
  }

  // Simulates until `end`, with faults until `faults_end`; both in
  // microseconds. Returns what went wrong (such as two leaders at one time, or
  // no leader at the end), or an empty string.
  std::string Run(Micros faults_end, Micros end) {
    for (Micros t = 500000; t < faults_end; t += Draw(1500000)) {
      After(t, [this] { Fault(); });
    }
    After(faults_end, [this] { Heal(); });
    for (Micros t = 0; t < end; t += 5000) {
      After(t, [this] { CheckOneLeader(); });
    }
    while (!events_.empty() && events_.begin()->first <= end &&
           wrong_.empty()) {
      const auto first = events_.begin();
      now_ = first->first;
      const std::function<void()> act = std::move(first->second);
      events_.erase(first);
      act();
    }
    if (!wrong_.empty()) return wrong_;
    return Leaders() == 1 ? "" : "nobody leads at the end";
  }

  void Kill(int i) {
    candidates_[i].core.reset();
    ++candidates_[i].life;
  }
  int leader() const {
    for (int i = 0; i < kCandidates; ++i) {
      if (LeadsNow(i)) return i;
    }
    return -1;
  }
  void After(Micros at, std::function<void()> act) {
    events_.emplace(at, std::move(act));
  }
  void SetFast() { slowest_ = 3000; }
  Micros now() const { return now_; }
  // Simulated time in microseconds at which the newest leadership began.
  Micros newest_leader_since() const { return newest_leader_since_; }

 private:
  static constexpr int kCandidates = 3;
  static constexpr Micros kCallTimeout = 300000;

  struct Candidate {
    std::unique_ptr<Leadership> core;
    double rate = 1;  // speed of the candidate's clock
    Micros offset = 0;
    int life = 0;         // how often the candidate was started
    int request = 0;      // number of the candidate's newest request
    Micros wakes_at = 0;  // the candidate is suspended until this time
    bool is_cut = false;  // whether the candidate is cut off from the store
  };

  double Uniform(double least, double most) {
    return std::uniform_real_distribution<double>(least, most)(random_);
  }
  Micros Draw(Micros most) { return 1 + static_cast<Micros>(random_() % most); }
  Instant Clock(int i) const {
    return Instant(std::chrono::microseconds(
        candidates_[i].offset +
        static_cast<Micros>(candidates_[i].rate * static_cast<double>(now_))));
  }
  bool LeadsNow(int i) const {
    const Candidate& one = candidates_[i];
    return one.core != nullptr && one.wakes_at <= now_ &&
           one.core->Leads(Clock(i));
  }
  int Leaders() const {
    int leaders = 0;
    for (int i = 0; i < kCandidates; ++i) leaders += LeadsNow(i) ? 1 : 0;
    return leaders;
  }
  void CheckOneLeader() {
    if (Leaders() > 1) {
      wrong_ = "two lead at " + std::to_string(now_) + " us";
    }
  }

  void Start(int i) {
    candidates_[i].core = std::make_unique<Leadership>(Leadership::Limits());
    const int life = ++candidates_[i].life;
    After(now_, [this, i, life] { Look(i, life); });
  }

  // Runs `act` at once or, if candidate `i` is suspended, when it resumes. Does
  // nothing if the candidate was killed or restarted in the meantime: its field
  // `life` then differs from the argument `life`.
  void When(int i, int life, const std::function<void()>& act) {
    Candidate& one = candidates_[i];
    if (one.life != life) return;
    if (one.wakes_at <= now_) return act();
    After(one.wakes_at, [this, i, life, act] { When(i, life, act); });
  }

  void Look(int i, int life) {
    When(i, life, [this, i, life] {
      Candidate& one = candidates_[i];
      const Request request = one.core->Next(Clock(i));
      if (request != Request::kNone) Send(i, life, request);
      if (one.core->stage() == Stage::kOver) return Start(i);
      const std::optional<Instant> due = one.core->NextDeadline();
      if (!due.has_value()) return;
      const auto wait = std::chrono::duration_cast<std::chrono::microseconds>(
          *due - Clock(i));
      const Micros at =
          now_ + std::max<Micros>(
                     1, static_cast<Micros>(static_cast<double>(wait.count()) /
                                            one.rate) +
                            1);
      After(at, [this, i, life] { Look(i, life); });
    });
  }

  void Send(int i, int life, Request request) {
    Candidate& one = candidates_[i];
    const int number = ++one.request;
    const Leadership::Lock seen =
        request == Request::kClaim ? one.core->seen() : Leadership::Lock();
    const int64_t term = one.core->term();
    After(now_ + static_cast<Micros>(kCallTimeout / one.rate),
          [this, i, life, number] {
            When(i, life, [this, i, life, number] {
              if (candidates_[i].request != number) return;
              ++candidates_[i].request;
              candidates_[i].core->OnFailed(Clock(i));
              Look(i, life);
            });
          });
    if (one.is_cut) return;
    After(now_ + Draw(slowest_), [=, this] {
      const std::function<void(Leadership&, Instant)> answer =
          Carry(request, seen, term);
      if (candidates_[i].is_cut) return;
      After(now_ + Draw(slowest_), [=, this] {
        When(i, life, [=, this] {
          // Ignore the answer if the candidate's call has already timed out.
          if (candidates_[i].request != number) return;
          ++candidates_[i].request;
          const bool led = candidates_[i].core->stage() == Stage::kLeading;
          answer(*candidates_[i].core, Clock(i));
          if (!led && candidates_[i].core->stage() == Stage::kLeading) {
            newest_leader_since_ = now_;
          }
          Look(i, life);
        });
      });
    });
  }

  // Carries out the request in the simulated store. Returns a function that
  // delivers the answer to the candidate.
  std::function<void(Leadership&, Instant)> Carry(Request request,
                                                  Leadership::Lock seen,
                                                  int64_t term) {
    switch (request) {
      case Request::kClaim:
        if (lock_ == seen) {
          lock_ = {.holding = ++revision_, .renewal = revision_};
          return [held = revision_](Leadership& core, Instant) {
            core.OnClaimed(held);
          };
        }
        break;
      case Request::kRenew:
        if (lock_.holding == term) {
          lock_.renewal = ++revision_;
          return [](Leadership& core, Instant) { core.OnRenewed(); };
        }
        break;
      default:
        return [lock = lock_](Leadership& core, Instant now) {
          core.OnRead(now, lock);
        };
    }
    return [](Leadership& core, Instant) { core.OnRefused(); };
  }

  void Fault() {
    const int i = static_cast<int>(random_() % kCandidates);
    Candidate& one = candidates_[i];
    switch (random_() % 5) {
      case 0:
        if (one.core != nullptr) return Kill(i);
        return Start(i);
      case 1:
        one.wakes_at = now_ + Draw(4000000);
        return;
      case 2:
        one.is_cut = !one.is_cut;
        return;
      case 3:
        slowest_ = Draw(2000000);
        return;
      default:
        slowest_ = 3000;
        return;
    }
  }

  void Heal() {
    slowest_ = 3000;
    for (int i = 0; i < kCandidates; ++i) {
      candidates_[i].is_cut = false;
      if (candidates_[i].core == nullptr) Start(i);
    }
  }

  std::mt19937_64 random_;
  Micros slowest_ = 3000;  // longest delay of a message
  Micros now_ = 0;
  std::multimap<Micros, std::function<void()>> events_;
  Candidate candidates_[kCandidates];
  Leadership::Lock lock_;
  int64_t revision_ = 0;
  Micros newest_leader_since_ = 0;
  std::string wrong_;
};

// Reads a number from the environment: MUSTER_SEEDS is the number of elections
// to simulate, MUSTER_FIRST_SEED the first seed.
uint64_t FromEnvironment(const char* name, uint64_t otherwise) {
  const char* const text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

TEST(LeadershipSimulation, NeverTwoLeadAndSomebodyLeadsInTheEnd) {
  const uint64_t first = FromEnvironment("MUSTER_FIRST_SEED", 1);
  const uint64_t seeds = FromEnvironment("MUSTER_SEEDS", 2400);
  for (uint64_t seed = first; seed < first + seeds; ++seed) {
    ASSERT_EQ(Election(seed).Run(20000000, 27000000), "") << "seed " << seed;
  }
}

TEST(LeadershipSimulation, AStandbyLeadsSoonAfterTheLeadersDeath) {
  for (uint64_t seed = 1; seed <= 50; ++seed) {
    Election election(seed);
    election.SetFast();
    constexpr Micros kDeath = 5000000;
    election.After(kDeath, [&] { election.Kill(election.leader()); });
    ASSERT_EQ(election.Run(0, 12000000), "") << "seed " << seed;
    // The standby reads the lock within 0.2 s of the leader's death, waits for
    // 1.25 s and then claims the lock. Its clock may be slow by 5 %. So it must
    // become the leader after the death, but at most 1.6 s later.
    EXPECT_GT(election.newest_leader_since(), kDeath) << "seed " << seed;
    EXPECT_LT(election.newest_leader_since(), kDeath + 1600000)
        << "seed " << seed;
  }
}

}  // namespace
}  // namespace muster::rendezvous
