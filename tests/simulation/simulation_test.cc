// Tests whole simulated clusters, always with the same seeds.

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "tests/simulation/cluster.h"
#include "tests/simulation/seeds.h"

namespace muster::simulation {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr int kSeedsPerBlock = 50;
#else
constexpr int kSeedsPerBlock = 300;
#endif
constexpr int kBlocks = 8;

class SimulationTest : public ::testing::TestWithParam<int> {};

TEST_P(SimulationTest, EveryInvariantHolds) {
  const int first = 1 + GetParam() * kSeedsPerBlock;
  EXPECT_EQ(FirstFailure(SeedsFrom(first, kSeedsPerBlock)), "");
}

INSTANTIATE_TEST_SUITE_P(Blocks, SimulationTest, ::testing::Range(0, kBlocks));

// Seeds that once revealed a defect of a state machine or of a checker. They
// are grouped by the event that revealed it.
TEST(Simulation, SeedsThatOnceFailedPass) {
  EXPECT_EQ(FirstFailure({
                // Seeds with this event: a worker hangs while its node stops
                // its workers.
                1000016090,
                1000034231,
                1000040332,
                1000044063,
                1000056986,
                1000059620,
                1000080208,
                1000087897,
                1000089554,
                1000098703,
                1000099690,
                1000103960,
                1000108988,
                1000113966,
                // Seeds with this event: the coordinator crashes after the
                // notice of a preemption.
                1000028840,
                1000032997,
                1000036139,
                1000068824,
                1000094801,
                // Seeds with this event: a signal is forwarded in the step in
                // which a round breaks and the next one starts.
                7000202604,
                7000664307,
                7000950219,
                // Seeds with this event: a node of the world succeeds and
                // leaves the job, and its place in the world stays taken.
                7000259858,
                7000356920,
                7000991113,
                // Seeds with this event: a worker stops reporting after SIGKILL
                // was sent to it.
                7000401256,
                7000558980,
                // Seeds with this event: two agents claim the same node. A
                // report of the second one arrives late, on a stream that a
                // newer stream has replaced.
                7000624637,
                // Seeds with this event: a second Ctrl-C arrives just before
                // the end of the grace period.
                8000430807,
                8000527955,
            }),
            "");
}

TEST(Simulation, TheSameSeedHasTheSameTrace) {
  std::map<uint64_t, int> traces;
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    Cluster one(seed, Trace::Echo::kNo);
    Cluster two(seed, Trace::Echo::kNo);
    one.Run();
    two.Run();
    EXPECT_EQ(one.stage().trace.hash(), two.stage().trace.hash()) << seed;
    ++traces[one.stage().trace.hash()];
  }
  EXPECT_EQ(traces.size(), 40u) << "two seeds have the same trace";
}

// The seeds must produce every kind of event at least once.
TEST(Simulation, TheSeedsProduceEveryKindOfEvent) {
  std::map<std::string, int> seen;
  for (uint64_t seed = 1; seed <= 400; ++seed) {
    Cluster cluster(seed, Trace::Echo::kNo);
    cluster.Run();
    for (const auto& [what, times] : cluster.stage().census) {
      seen[what] += times;
    }
  }
  for (const char* what : {"join",
                           "assign",
                           "break",
                           "lost",
                           "failure",
                           "leave",
                           "blame",
                           "signal",
                           "finish",
                           "coordinator restart",
                           "agent killed",
                           "agent paused",
                           "guardian died",
                           "stream broken",
                           "worker crashed",
                           "start failure",
                           "clogged",
                           "cut off",
                           "worker hung",
                           "stack taken",
                           "rank",
                           "in contention",
                           "refused",
                           "released",
                           "job succeeded",
                           "job failed",
                           "job cancelled",
                           "job timed out",
                           "preempt",
                           "announced",
                           "checked",
                           "found unhealthy",
                           "successor",
                           "unhealthy",
                           "healthy",
                           "job preempted",
                           "check",
                           "measured",
                           "check cut short",
                           "GPU error",
                           "fault"}) {
    EXPECT_GE(seen[what], 3) << what;
  }
  for (const char* what :
       {"founded", "elected", "deposed", "stand by", "moved", "partition",
        "link given up", "coordinator killed", "coordinator paused",
        "released agent comes to a successor"}) {
    EXPECT_GE(seen[what], 3) << what;
  }
  for (const char* what :
       {"leader elected", "leader continued", "leadership lost",
        "daemon killed", "daemon terminated", "daemon paused", "daemon cut off",
        "etcd is stopped", "etcd is slow", "record not written"}) {
    EXPECT_GE(seen[what], 3) << what;
  }
}

}  // namespace
}  // namespace muster::simulation
