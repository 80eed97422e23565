#include "rendezvous/stragglers/straggler_watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <random>
#include <string>
#include <vector>

namespace muster::rendezvous {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

Duration FromSeconds(double s) {
  return std::chrono::duration_cast<Duration>(std::chrono::duration<double>(s));
}

// A synchronous training: in each step the ranks work, and wait in a collective
// for the last rank; then all ranks transfer data.
class Training {
 public:
  Training(int ranks, double transfer_s)
      : transfer_s_(transfer_s), times_(static_cast<size_t>(ranks)) {
    watch_.Begin(1, ranks);
  }

  // Adds the time for which the network has limited sends of `rank` to `peer`.
  // Each rank is on a node of its own.
  void AddLinkTime(int rank, int peer, double limited_s) {
    times_[rank].sent += 1'000'000;
    for (LinkTime& link : times_[rank].links) {
      if (link.peer != peer) continue;
      link.limited += FromSeconds(limited_s);
      return;
    }
    times_[rank].links.push_back(
        {.peer = peer, .limited = FromSeconds(limited_s)});
  }

  // Performs a step; own_s: seconds of each rank's own work.
  std::vector<StragglerWatch::Change> Step(const std::vector<double>& own_s) {
    const double longest = *std::max_element(own_s.begin(), own_s.end());
    std::vector<StragglerWatch::Sample> samples;
    for (size_t i = 0; i < own_s.size(); ++i) {
      times_[i].own += FromSeconds(own_s[i]);
      times_[i].blocked += FromSeconds(longest - own_s[i] + transfer_s_);
      samples.push_back({.rank = static_cast<int>(i),
                         .node = static_cast<int>(i),
                         .times = times_[i]});
    }
    now_ += FromSeconds(longest + transfer_s_);
    return watch_.Evaluate(now_, samples);
  }

  StragglerWatch& watch() { return watch_; }
  RankTimes& times(int rank) { return times_[rank]; }
  Instant now() const { return now_; }

