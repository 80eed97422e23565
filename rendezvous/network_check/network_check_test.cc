#include "rendezvous/network_check/network_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <set>

namespace muster::rendezvous {
namespace {

using std::chrono::seconds;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

using Grade = NetworkCheck::Grade;

constexpr double kRoundTrip = 0.0002;
constexpr double kRate = 1e9;
constexpr double kCompute = 0.010;

PairMeasurement Good() {
  return {
      .round_trip_s = kRoundTrip, .bytes_per_s = kRate, .compute_s = kCompute};
}

PairMeasurement Failed() {
  return {.failure = "connection timed out", .compute_s = kCompute};
}

// Runs a whole check. `answer(node, partner)` returns the answer of `node`;
// nullopt: the node does not answer.
class Runner {
 public:
  using Answer = std::function<std::optional<PairMeasurement>(
      const std::string& node, const std::string& partner)>;

  explicit Runner(int nodes) {
    for (int i = 0; i < nodes; ++i) Join(NameOf(i));
  }

  void Join(const std::string& name) { present_.push_back({name, name}); }
  // Gives the first `count` nodes GPUs.
  void GiveGpus(size_t count) {
    for (size_t i = 0; i < count; ++i) present_[i].gpus = 8;
  }

  // Begins the next round of the check. Returns false if no further round is
  // needed or possible.
  bool Begin() { return check_.BeginRound(now_, ++number_, present_); }

  void AnswerAll(const Answer& answer) {
    std::set<std::pair<std::string, std::string>> pairs;
    for (const auto& [id, host, gpus] : present_) {
      const auto partner = check_.PartnerOf(id);
      if (!partner.has_value()) continue;
      const auto back = check_.PartnerOf(partner->node_id);
      ASSERT_TRUE(back.has_value());
      EXPECT_EQ(back->node_id, id);
      EXPECT_NE(back->role, partner->role);
      const auto pair = std::minmax(id, partner->node_id);
      EXPECT_TRUE(pairs.insert(pair).second || pairs.count(pair) == 1);
      EXPECT_EQ(met_.count(pair), 0u)
          << id << " meets " << partner->node_id << " again";
    }
    for (const auto& pair : pairs) met_.insert(pair);
    for (const auto& [id, host, gpus] : present_) {
      const auto partner = check_.PartnerOf(id);
      if (!partner.has_value()) continue;
      std::optional<PairMeasurement> value = answer(id, partner->node_id);
      if (!value.has_value()) continue;
      value->number = number_;
      check_.Take(id, *value);
    }
    check_.EndRoundIfDue(now_);
    if (!check_.is_measuring()) return;
    now_ = *check_.Deadline();
    check_.EndRoundIfDue(now_);
    EXPECT_FALSE(check_.is_measuring());
  }

  void Run(const Answer& answer) {
    while (Begin()) {
      AnswerAll(answer);
      ASSERT_LE(check_.rounds(), 12);
    }
  }

  std::map<std::string, Grade> Grades() {
    std::map<std::string, Grade> grades;
    for (const auto& finding : check_.Judge()) {
      if (finding.grade != Grade::kGood)
        grades[finding.node_id] = finding.grade;
    }
    return grades;
  }
  std::string Why(const std::string& node) {
    for (const auto& finding : check_.Judge()) {
      if (finding.node_id == node) return finding.why;
    }
    return "no finding";
  }

  NetworkCheck& check() { return check_; }
  Instant& now() { return now_; }
  uint64_t number() const { return number_; }

 private:
  static std::string NameOf(int i) {
    return std::string(1, static_cast<char>('a' + i / 26)) +
           std::string(1, static_cast<char>('a' + i % 26));
  }

