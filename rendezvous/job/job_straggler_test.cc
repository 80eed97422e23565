// Tests of ranks that are slower than the others: operators see them, and with
// JobSpec::evict_stragglers the node of a slow rank gives its place to a spare.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "rendezvous/job/job_fixture.h"

namespace muster::rendezvous {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// A job of two nodes, a and b, with two ranks each.
class JobStraggler : public ::testing::Test {
 protected:
  explicit JobStraggler(JobSpec spec = QuickSpec(2, 2)) : job_(spec) {
    for (const std::string name : {"a", "b"}) {
      job_.Create(name).report.node.slots = 2;
    }
    job_.StartAll({"a", "b"});
  }

  // Lets the job train for `steps` steps of one second each. In each step local
  // rank 1 of node b computes for 0.9 s, and every other rank for `others`.
  void Train(int steps, Duration others) {
    for (int step = 0; step < steps; ++step) {
      for (const std::string name : {"a", "b"}) {
        std::vector<RankTimes>& times = job_.agent(name).report.times;
        if (times.empty()) times = {{.local_rank = 0}, {.local_rank = 1}};
        for (RankTimes& one : times) {
          const bool is_slow = name == "b" && one.local_rank == 1;
          one.own += is_slow ? milliseconds(900) : others;
          one.blocked += seconds(1) - (is_slow ? milliseconds(900) : others);
        }
      }
      // In this second the fixture sends a report of each node with the new
      // times.
      job_.Wait(seconds(1));
    }
  }

