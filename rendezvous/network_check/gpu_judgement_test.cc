#include "rendezvous/network_check/gpu_judgement.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "absl/strings/str_cat.h"

namespace muster::rendezvous {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr double kRate = 100e9;
constexpr double kKernel = 0.010;

PairMeasurement Good(const std::string& kind = "8 x GPU") {
  return {.gpu_kind = kind, .gpu_bytes_per_s = kRate, .gpu_compute_s = kKernel};
}

PairMeasurement Rate(double bytes_per_s) {
  PairMeasurement measured = Good();
  measured.gpu_bytes_per_s = bytes_per_s;
  return measured;
}

PairMeasurement Failed(const std::string& why) {
  PairMeasurement measured = Good();
  measured.gpu_bytes_per_s = 0;
  measured.gpu_failure = why;
  return measured;
}

GpuPairing Pair(int one, const PairMeasurement& of_one, int other,
                const PairMeasurement& of_other) {
  return {{absl::StrCat("n", one), absl::StrCat("h", one), of_one},
          {absl::StrCat("n", other), absl::StrCat("h", other), of_other}};
}

// Returns good pairs of nodes 0 to 5 in two rounds. Node 0 has met nodes 1 and
// 3.
std::vector<GpuPairing> GoodPairs() {
  std::vector<GpuPairing> pairs;
  for (const auto& [one, other] :
       {std::pair{0, 1}, {2, 3}, {4, 5}, {0, 3}, {1, 4}, {2, 5}}) {
    pairs.push_back(Pair(one, Good(), other, Good()));
  }
  return pairs;
}

// Returns GoodPairs, but with other results in the two pairs of node 0: `own`
// for node 0, and `partners` for its partners, nodes 1 and 3.
std::vector<GpuPairing> PairsOfNode0(const PairMeasurement& own,
                                     const PairMeasurement& partners) {
  std::vector<GpuPairing> pairs = GoodPairs();
  pairs[0] = Pair(0, own, 1, partners);
  pairs[3] = Pair(0, own, 3, partners);
  return pairs;
}

CheckGrade Grade(const std::vector<GpuPairing>& pairs, int node) {
  const auto findings = JudgeGpus(pairs);
  const auto found = findings.find(absl::StrCat("n", node));
  return found == findings.end() ? CheckGrade::kGood : found->second.grade;
}

std::string Why(const std::vector<GpuPairing>& pairs, int node) {
  return JudgeGpus(pairs).at(absl::StrCat("n", node)).why;
}

int CountNotGood(const std::vector<GpuPairing>& pairs) {
  int count = 0;
  for (const auto& [id, finding] : JudgeGpus(pairs)) {
    count += finding.grade != CheckGrade::kGood ? 1 : 0;
  }
  return count;
}

TEST(GpuJudgement, EqualGpusAreGood) {
  EXPECT_EQ(CountNotGood(GoodPairs()), 0);
}

TEST(GpuJudgement, NodesWithoutGpusHaveNoFinding) {
  EXPECT_THAT(JudgeGpus({Pair(0, {}, 1, {})}), IsEmpty());
}

TEST(GpuJudgement, ALowRateWithTwoGoodPartnersIsBad) {
  const auto pairs = PairsOfNode0(Rate(30e9), Good());
  EXPECT_EQ(Grade(pairs, 0), CheckGrade::kSlow);
  EXPECT_EQ(CountNotGood(pairs), 1);
  EXPECT_EQ(Why(pairs, 0),
            "30 GB/s between GPUs with h1, 30 GB/s between GPUs with h3; the "
            "median is 100 GB/s");
}

TEST(GpuJudgement, SmallDifferencesAreGood) {
  PairMeasurement measured = Rate(35e9);
  measured.gpu_compute_s = 1.9 * kKernel;
  EXPECT_EQ(CountNotGood(PairsOfNode0(measured, Good())), 0);
}

TEST(GpuJudgement, AFailureWithTwoGoodPartnersIsBad) {
  PairMeasurement broken = Failed("no memory");
  broken.gpu_kind.clear();
  broken.gpu_compute_s = 0;
  const auto pairs = PairsOfNode0(broken, Rate(0));
  EXPECT_EQ(Grade(pairs, 0), CheckGrade::kFailed);
  EXPECT_EQ(CountNotGood(pairs), 1);
  EXPECT_THAT(Why(pairs, 0), HasSubstr("GPUs with h1 (no memory)"));
}

TEST(GpuJudgement, OneBadPairIsNotEnough) {
  std::vector<GpuPairing> pairs = GoodPairs();
  pairs[0] = Pair(0, Failed("timed out"), 1, Failed("timed out"));
  pairs.erase(pairs.begin() + 3);
  EXPECT_EQ(Grade(pairs, 0), CheckGrade::kUndecided);
  EXPECT_EQ(CountNotGood(pairs), 1);
}

TEST(GpuJudgement, OneGoodPairIsEnough) {
  std::vector<GpuPairing> pairs = GoodPairs();
  pairs[0] = Pair(0, Failed("timed out"), 1, Failed("timed out"));
  EXPECT_EQ(CountNotGood(pairs), 0);
}

TEST(GpuJudgement, IfNcclFailsEverywhereNoNodeIsBad) {
  std::vector<GpuPairing> pairs = GoodPairs();
  for (GpuPairing& pair : pairs) {
    pair.one.measured = pair.other.measured = Failed("no route");
  }
  for (const auto& [id, finding] : JudgeGpus(pairs)) {
    EXPECT_EQ(finding.grade, CheckGrade::kUndecided) << id;
  }
}

TEST(GpuJudgement, ThePartnersFailureIsNamed) {
  std::vector<GpuPairing> pairs = {Pair(0, Rate(0), 1, Failed("no memory"))};
  EXPECT_EQ(Why(pairs, 0), "no measurement of GPUs with h1 (on h1: no memory)");
}

TEST(GpuJudgement, OnlyGpusOfOneKindAreCompared) {
  // The compute kernel takes three times as long on the older GPUs. They are
  // another kind of GPU, so they are not judged slow.
  PairMeasurement older = Good("8 x old");
  older.gpu_compute_s = 3 * kKernel;
  older.gpu_bytes_per_s = kRate / 5;
  std::vector<GpuPairing> pairs = GoodPairs();
  pairs.push_back(Pair(6, older, 7, older));
  pairs.push_back(Pair(8, older, 0, Good()));
  pairs.push_back(Pair(0, Good(), 9, older));
  EXPECT_EQ(CountNotGood(pairs), 0);
}

TEST(GpuJudgement, FewNodesAreNotCompared) {
  PairMeasurement slow = Rate(1e9);
  slow.gpu_compute_s = 10 * kKernel;
  EXPECT_EQ(CountNotGood({Pair(0, Good(), 1, slow)}), 0);
}

TEST(GpuJudgement, ASlowKernelNeedsNoPartner) {
  PairMeasurement measured = Good();
  measured.gpu_compute_s = 2.5 * kKernel;
  const auto pairs = PairsOfNode0(measured, Good());
  EXPECT_EQ(Grade(pairs, 0), CheckGrade::kSlow);
  EXPECT_EQ(CountNotGood(pairs), 1);
  EXPECT_EQ(Why(pairs, 0),
            "its compute kernel takes 25 ms on its slowest GPU, the median is "
            "10 ms");
}

TEST(GpuJudgement, TheShortestTimeOfTheKernelCounts) {
  PairMeasurement measured = Good();
  measured.gpu_compute_s = 2.5 * kKernel;
  std::vector<GpuPairing> pairs = GoodPairs();
  pairs[0] = Pair(0, measured, 1, Good());
  EXPECT_EQ(CountNotGood(pairs), 0);
}

TEST(GpuJudgement, HostileValuesAreNone) {
  for (const double value : {-1.0, 0.0, std::nan(""), HUGE_VAL}) {
    PairMeasurement hostile = Rate(value);
    hostile.gpu_compute_s = value;
    EXPECT_EQ(CountNotGood(PairsOfNode0(hostile, Good())), 0) << value;
    EXPECT_EQ(CountNotGood(PairsOfNode0(Good(), hostile)), 0) << value;
  }
}

}  // namespace
}  // namespace muster::rendezvous