  Instant now_ = Instant(seconds(100));
  uint64_t number_ = 0;
  std::vector<NetworkCheck::Participant> present_;
  std::set<std::pair<std::string, std::string>> met_;
  NetworkCheck check_{now_};
};

// The answers of a cluster in which no node of `bad` can be reached.
Runner::Answer Unreachable(std::set<std::string> bad) {
  return [bad](const std::string& node, const std::string& partner) {
    return bad.count(node) + bad.count(partner) > 0 ? Failed() : Good();
  };
}

// The answers of a cluster in which the connections of `bad` are slow.
Runner::Answer Slow(std::set<std::string> bad) {
  return [bad](const std::string& node, const std::string& partner) {
    PairMeasurement value = Good();
    if (bad.count(node) + bad.count(partner) > 0) value.bytes_per_s /= 20;
    return value;
  };
}

TEST(NetworkCheck, EqualNodesAreGoodAfterTwoRounds) {
  for (const int nodes : {2, 4, 5, 7, 8, 31, 32, 200}) {
    Runner run(nodes);
    run.Run(Unreachable({}));
    EXPECT_THAT(run.Grades(), IsEmpty()) << nodes;
    EXPECT_EQ(run.check().rounds(), nodes == 2 ? 1 : 2) << nodes;
    EXPECT_EQ(run.check().Judge().size(), static_cast<size_t>(nodes));
  }
}

TEST(NetworkCheck, OneNodeHasNoPartner) {
  Runner run(1);
  EXPECT_FALSE(run.Begin());
  EXPECT_THAT(run.check().Judge(), IsEmpty());
}

TEST(NetworkCheck, BadNodeIsToldFromItsPartner) {
  for (const int nodes : {3, 4, 5, 8, 9}) {
    for (const char* bad : {"aa", "ab", "ac"}) {
      Runner failing(nodes);
      failing.Run(Unreachable({bad}));
      EXPECT_THAT(failing.Grades(),
                  ElementsAre(testing::Pair(bad, Grade::kFailed)))
          << nodes;
      Runner slow(nodes);
      slow.Run(Slow({bad}));
      EXPECT_THAT(slow.Grades(), ElementsAre(testing::Pair(bad, Grade::kSlow)))
          << nodes;
      EXPECT_LE(slow.check().rounds(), 3);
    }
  }
}

// Node "ae", the last of 5 nodes, has no partner in round 1. The first
// measurement of "ae", in round 2, is disturbed. No node must be found bad.
TEST(NetworkCheck, OneDisturbedMeasurementBlamesNobody) {
  Runner slow_once(5);
  Runner failed_once(5);
  int measured = 0;
  slow_once.Run([&](const std::string& node, const std::string& partner) {
    PairMeasurement answer = Good();
    if ((node == "ae" || partner == "ae") && measured++ < 2) {
      answer.bytes_per_s = kRate / 10;
    }
    return answer;
  });
  EXPECT_THAT(slow_once.Grades(), IsEmpty());
  EXPECT_EQ(slow_once.check().rounds(), 3);
  measured = 0;
  failed_once.Run([&](const std::string& node, const std::string& partner) {
    const bool fails = (node == "ae" || partner == "ae") && measured++ < 2;
    return fails ? Failed() : Good();
  });
  EXPECT_THAT(failed_once.Grades(), IsEmpty());
}

// Node "ag" is paired with a bad node first. The next measurement of "ag", with
// a good node, is disturbed. Node "ag" must not be found bad.
TEST(NetworkCheck, OneDisturbedMeasurementAfterABadPartnerBlamesNobody) {
  Runner run(8);
  int measured = 0;
  run.Run([&](const std::string& node, const std::string& partner) {
    PairMeasurement answer = Good();
    const bool is_bad = node == "ah" || partner == "ah";
    const bool met = node == "ag" || partner == "ag";
    if (is_bad || (met && measured++ < 2)) answer.bytes_per_s = kRate / 10;
    return answer;
  });
  EXPECT_THAT(run.Grades(), ElementsAre(testing::Pair("ah", Grade::kSlow)));
  // Node "ag" was measured twice with a good node, first disturbed, then
  // undisturbed. Both nodes answer in a measurement, so `measured`, the count
  // of these answers, is 4.
  EXPECT_EQ(measured, 4);
  EXPECT_EQ(run.check().rounds(), 3);
}

TEST(NetworkCheck, TwoMeasurementsBlameTheNodeWithoutAPartnerInRoundOne) {
  Runner run(5);
  run.Run(Slow({"ae"}));
  EXPECT_THAT(run.Grades(), ElementsAre(testing::Pair("ae", Grade::kSlow)));
  EXPECT_EQ(run.check().rounds(), 3);
}

TEST(NetworkCheck, TheReasonNamesValuesPartnersAndMedians) {
  Runner run(8);
  run.Run(Slow({"ab"}));
  EXPECT_EQ(run.Why("ab"),
            "50 MB/s and 0.2 ms with aa, 50 MB/s and 0.2 ms with ad; the "
            "medians of 8 nodes are 1 GB/s and 0.2 ms");
  Runner failing(8);
  failing.Run(Unreachable({"ab"}));
  EXPECT_THAT(failing.Why("ab"),
              HasSubstr("no measurement with aa (connection timed out)"));
}

TEST(NetworkCheck, LongRoundTripIsSlow) {
  Runner run(6);
  run.Run([](const std::string& node, const std::string& partner) {
    PairMeasurement value = Good();
    if (node == "ad" || partner == "ad") value.round_trip_s = 0.050;
    return value;
  });
  EXPECT_THAT(run.Grades(), ElementsAre(testing::Pair("ad", Grade::kSlow)));
  EXPECT_THAT(run.Why("ad"), HasSubstr("50 ms"));
}

// The values of nodes with good GPUs.
PairMeasurement GoodGpus() {
  PairMeasurement value = Good();
  value.gpu_kind = "8 x GPU";
  value.gpu_bytes_per_s = 100e9;
  value.gpu_compute_s = 0.020;
  return value;
}

TEST(NetworkCheck, ANodeWithBadGpusIsBad) {
  Runner slow(6);
  slow.Run([](const std::string& node, const std::string& partner) {
    PairMeasurement value = GoodGpus();
    if (node == "ad" || partner == "ad") value.gpu_bytes_per_s = 30e9;
    return value;
  });
  EXPECT_THAT(slow.Grades(), ElementsAre(testing::Pair("ad", Grade::kSlow)));
  EXPECT_THAT(slow.Why("ad"), HasSubstr("30 GB/s between GPUs with"));
  Runner failing(6);
  failing.Run([](const std::string& node, const std::string& partner) {
    PairMeasurement value = GoodGpus();
    if (node == "ad") value.gpu_kind.clear();
    if (node == "ad") value.gpu_failure = "no driver";
    if (node == "ad" || partner == "ad") value.gpu_bytes_per_s = 0;
    if (node == "ad") value.gpu_compute_s = 0;
    return value;
  });
  EXPECT_THAT(failing.Grades(),
              ElementsAre(testing::Pair("ad", Grade::kFailed)));
  EXPECT_THAT(failing.Why("ad"), HasSubstr("(no driver)"));
}

// The first measurement of node "ag" is with node "ah", whose GPUs are bad. The
// second, with a good node, is disturbed. So a third measurement decides.
TEST(NetworkCheck, UndecidedGpusAreMeasuredAgain) {
  Runner run(8);
  int measured = 0;
  run.Run([&](const std::string& node, const std::string& partner) {
    PairMeasurement value = GoodGpus();
    const bool is_bad = node == "ah" || partner == "ah";
    const bool met = node == "ag" || partner == "ag";
    if (is_bad || (met && measured++ < 2)) value.gpu_bytes_per_s = 1e9;
    return value;
  });
  EXPECT_THAT(run.Grades(), ElementsAre(testing::Pair("ah", Grade::kSlow)));
  EXPECT_EQ(run.check().rounds(), 3);
}

TEST(NetworkCheck, IfNcclFailsEverywhereNobodyIsBlamed) {
  Runner run(6);
  run.Run([](const std::string&, const std::string&) {
    PairMeasurement value = GoodGpus();
    value.gpu_bytes_per_s = 0;
    value.gpu_failure = "no route";
    return value;
  });
  for (const auto& [id, grade] : run.Grades()) {
    EXPECT_EQ(grade, Grade::kUndecided) << id;
  }
  EXPECT_EQ(run.check().rounds(), 2);
}

TEST(NetworkCheck, RoundsWithPairsOfGpusMayLastLonger) {
  for (const size_t with_gpus : {0, 1, 2, 4}) {
    Runner run(4);
    run.GiveGpus(with_gpus);
    ASSERT_TRUE(run.Begin());
    EXPECT_EQ(run.check().LastedUntil(*run.check().Deadline()),
              with_gpus > 1 ? NetworkCheck::kGpuRoundTimeout
                            : NetworkCheck::kRoundTimeout);
  }
}

TEST(NetworkCheck, SmallDifferencesAreGood) {
  Runner run(6);
  run.Run([](const std::string& node, const std::string& partner) {
    PairMeasurement value = Good();
    if (node == "ad" || partner == "ad") {
      // The round trip is five times the median, but the difference is less
      // than kMinExcessRoundTrip, so the node is not bad.
      value.round_trip_s = 0.001;
      value.bytes_per_s = kRate / 2.9;
    }
    if (node == "ad") value.compute_s = 1.9 * kCompute;
    return value;
  });
  EXPECT_THAT(run.Grades(), IsEmpty());
}

TEST(NetworkCheck, TwoBadNodesThatMetAreToldFromTheOthers) {
  for (const int nodes : {4, 6, 7, 16}) {
    for (const auto& bad :
         {std::set<std::string>{"aa", "ab"}, std::set<std::string>{"aa", "ac"},
          std::set<std::string>{"ab", "ad"}}) {
      Runner run(nodes);
      run.Run(Unreachable(bad));
      std::set<std::string> found;
      for (const auto& [id, grade] : run.Grades()) found.insert(id);
      EXPECT_EQ(found, bad) << nodes;
    }
  }
}

TEST(NetworkCheck, ThirdRoundTellsAGoodNodeWithTwoBadPartners) {
  // 5 of the 8 nodes are bad. After round 1, more suspects than good nodes are
  // left. So two rounds do not suffice to judge every suspect.
  Runner run(8);
  const std::set<std::string> bad = {"aa", "ac", "ad", "ae", "af"};
  run.Run(Unreachable(bad));
  std::set<std::string> found;
  for (const auto& [id, grade] : run.Grades()) found.insert(id);
  EXPECT_EQ(found, bad);
  EXPECT_GT(run.check().rounds(), 2);
}

TEST(NetworkCheck, OfTwoNodesNeitherIsBlamed) {
  Runner run(2);
  run.Run(Unreachable({"aa"}));
  EXPECT_THAT(run.Grades(),
              ElementsAre(testing::Pair("aa", Grade::kUndecided),
                          testing::Pair("ab", Grade::kUndecided)));
  EXPECT_EQ(run.check().rounds(), 1);
}

TEST(NetworkCheck, AThirdNodeThatComesLaterBreaksTheTie) {
  Runner run(2);
  ASSERT_TRUE(run.Begin());
  run.AnswerAll(Unreachable({"aa"}));
  run.Join("zz");
  run.Run(Unreachable({"aa"}));
  EXPECT_THAT(run.Grades(), ElementsAre(testing::Pair("aa", Grade::kFailed)));
}

TEST(NetworkCheck, ABrokenNetworkBlamesNobody) {
  Runner run(8);
  run.Run([](const std::string&, const std::string&) { return Failed(); });
  EXPECT_EQ(run.Grades().size(), 8u);
  for (const auto& [id, grade] : run.Grades()) {
    EXPECT_EQ(grade, Grade::kUndecided);
  }
  EXPECT_EQ(run.check().rounds(), 2);
}

TEST(NetworkCheck, WithoutAGoodNodeNewPairsDecideNothing) {
  Runner run(7);
  run.Run([](const std::string&, const std::string&) { return Failed(); });
  EXPECT_EQ(run.check().rounds(), 2);
  run.Join("zz");
  EXPECT_FALSE(run.Begin());
}

TEST(NetworkCheck, SilentNodeIsBadWhateverItsPartner) {
  for (const int nodes : {2, 3, 6}) {
    Runner run(nodes);
    run.Run([](const std::string& node,
               const std::string& partner) -> std::optional<PairMeasurement> {
      if (node == "ab") return std::nullopt;
      return partner == "ab" ? Failed() : Good();
    });
    EXPECT_THAT(run.Grades().at("ab"), Grade::kFailed) << nodes;
    EXPECT_THAT(run.Why("ab"), HasSubstr("no measurement with aa (no answer)"));
    EXPECT_EQ(run.Grades().size(), nodes > 2 ? 1u : 2u);
  }
}

TEST(NetworkCheck, SilentPairIsUndecided) {
  Runner run(2);
  run.Run([](const std::string&, const std::string&) { return std::nullopt; });
  EXPECT_EQ(run.Grades().at("aa"), Grade::kUndecided);
  EXPECT_EQ(run.Grades().at("ab"), Grade::kUndecided);
}

TEST(NetworkCheck, HostileValuesAreNoMeasurement) {
  for (const double value : {std::numeric_limits<double>::quiet_NaN(),
                             std::numeric_limits<double>::infinity(), -1.0, 0.0,
                             -std::numeric_limits<double>::infinity()}) {
    for (double PairMeasurement::*field :
         {&PairMeasurement::round_trip_s, &PairMeasurement::bytes_per_s}) {
      Runner run(6);
      run.Run([&](const std::string& node, const std::string&) {
        PairMeasurement answer = Good();
        if (node == "ac") answer.*field = value;
        return answer;
      });
      EXPECT_THAT(run.Grades(),
                  ElementsAre(testing::Pair("ac", Grade::kFailed)))
          << value;
    }
    Runner run(6);
    run.Run([&](const std::string& node, const std::string&) {
      PairMeasurement answer = Good();
      if (node == "ac") answer.compute_s = value;
      return answer;
    });
    EXPECT_THAT(run.Grades(), IsEmpty()) << value;
  }
}

TEST(NetworkCheck, ALyingNodeCannotBlameOthers) {
  Runner run(6);
  run.Run([&](const std::string& node, const std::string&) {
    PairMeasurement answer = Good();
    if (node == "ac") answer.bytes_per_s = 1e300;
    if (node == "ac") answer.round_trip_s = 1e-300;
    if (node == "ac") answer.compute_s = 1e-300;
    return answer;
  });
  EXPECT_THAT(run.Grades(), IsEmpty());
}

TEST(NetworkCheck, SlowProcessorNeedsNoPartner) {
  for (const int nodes : {2, 5}) {
    Runner run(nodes);
    run.Run([](const std::string& node, const std::string&) {
      PairMeasurement answer = Good();
      if (node == "ab") answer.compute_s = 3 * kCompute;
      return answer;
    });
    EXPECT_THAT(run.Grades(), ElementsAre(testing::Pair("ab", Grade::kSlow)));
    EXPECT_EQ(run.Why("ab"),
              "its compute kernel takes 30 ms, the median is 10 ms");
  }
}

TEST(NetworkCheck, AnswersToOtherRoundsAndRepeatedOnesAreIgnored) {
  Runner run(2);
  ASSERT_TRUE(run.Begin());
  PairMeasurement answer = Good();
  answer.number = run.number() + 1;
  run.check().Take("aa", answer);
  run.check().Take("ab", answer);
  run.check().EndRoundIfDue(run.now());
  EXPECT_TRUE(run.check().is_measuring());
  answer.number = run.number();
  run.check().Take("aa", answer);
  run.check().Take("aa", answer);
  run.check().Take("nobody", answer);
  run.check().EndRoundIfDue(run.now());
  EXPECT_TRUE(run.check().is_measuring());
  run.check().Take("ab", answer);
  run.check().EndRoundIfDue(run.now());
  EXPECT_FALSE(run.check().is_measuring());
  EXPECT_THAT(run.Grades(), IsEmpty());
}

TEST(NetworkCheck, NeitherALostNodeNorItsPartnerIsAwaited) {
  Runner run(4);
  ASSERT_TRUE(run.Begin());
  for (const char* id : {"ac", "ad"}) {
    PairMeasurement answer = Good();
    answer.number = run.number();
    run.check().Take(id, answer);
  }
  run.check().EndRoundIfDue(run.now());
  EXPECT_TRUE(run.check().is_measuring());
  run.check().Lose("aa");
  run.check().EndRoundIfDue(run.now());
  EXPECT_FALSE(run.check().is_measuring());
}

TEST(NetworkCheck, AStandstillGivesTheTimeAgainOnce) {
  Runner run(2);
  ASSERT_TRUE(run.Begin());
  run.now() += NetworkCheck::kRoundTimeout + seconds(5);
  run.check().ForgiveStandstill(run.now());
  run.check().EndRoundIfDue(run.now());
  EXPECT_TRUE(run.check().is_measuring());
  run.now() += NetworkCheck::kRoundTimeout;
  run.check().ForgiveStandstill(run.now());
  run.check().EndRoundIfDue(run.now());
  EXPECT_FALSE(run.check().is_measuring());
  EXPECT_EQ(run.check().Deadline(), std::nullopt);
}

TEST(NetworkCheck, RoundsGrowWithTheLogarithm) {
  Runner run(200);
  // Only two of the 200 nodes are good, so many rounds are needed.
  run.Run([](const std::string& node, const std::string& partner) {
    const std::set<std::string> good = {"aa", "ab"};
    return good.count(node) + good.count(partner) == 2 ? Good() : Failed();
  });
  EXPECT_LE(run.check().rounds(), 10);
  EXPECT_EQ(run.Grades().count("aa"), 0u);
  EXPECT_EQ(run.Grades().size(), 198u);
}

}  // namespace
}  // namespace muster::rendezvous