  JobFixture job_;
};

TEST_F(JobStraggler, IsNamedWithItsPlaceAndShownUntilItRecovers) {
  Train(25, milliseconds(600));
  EXPECT_EQ(job_.Count("straggler"), 1);
  EXPECT_EQ(job_.Decided("straggler"),
            "rank 3 (b, local rank 1) is slow: its own work takes 1.50 times "
            "the median of the ranks; without slow ranks a step would be 30 % "
            "shorter");
  JobStatus status = job_.status();
  ASSERT_EQ(status.slow_ranks.size(), 1u);
  EXPECT_EQ(status.slow_ranks[0].rank, 3);
  EXPECT_EQ(status.slow_ranks[0].node_id, "b");
  EXPECT_EQ(status.slow_ranks[0].host, "b");
  EXPECT_EQ(status.slow_ranks[0].local_rank, 1);
  EXPECT_TRUE(status.slow_ranks[0].is_persistent);
  EXPECT_NEAR(status.slow_ranks_gain, 0.3, 1e-5);
  Train(25, milliseconds(900));
  EXPECT_EQ(job_.Count("straggler"), 2);
  EXPECT_EQ(job_.Decided("straggler"),
            "rank 3 (b, local rank 1) is as quick as the others again");
  EXPECT_THAT(job_.status().slow_ranks, IsEmpty());
  EXPECT_EQ(job_.phase(), JobPhase::kRunning);
}

TEST_F(JobStraggler, TheOtherRanksWaitForItAndAllTransferAsLong) {
  // Two steps are not divided: the first one only begins a window, and the last
  // one has not been compared yet.
  Train(12, milliseconds(600));
  for (const NodeStatus& node : job_.status().nodes) {
    for (const WorkerTimes& times : node.times) {
      const bool is_slow = node.node.node_id == "b" && times.local_rank == 1;
      EXPECT_NEAR(ToSeconds(times.wait), is_slow ? 0 : 3, 1e-4);
      EXPECT_NEAR(ToSeconds(times.transfer), 1, 1e-4);
      EXPECT_LE(times.wait + times.transfer, times.collectives);
    }
  }
  job_.Lose("a");
  job_.Join("c");
  job_.AllStop();
  job_.Runs("b");
  ASSERT_EQ(job_.round(), 2);
  for (const NodeStatus& node : job_.status().nodes) {
    for (const WorkerTimes& times : node.times) {
      EXPECT_GT(times.collectives, Duration::zero());
      EXPECT_EQ(times.transfer, Duration::zero()) << "of round 1";
    }
  }
}

TEST_F(JobStraggler, IsNamedWithItsGpuIfItsNodeTellsIt) {
  job_.agent("a").report.node.gpus = {"0", "1"};
  job_.agent("b").report.node.gpus = {"4"};
  job_.ReplaceCoordinator();
  job_.Reconnect("a");
  job_.Reconnect("b");
  Train(25, milliseconds(600));
  ASSERT_EQ(job_.status().slow_ranks.size(), 1u);
  EXPECT_EQ(job_.status().slow_ranks[0].gpu, "") << "b names one GPU only";
  job_.agent("b").report.node.gpus = {"4", "MIG-4f5a"};
  job_.ReplaceCoordinator();
  job_.Reconnect("a");
  job_.Reconnect("b");
  Train(25, milliseconds(600));
  EXPECT_THAT(job_.Decided("straggler"),
              HasSubstr("rank 3 (b, local rank 1, GPU MIG-4f5a) is slow"));
  ASSERT_EQ(job_.status().slow_ranks.size(), 1u);
  EXPECT_EQ(job_.status().slow_ranks[0].gpu, "MIG-4f5a");
}

TEST_F(JobStraggler, StaysWithoutTheWishToEvictIt) {
  job_.Join("c");
  Train(30, milliseconds(600));
  EXPECT_EQ(job_.Count("straggler"), 1);
  EXPECT_EQ(job_.phase(), JobPhase::kRunning);
}

TEST_F(JobStraggler, ANewRoundBeginsAnew) {
  Train(25, milliseconds(600));
  ASSERT_EQ(job_.status().slow_ranks.size(), 1u);
  job_.Join("c");
  job_.Lose("a");
  EXPECT_THAT(job_.status().slow_ranks, IsEmpty());
}

JobSpec EvictingSpec() {
  JobSpec spec = QuickSpec(2, 2);
  spec.max_restarts = 1;
  spec.evict_stragglers = true;
  return spec;
}

class JobEviction : public JobStraggler {
 protected:
  JobEviction() : JobStraggler(EvictingSpec()) {}
};

TEST_F(JobEviction, WaitsForASpareThatTakesThePlace) {
  Train(30, milliseconds(600));
  EXPECT_EQ(job_.Count("straggler"), 1);
  EXPECT_EQ(job_.phase(), JobPhase::kRunning);
  job_.Join("c");
  Train(2, milliseconds(600));
  EXPECT_EQ(job_.phase(), JobPhase::kStopping);
  EXPECT_THAT(job_.told("a").reason,
              HasSubstr("goes: rank 3 is slow and a spare is ready"));
  job_.AllStop();
  EXPECT_EQ(job_.phase(), JobPhase::kRunning);
  EXPECT_EQ(job_.World(), (std::vector<std::string>{"a", "c"}));
  EXPECT_EQ(job_.kind("b"), DirectiveKind::kReleased);
  EXPECT_EQ(job_.status().restarts_used, 0);
}

TEST_F(JobEviction, APassingStragglerStays) {
  job_.Join("c");
  Train(12, milliseconds(600));
  EXPECT_FALSE(job_.status().slow_ranks.empty());
  EXPECT_EQ(job_.phase(), JobPhase::kRunning);
}

TEST_F(JobEviction, ASlowRankOfAnEarlierRoundStays) {
  Train(25, milliseconds(600));
  // No time passes until the next round runs, so that the ranks are not judged
  // again.
  job_.Fails("a", ExitedWith(0, 3));
  ASSERT_EQ(job_.phase(), JobPhase::kStopping);
  job_.AllStop();
  ASSERT_EQ(job_.phase(), JobPhase::kRunning);
  ASSERT_EQ(job_.World(), (std::vector<std::string>{"a", "b"}));
  job_.Join("c");
  EXPECT_EQ(job_.phase(), JobPhase::kRunning) << job_.Decided("break");
}

TEST_F(JobEviction, DoesNotDisturbAPreemptedJob) {
  Train(25, milliseconds(600));
  job_.agent("a").report.preemption =
      PreemptionNotice{.signal = 10, .host = "a", .left = seconds(100)};
  job_.Report("a");
  job_.Join("c");
  Train(5, milliseconds(600));
  EXPECT_EQ(job_.phase(), JobPhase::kRunning);
}

TEST_F(JobEviction, DoesNotDisturbARoundThatEnds) {
  Train(25, milliseconds(600));
  job_.Succeeds("a");
  job_.Join("c");
  Train(5, milliseconds(600));
  EXPECT_EQ(job_.phase(), JobPhase::kRunning);
}

TEST(JobStragglerNetwork, ANodeWithASlowNetworkIsNamedUntilItRecovers) {
  JobFixture job(QuickSpec(3, 3));
  const std::vector<std::string> names = {"a", "b", "c"};
  for (const std::string& name : names) job.Create(name).report.node.slots = 1;
  job.StartAll(names);
  // Simulates training steps of one second. The ranks send in a ring: a to b, b
  // to c, c to a. In each step the network delays the transfers of a and b by
  // `to_b_and_from_b`, and those of c by 50 ms.
  const auto train = [&](int steps, Duration to_b_and_from_b) {
    for (int step = 0; step < steps; ++step) {
      for (int rank = 0; rank < 3; ++rank) {
        std::vector<RankTimes>& times = job.agent(names[rank]).report.times;
        if (times.empty()) {
          times = {{.local_rank = 0, .links = {{.peer = (rank + 1) % 3}}}};
        }
        times[0].own += milliseconds(100);
        times[0].blocked += milliseconds(900);
        times[0].sent += 1'000'000;
        times[0].links[0].limited +=
            rank == 2 ? milliseconds(50) : to_b_and_from_b;
      }
      job.Wait(seconds(1));
    }
  };
  train(25, milliseconds(600));
  EXPECT_EQ(job.Count("straggler"), 1);
  EXPECT_EQ(job.Decided("straggler"),
            "rank 1 (b, local rank 0) has a slow network: it limits the "
            "transfers from and to the node 12.0 times as long as those "
            "between other nodes; with a network as quick as the others a step "
            "would be up to 82 % shorter");
  ASSERT_EQ(job.status().slow_ranks.size(), 1u);
  EXPECT_EQ(job.status().slow_ranks[0].node_id, "b");
  EXPECT_EQ(job.status().slow_ranks[0].phase, SlowPhase::kNetwork);
  // The ranks transfer for 0.9 of the time, and wait for no rank.
  EXPECT_NEAR(job.status().slow_ranks[0].max_gain.value_or(0),
              0.9 * (1 - 1 / 12.0), 1e-4);
  train(25, milliseconds(50));
  EXPECT_EQ(job.Decided("straggler"),
            "the network of rank 1 (b, local rank 0) is as quick as the others "
            "again");
}

}  // namespace
}  // namespace muster::rendezvous