 private:
  const double transfer_s_;
  std::vector<RankTimes> times_;
  StragglerWatch watch_;
  Instant now_{hours(1)};
};

std::vector<double> With(int ranks, int slow, double factor) {
  std::vector<double> own(static_cast<size_t>(ranks), 0.9);
  if (slow >= 0) own[slow] *= factor;
  return own;
}

// Returns the number of steps until `rank` is reported as persistently slow; 0:
// it is not reported within `most` steps.
int StepsUntilNamed(Training& training, const std::vector<double>& own,
                    int rank, int most = 100) {
  for (int step = 1; step <= most; ++step) {
    const auto changes = training.Step(own);
    for (const auto& change : changes) {
      EXPECT_EQ(change.rank.rank, rank);
      EXPECT_TRUE(change.rank.is_persistent);
      EXPECT_FALSE(change.recovered);
    }
    if (!changes.empty()) return step;
  }
  return 0;
}

TEST(StragglerWatch, EqualRanksNameNobody) {
  Training training(4, 0.1);
  EXPECT_EQ(StepsUntilNamed(training, With(4, -1, 1), 0), 0);
  EXPECT_THAT(training.watch().slow(), IsEmpty());
  EXPECT_EQ(training.watch().gain(), 0);
}

TEST(StragglerWatch, ASlowRankIsNamedWithin20StepsWithItsRatioAndTheGain) {
  Training training(4, 0.1);
  for (int i = 0; i < 50; ++i) training.Step(With(4, -1, 1));
  EXPECT_EQ(StepsUntilNamed(training, With(4, 2, 1.5), 2),
            StragglerWatch::kPersistentVotes);
  for (int i = 0; i < StragglerWatch::kWindows; ++i) {
    training.Step(With(4, 2, 1.5));
  }
  ASSERT_EQ(training.watch().slow().size(), 1u);
  const SlowRank& slow = training.watch().slow()[0];
  EXPECT_EQ(slow.rank, 2);
  EXPECT_EQ(slow.phase, SlowPhase::kCompute);
  EXPECT_NEAR(slow.ratio, 1.5, 1e-5);
  // Because of the slow rank, each step takes 1.45 s instead of 1 s. gain() is
  // the part of a step that would be saved without the slow rank.
  EXPECT_NEAR(training.watch().gain(), 0.45 / 1.45, 1e-5);
}

TEST(StragglerWatch, TheLastRankWaitsForNobodyAndAllTransferAsLong) {
  Training training(4, 0.1);
  training.Step({0.7, 0.9, 0.8, 0.6});  // the first times are no window
  for (int step = 0; step < 10; ++step) training.Step({0.7, 0.9, 0.8, 0.6});
  const std::vector<double> waits = {0.2, 0, 0.1, 0.3};
  for (int rank = 0; rank < 4; ++rank) {
    const StragglerWatch::Division divided = training.watch().DivisionOf(rank);
    EXPECT_NEAR(ToSeconds(divided.wait), 10 * waits[rank], 1e-4) << rank;
    EXPECT_NEAR(ToSeconds(divided.transfer), 10 * 0.1, 1e-4) << rank;
  }
}

TEST(StragglerWatch, AWindowIsDividedOnce) {
  Training training(2, 0.1);
  for (int step = 0; step < 3; ++step) training.Step({0.9, 0.6});
  const Duration wait = training.watch().DivisionOf(1).wait;
  const Duration transfer = training.watch().DivisionOf(1).transfer;
  training.watch().Evaluate(training.now(),
                            {{.rank = 0, .times = training.times(0)},
                             {.rank = 1, .times = training.times(1)}});
  EXPECT_EQ(training.watch().DivisionOf(1).wait, wait);
  EXPECT_EQ(training.watch().DivisionOf(1).transfer, transfer);
}

TEST(StragglerWatch, RanksThatAreLastInTurnLeaveTheWaitOfEachWindowVisible) {
  Training training(2, 0.1);
  training.Step({0.9, 0.9});
  for (int step = 0; step < 10; ++step) {
    training.Step(step % 2 == 0 ? std::vector<double>{0.9, 0.6}
                                : std::vector<double>{0.6, 0.9});
  }
  for (int rank = 0; rank < 2; ++rank) {
    const StragglerWatch::Division divided = training.watch().DivisionOf(rank);
    EXPECT_NEAR(ToSeconds(divided.wait), 5 * 0.3, 1e-4);
    EXPECT_NEAR(ToSeconds(divided.transfer), 10 * 0.1, 1e-4);
  }
}

TEST(StragglerWatch, NothingIsDividedWithoutTheTimesOfEachRank) {
  Training training(3, 0.1);
  for (int step = 0; step < 10; ++step) {
    for (int rank = 0; rank < 2; ++rank) {
      training.times(rank).own += milliseconds(600);
      training.times(rank).blocked += milliseconds(400);
    }
    training.watch().Evaluate(training.now(),
                              {{.rank = 0, .times = training.times(0)},
                               {.rank = 1, .times = training.times(1)}});
  }
  EXPECT_EQ(training.watch().DivisionOf(0).transfer, Duration::zero());
  EXPECT_EQ(training.watch().DivisionOf(0).wait, Duration::zero());
  EXPECT_EQ(training.watch().DivisionOf(-1).wait, Duration::zero());
  EXPECT_EQ(training.watch().DivisionOf(1'000'000).wait, Duration::zero());
}

TEST(StragglerWatch, OfTwoRanksTheSlowerOneIsNamed) {
  for (int slow = 0; slow < 2; ++slow) {
    Training training(2, 0.1);
    EXPECT_EQ(StepsUntilNamed(training, With(2, slow, 1.3), slow), 19);
  }
}

TEST(StragglerWatch, TwoOfFourSlowRanksAreBothNamed) {
  Training training(4, 0.1);
  std::vector<double> own = With(4, 1, 1.5);
  own[3] = own[1];
  for (int i = 0; i < 25; ++i) training.Step(own);
  ASSERT_EQ(training.watch().slow().size(), 2u);
  EXPECT_EQ(training.watch().slow()[0].rank, 1);
  EXPECT_EQ(training.watch().slow()[1].rank, 3);
  // A step takes 1.45 s. It would take 1 s if both slow ranks were as quick as
  // the others. gain() is the fraction of the step that would be saved.
  EXPECT_NEAR(training.watch().gain(), 0.45 / 1.45, 1e-5);
}

TEST(StragglerWatch, OneRankAloneIsNotJudged) {
  Training training(3, 0.1);
  for (int i = 0; i < 40; ++i) {
    RankTimes& times = training.times(1);
    times.own += seconds(9);
    times.blocked += seconds(1);
    EXPECT_THAT(training.watch().Evaluate(training.now(),
                                          {{.rank = 1, .times = times}}),
                IsEmpty());
  }
  EXPECT_THAT(training.watch().slow(), IsEmpty());
}

TEST(StragglerWatch, ASmallDifferenceNamesNobody) {
  // The slow rank's share of own work is less than kMinRatio times the median
  // share, so the rank is not reported as slow.
  Training training(4, 0.5);
  EXPECT_EQ(StepsUntilNamed(training, With(4, 1, 1.08), 1), 0);
  // The slow rank's share of own work is more than kMinRatio times the median
  // share. But it exceeds the median by less than kMinExcess, so the rank is
  // not reported as slow.
  Training short_work(4, 30);
  EXPECT_EQ(StepsUntilNamed(short_work, With(4, 1, 2), 1), 0);
}

TEST(StragglerWatch, RanksThatAlwaysDifferNameNobody) {
  // The ranks' shares of own work are evenly spaced, so no rank is an outlier.
  Training training(5, 0.1);
  for (int i = 0; i < 40; ++i) training.Step({0.5, 0.6, 0.7, 0.8, 0.9});
  EXPECT_THAT(training.watch().slow(), IsEmpty());
}

TEST(StragglerWatch, AFewSlowWindowsArePassing) {
  Training training(4, 0.1);
  for (int i = 0; i < 20; ++i) training.Step(With(4, -1, 1));
  for (int i = 0; i < StragglerWatch::kPassingVotes - 1; ++i) {
    EXPECT_THAT(training.Step(With(4, 0, 2)), IsEmpty());
    EXPECT_THAT(training.watch().slow(), IsEmpty());
  }
  EXPECT_THAT(training.Step(With(4, 0, 2)), IsEmpty());
  ASSERT_EQ(training.watch().slow().size(), 1u);
  EXPECT_FALSE(training.watch().slow()[0].is_persistent);
}

TEST(StragglerWatch, OneLongPauseNamesNobody) {
  Training training(4, 0.1);
  for (int i = 0; i < 20; ++i) training.Step(With(4, -1, 1));
  training.Step(With(4, 3, 100));
  for (int i = 0; i < 40; ++i) {
    EXPECT_THAT(training.Step(With(4, -1, 1)), IsEmpty());
    EXPECT_THAT(training.watch().slow(), IsEmpty());
  }
}

TEST(StragglerWatch, ARankThatRecoversIsToldOnce) {
  Training training(4, 0.1);
  EXPECT_EQ(StepsUntilNamed(training, With(4, 1, 1.5), 1), 19);
  EXPECT_EQ(training.watch().slow().size(), 1u);
  int recovered = 0;
  for (int step = 1; step <= 40; ++step) {
    for (const auto& change : training.Step(With(4, -1, 1))) {
      EXPECT_EQ(change.rank.rank, 1);
      EXPECT_TRUE(change.recovered);
      recovered = step;
    }
  }
  // All kWindows windows of rank 1 were slow. Each normal step replaces one of
  // them by a window that is not slow. Rank 1 has recovered once fewer than
  // kPassingVotes slow windows are left.
  EXPECT_EQ(recovered,
            StragglerWatch::kWindows - StragglerWatch::kPassingVotes + 1);
  EXPECT_THAT(training.watch().slow(), IsEmpty());
}

TEST(StragglerWatch, WaitingForDataIsToldFromComputing) {
  Training training(4, 0.1);
  for (int i = 0; i < 25; ++i) {
    for (int rank = 0; rank < 4; ++rank) {
      training.times(rank).data += milliseconds(rank == 2 ? 450 : 100);
    }
    training.Step(With(4, 2, 1.5));
  }
  ASSERT_EQ(training.watch().slow().size(), 1u);
  EXPECT_EQ(training.watch().slow()[0].phase, SlowPhase::kData);
}

// Performs `steps` steps of a ring of 4 ranks. In each step, the links from
// rank 0 to rank 1 and from rank 1 to rank 2 take `slow_s` seconds each.
// Returns the changes of the slow ranks.
std::vector<StragglerWatch::Change> TrainOverRing(Training& training, int steps,
                                                  double slow_s) {
  std::vector<StragglerWatch::Change> changes;
  for (int step = 0; step < steps; ++step) {
    for (int rank = 0; rank < 4; ++rank) {
      training.AddLinkTime(rank, (rank + 1) % 4, rank <= 1 ? slow_s : 0.1);
    }
    for (const auto& change : training.Step(With(4, 3, 1.5))) {
      changes.push_back(change);
    }
  }
  return changes;
}

TEST(StragglerWatch, ASlowNetworkIsNamedBesideASlowRank) {
  Training training(4, 0.1);
  const auto changes = TrainOverRing(training, 25, 0.6);
  ASSERT_EQ(changes.size(), 2u);
  const std::vector<SlowRank>& slow = training.watch().slow();
  ASSERT_EQ(slow.size(), 2u);
  EXPECT_EQ(slow[0].rank, 1);
  EXPECT_EQ(slow[0].phase, SlowPhase::kNetwork);
  EXPECT_TRUE(slow[0].is_persistent);
  EXPECT_NEAR(slow[0].ratio, 6, 1e-5);
  // A step takes 1.45 s, of which 0.1 s are the transfer.
  ASSERT_TRUE(slow[0].max_gain.has_value());
  EXPECT_NEAR(*slow[0].max_gain, 0.1 / 1.45 * (1 - 1 / 6.0), 1e-3);
  EXPECT_FALSE(slow[1].max_gain.has_value());
  EXPECT_EQ(slow[1].rank, 3);
  EXPECT_EQ(slow[1].phase, SlowPhase::kCompute);
  const auto later = TrainOverRing(training, 25, 0.1);
  ASSERT_EQ(later.size(), 1u);
  EXPECT_TRUE(later[0].recovered);
  EXPECT_EQ(later[0].rank.phase, SlowPhase::kNetwork);
  EXPECT_EQ(training.watch().slow().size(), 1u);
}

TEST(StragglerWatch, ANewRoundForgetsTheLinks) {
  Training training(4, 0.1);
  EXPECT_EQ(TrainOverRing(training, 18, 0.6).size(), 0u);
  training.watch().Begin(2, 4);
  EXPECT_EQ(TrainOverRing(training, 18, 0.6).size(), 0u);
  EXPECT_EQ(TrainOverRing(training, 1, 0.6).size(), 2u);
}

TEST(StragglerWatch, ANewMeasurementAndANewRoundBeginAnew) {
  Training training(4, 0.1);
  for (int i = 0; i < 18; ++i) training.Step(With(4, 1, 1.5));
  training.times(1) = RankTimes();
  EXPECT_THAT(training.Step(With(4, 1, 1.5)), IsEmpty());
  EXPECT_EQ(StepsUntilNamed(training, With(4, 1, 1.5), 1), 18);
  training.watch().Begin(2, 4);
  EXPECT_EQ(training.watch().round(), 2);
  EXPECT_THAT(training.watch().slow(), IsEmpty());
  EXPECT_EQ(training.watch().gain(), 0);
  EXPECT_THAT(training.Step(With(4, 1, 1.5)), IsEmpty());
  EXPECT_EQ(StepsUntilNamed(training, With(4, 1, 1.5), 1), 18);
}

TEST(StragglerWatch, ShortStepsShareAWindow) {
  Training training(2, 0.01);
  // A step takes 0.1 s, and a window at least 0.5 s, so a window has at least 5
  // steps.
  int step = 0;
  while (training.Step({0.09, 0.06}).empty()) ++step;
  EXPECT_GE(step, 5 * (StragglerWatch::kPersistentVotes - 1));
}

TEST(StragglerWatch, TheIntervalGrowsWithTheRanks) {
  StragglerWatch watch;
  const Instant now{hours(1)};
  EXPECT_TRUE(watch.IsDue(now));
  watch.Begin(1, 100);
  watch.Evaluate(now, {});
  EXPECT_FALSE(watch.IsDue(now + milliseconds(999)));
  EXPECT_TRUE(watch.IsDue(now + seconds(1)));
  watch.Begin(2, 80'000);
  watch.Evaluate(now, {});
  EXPECT_FALSE(watch.IsDue(now + milliseconds(3999)));
  EXPECT_TRUE(watch.IsDue(now + seconds(4)));
}

TEST(StragglerWatch, AnyTimesAreAccepted) {
  StragglerWatch watch;
  watch.Begin(1, 2);
  const Duration most = Duration::max();
  for (int i = 0; i < 40; ++i) {
    const RankTimes high{.own = most, .blocked = most, .data = most};
    watch.Evaluate(Instant(hours(i)),
                   {{.rank = 0, .times = high}, {.rank = 1, .times = {}}});
    watch.Evaluate(Instant(hours(i)),
                   {{.rank = 0, .times = {}}, {.rank = 1, .times = high}});
  }
  EXPECT_THAT(watch.slow(), IsEmpty());
  watch.Begin(2, 2);
  watch.Evaluate(Instant(hours(50)),
                 {{.rank = 0, .times = {}}, {.rank = 1, .times = {}}});
  watch.Evaluate(Instant(hours(51)),
                 {{.rank = 0, .times = {.blocked = most}},
                  {.rank = 1, .times = {.own = seconds(1)}}});
  EXPECT_GT(watch.DivisionOf(0).wait, hours(1));
}

// Noise of a busy machine, random with a seed. Each step of each rank varies by
// `deviation`. Sometimes a rank pauses, at times for many steps (a heavy tail).
// Now and then another process takes half of one rank's processor for several
// steps.
class Noise {
 public:
  Noise(uint64_t seed, int ranks, double deviation)
      : random_(seed),
        deviation_(deviation),
        beside_(static_cast<size_t>(ranks), 0) {}

  double Of(int rank, double own_s) {
    double result = own_s * std::exp(std::normal_distribution<double>(
                                0, deviation_)(random_));
    if (Chance(0.01)) result += own_s * 0.3 / std::pow(Uniform(), 0.7);
    if (beside_[rank] > 0) {
      --beside_[rank];
      result += own_s * 0.5 * Uniform();
    } else if (Chance(0.005)) {
      beside_[rank] = 1 + static_cast<int>(8 * Uniform());
    }
    return result;
  }

 private:
  double Uniform() {
    return std::uniform_real_distribution<double>(1e-6, 1)(random_);
  }
  bool Chance(double probability) { return Uniform() < probability; }

  std::mt19937_64 random_;
  const double deviation_;
  // Number of steps for which another process still takes half of the rank's
  // processor, by rank.
  std::vector<int> beside_;
};

TEST(StragglerWatch, AnHourOfNoiseNamesNobody) {
  for (uint64_t seed = 1; seed <= 4; ++seed) {
    for (const int ranks : {2, 3, 4, 8, 64}) {
      Noise noise(seed, ranks, 0.1);
      Noise links(seed + 1000, ranks, 0.5);
      Training training(ranks, 0.1);
      std::vector<double> own(static_cast<size_t>(ranks));
      for (int step = 0; step < 3600; ++step) {
        for (int rank = 0; rank < ranks; ++rank) {
          own[rank] = noise.Of(rank, 0.9);
          // Each rank sends to the next rank of a ring. The times of these
          // sends vary at random, as the ranks' own work does.
          training.AddLinkTime(rank, (rank + 1) % ranks, links.Of(rank, 0.3));
        }
        EXPECT_THAT(training.Step(own), IsEmpty())
            << "seed " << seed << ", " << ranks << " ranks, step " << step;
      }
    }
  }
}

TEST(StragglerWatch, AmongNoiseARankSlowerByAFifthIsNamed) {
  int named_in_20 = 0;
  int cases = 0;
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    for (const int ranks : {4, 8, 64}) {
      Noise noise(seed, ranks, 0.05);
      Training training(ranks, 0.1);
      std::vector<double> own(static_cast<size_t>(ranks));
      int named = 0;
      for (int step = 1; step <= 200 && named == 0; ++step) {
        for (int rank = 0; rank < ranks; ++rank) {
          own[rank] = noise.Of(rank, rank == 1 ? 1.08 : 0.9);
        }
        const auto changes = training.Step(own);
        if (changes.empty()) continue;
        EXPECT_EQ(changes[0].rank.rank, 1) << "seed " << seed;
        named = step;
      }
      EXPECT_GT(named, 0) << "seed " << seed << ", " << ranks << " ranks";
      ++cases;
      named_in_20 += named > 0 && named <= 20 ? 1 : 0;
    }
  }
  EXPECT_GE(named_in_20, cases * 3 / 4);
}

}  // namespace
}  // namespace muster::rendezvous
