#include "rendezvous/quarantine/node_memory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"

namespace muster::rendezvous {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr Duration kBegin = hours(24 * 365 * 50);
constexpr int kNodes = 4;

HostKey Key(const std::string& host) {
  return {.host = host, .ip = "10.0.0.1"};
}

HostFault Fault(const std::string& host, FaultKind kind, int rank = -1) {
  return {.host = Key(host),
          .kind = kind,
          .run_id = "job",
          .rank = rank,
          .signature = "SIGBUS",
          .text = absl::StrCat("rank ", rank, " died")};
}

std::vector<std::string> HostsOf(const NodeMemory::Kept& kept) {
  std::vector<std::string> hosts;
  for (const NodeMemory::Kept::Host& host : kept.hosts) {
    hosts.push_back(host.key.host);
  }
  return hosts;
}

class NodeMemoryTest : public ::testing::Test {
 protected:
  // Records a fault one minute after the last one.
  std::vector<NodeMemory::Change> Record(const HostFault& fault,
                                         int nodes = kNodes) {
    now_ += minutes(1);
    return memory_.Record(now_, nodes, fault);
  }
  HostState StateOf(const std::string& host) const {
    const HostView view = memory_.View(now_);
    const auto found = view.find(Key(host));
    return found == view.end() ? HostState::kHealthy : found->second.state;
  }
  double ScoreOf(const std::string& host) const {
    for (const HostStatus& status : memory_.List(now_)) {
      if (status.key == Key(host)) return status.judgement.score;
    }
    return 0;
  }
  void Quarantine(const std::string& host, int nodes = kNodes) {
    for (int i = 0; i < 3; ++i) Record(Fault(host, FaultKind::kLost), nodes);
  }

  NodeMemory memory_;
  Duration now_ = kBegin;
};

TEST_F(NodeMemoryTest, ThreeFaultsQuarantineTwoDoNot) {
  EXPECT_THAT(Record(Fault("a", FaultKind::kLost)), SizeIs(1));
  EXPECT_EQ(StateOf("a"), HostState::kSuspected);
  EXPECT_THAT(Record(Fault("a", FaultKind::kLost)), IsEmpty());
  EXPECT_EQ(StateOf("a"), HostState::kSuspected);
  const auto changes = Record(Fault("a", FaultKind::kLost));
  ASSERT_THAT(changes, SizeIs(1));
  EXPECT_EQ(changes[0].key, Key("a"));
  EXPECT_EQ(changes[0].before.state, HostState::kSuspected);
  EXPECT_EQ(changes[0].after.state, HostState::kQuarantined);
  EXPECT_EQ(changes[0].after.reason, "rank -1 died");
  EXPECT_NEAR(changes[0].after.score, 3, 0.02);
  EXPECT_EQ(memory_.quarantined(), 1);
}

TEST_F(NodeMemoryTest, AWeightHalvesInAHalfLife) {
  Record(Fault("a", FaultKind::kCheck));
  EXPECT_EQ(ScoreOf("a"), 1);
  now_ += NodeMemory::kHalfLife;
  EXPECT_NEAR(ScoreOf("a"), 0.5, 1e-9);
  Record(Fault("a", FaultKind::kXid));
  EXPECT_NEAR(ScoreOf("a"), 2, 0.01);
}

TEST_F(NodeMemoryTest, AFaultFromTheFutureCountsAsOneOfNow) {
  Record(Fault("a", FaultKind::kCheck));
  now_ -= hours(100);
  EXPECT_EQ(ScoreOf("a"), 1);
}

TEST_F(NodeMemoryTest, OneRankAloneNeverQuarantinesItsMachine) {
  for (int i = 0; i < 8; ++i) Record(Fault("a", FaultKind::kWorker, 0));
  EXPECT_EQ(StateOf("a"), HostState::kSuspected);
  EXPECT_EQ(ScoreOf("a"), NodeMemory::kMaxOfOneRank);
  HostFault other_job = Fault("a", FaultKind::kWorker, 0);
  other_job.run_id = "another";
  Record(other_job);
  EXPECT_EQ(StateOf("a"), HostState::kSuspected);
}

TEST_F(NodeMemoryTest, SeveralRanksQuarantineTheirMachine) {
  Record(Fault("a", FaultKind::kWorker, 0));
  Record(Fault("a", FaultKind::kWorker, 1));
  EXPECT_EQ(StateOf("a"), HostState::kSuspected);
  Record(Fault("a", FaultKind::kWorker, 0));
  EXPECT_EQ(StateOf("a"), HostState::kQuarantined);
}

TEST_F(NodeMemoryTest, TheSameFailureOnTwoMachinesIsTheProgramsFault) {
  Record(Fault("a", FaultKind::kWorker, 0));
  Record(Fault("a", FaultKind::kWorker, 1));
  Record(Fault("a", FaultKind::kWorker, 0));
  ASSERT_EQ(StateOf("a"), HostState::kQuarantined);
  Record(Fault("b", FaultKind::kWorker, 0));
  EXPECT_EQ(StateOf("a"), HostState::kHealthy);
  EXPECT_EQ(StateOf("b"), HostState::kHealthy);
  // The memory keeps faults that are void (count against no machine). So later
  // faults of the same job, kind and signature are void, too.
  for (int rank = 0; rank < 4; ++rank) {
    Record(Fault("b", FaultKind::kWorker, rank));
  }
  EXPECT_EQ(StateOf("b"), HostState::kHealthy);
  EXPECT_THAT(memory_.List(now_), IsEmpty());
}

TEST_F(NodeMemoryTest, AnotherJobSignatureOrKindAcquitsNobody) {
  Record(Fault("a", FaultKind::kWorker, 0));
  HostFault job = Fault("b", FaultKind::kWorker, 0);
  job.run_id = "another";
  Record(job);
  HostFault signature = Fault("c", FaultKind::kWorker, 0);
  signature.signature = "SIGILL";
  Record(signature);
  Record(Fault("d", FaultKind::kLost));
  Record(Fault("e", FaultKind::kLost));
  // A fault with the job, text and signature of machine b's fault, but of
  // another kind.
  HostFault check = Fault("f", FaultKind::kCheck);
  check.run_id = "another";
  check.text = job.text;
  Record(check);
  for (const char* const host : {"a", "b", "c", "d", "e", "f"}) {
    EXPECT_EQ(StateOf(host), HostState::kSuspected) << host;
  }
}

TEST_F(NodeMemoryTest, TheSameFailedCheckOnTwoMachinesIsNoFaultOfTheirs) {
  HostFault missing = Fault("a", FaultKind::kCheck);
  missing.text = "check: --health-command: exit code 127: no such command";
  Record(missing);
  EXPECT_EQ(StateOf("a"), HostState::kSuspected);
  HostFault disk = Fault("b", FaultKind::kCheck);
  disk.text = "check: no disk";
  Record(disk);
  EXPECT_EQ(StateOf("a"), HostState::kSuspected);
  EXPECT_EQ(StateOf("b"), HostState::kSuspected);
  missing.host = Key("c");
  Record(missing);
  EXPECT_EQ(StateOf("a"), HostState::kHealthy);
  EXPECT_EQ(StateOf("c"), HostState::kHealthy);
  EXPECT_EQ(StateOf("b"), HostState::kSuspected);
}

TEST_F(NodeMemoryTest, AReportedFaultCountsOnce) {
  HostFault fault = Fault("a", FaultKind::kCheck);
  fault.incarnation = 5;
  fault.ordinal = 1;
  Record(fault);
  EXPECT_THAT(Record(fault), IsEmpty());
  EXPECT_NEAR(ScoreOf("a"), 1, 0.01);
  fault.ordinal = 2;
  Record(fault);
  fault.incarnation = 6;
  Record(fault);
  EXPECT_NEAR(ScoreOf("a"), 3, 0.02);
}

// An agent repeats its newest faults in each report, also to a coordinator that
// was started after the machine was freed.
TEST_F(NodeMemoryTest, AReportedFaultDoesNotCountAgainAfterTheMachineIsFreed) {
  HostFault fault = Fault("a", FaultKind::kCheck);
  fault.incarnation = 5;
  fault.ordinal = 1;
  Record(fault);
  Record(Fault("a", FaultKind::kLost));
  ASSERT_TRUE(memory_.Free(now_, "a", "").ok());
  EXPECT_EQ(ScoreOf("a"), 0);
  Record(fault);
  EXPECT_EQ(ScoreOf("a"), 0);
  fault.ordinal = 2;
  Record(fault);
  EXPECT_NEAR(ScoreOf("a"), 1, 0.01);
}

TEST_F(NodeMemoryTest, AMachineIsReleasedWellBelowTheBound) {
  Quarantine("a");
  now_ += NodeMemory::kHalfLife;
  EXPECT_THAT(memory_.Refresh(now_, kNodes), IsEmpty());
  EXPECT_EQ(StateOf("a"), HostState::kQuarantined);
  const std::optional<Duration> next = memory_.NextChange(now_);
  ASSERT_TRUE(next.has_value());
  EXPECT_THAT(memory_.Refresh(*next - minutes(1), kNodes), IsEmpty());
  now_ = *next;
  const auto changes = memory_.Refresh(now_, kNodes);
  ASSERT_THAT(changes, SizeIs(1));
  EXPECT_EQ(changes[0].after.state, HostState::kSuspected);
  now_ = *memory_.NextChange(now_);
  memory_.Refresh(now_, kNodes);
  EXPECT_EQ(StateOf("a"), HostState::kHealthy);
  EXPECT_EQ(memory_.NextChange(now_), std::nullopt);
}

TEST_F(NodeMemoryTest, OnlyAShareIsQuarantinedAtATime) {
  Quarantine("a", 19);
  Quarantine("b", 19);
  EXPECT_EQ(StateOf("a"), HostState::kQuarantined);
  EXPECT_EQ(StateOf("b"), HostState::kSuspected);
  const auto changes = memory_.Refresh(now_, 20);
  ASSERT_THAT(changes, SizeIs(1));
  EXPECT_EQ(changes[0].key, Key("b"));
  EXPECT_EQ(StateOf("b"), HostState::kQuarantined);
}

TEST_F(NodeMemoryTest, OfSeveralTheOneWithTheHighestScoreIsQuarantined) {
  Quarantine("a");
  Quarantine("b");
  Quarantine("c");
  Record(Fault("c", FaultKind::kLost));
  ASSERT_TRUE(memory_.Free(now_, "a", "").ok());
  memory_.Refresh(now_, kNodes);
  EXPECT_EQ(StateOf("b"), HostState::kSuspected);
  EXPECT_EQ(StateOf("c"), HostState::kQuarantined);
}

TEST_F(NodeMemoryTest, AnotherAddressIsAnotherMachine) {
  Quarantine("a");
  const HostView view = memory_.View(now_);
  EXPECT_TRUE(view.contains(Key("a")));
  EXPECT_FALSE(view.contains({.host = "a", .ip = "10.0.0.66"}));
}

TEST_F(NodeMemoryTest, AFreedMachineBeginsAnew) {
  Quarantine("a");
  ASSERT_TRUE(memory_.Free(now_, "a", "ada").ok());
  memory_.Refresh(now_, kNodes);
  EXPECT_EQ(StateOf("a"), HostState::kHealthy);
  ASSERT_THAT(memory_.List(now_), SizeIs(1));
  EXPECT_EQ(memory_.List(now_)[0].judgement.state, HostState::kFreed);
  EXPECT_EQ(memory_.List(now_)[0].judgement.reason, "freed by ada");
  Record(Fault("a", FaultKind::kLost));
  EXPECT_EQ(StateOf("a"), HostState::kSuspected);
}

TEST_F(NodeMemoryTest, AnUnknownHostCannotBeFreed) {
  const absl::Status status = memory_.Free(now_, "a", "");
  EXPECT_TRUE(absl::IsNotFound(status));
  EXPECT_THAT(std::string(status.message()), HasSubstr("host a"));
}

TEST_F(NodeMemoryTest, ABanHoldsWithoutFaultsUntilTheHostIsFreed) {
  ASSERT_TRUE(memory_.Ban(now_, "a", "broken fan").ok());
  now_ += 10 * NodeMemory::kHalfLife;
  memory_.Refresh(now_, kNodes);
  const HostView view = memory_.View(now_);
  const auto found = view.find({.host = "a", .ip = ""});
  ASSERT_NE(found, view.end());
  EXPECT_EQ(found->second.state, HostState::kBanned);
  EXPECT_EQ(found->second.reason, "broken fan");
  ASSERT_TRUE(memory_.Free(now_, "a", "").ok());
  EXPECT_THAT(memory_.View(now_), IsEmpty());
}

TEST_F(NodeMemoryTest, ABannedMachineIsListedFirst) {
  Quarantine("a");
  ASSERT_TRUE(memory_.Ban(now_, "b", "broken fan").ok());
  const std::vector<HostStatus> list = memory_.List(now_);
  ASSERT_THAT(list, SizeIs(2));
  EXPECT_EQ(list[0].key.host, "b");
  EXPECT_EQ(list[1].key.host, "a");
  EXPECT_EQ(list[1].run_id, "job");
  EXPECT_EQ(list[1].faults, 3);
}

TEST_F(NodeMemoryTest, ATextBecomesOneBoundedLine) {
  HostFault fault = Fault("a", FaultKind::kLost);
  fault.text = "one\ntwo" + std::string(1000, 'x');
  Record(fault);
  const std::string reason = memory_.List(now_)[0].judgement.reason;
  EXPECT_EQ(reason.size(), kMaxFaultBytes);
  EXPECT_THAT(reason, HasSubstr("one two"));
}

TEST_F(NodeMemoryTest, RemembersTheWorstMachinesAndTheNewestFaults) {
  Quarantine("bad");
  for (size_t i = 0; i < NodeMemory::kMaxHosts + 10; ++i) {
    Record(Fault(absl::StrCat("h", i), FaultKind::kStraggler, 3), 10'000);
  }
  EXPECT_THAT(memory_.List(now_), SizeIs(NodeMemory::kMaxHosts));
  EXPECT_GT(ScoreOf("bad"), 0);
  now_ = kBegin + hours(1000);
  for (int i = 0; i < 100; ++i) Record(Fault("bad", FaultKind::kLost));
  EXPECT_EQ(memory_.List(now_)[0].faults,
            static_cast<int>(NodeMemory::kMaxFaults));
}

TEST_F(NodeMemoryTest, OldFaultsAreForgotten) {
  Record(Fault("a", FaultKind::kLost));
  now_ += 8 * NodeMemory::kHalfLife;
  memory_.Refresh(now_, kNodes);
  EXPECT_THAT(memory_.List(now_), IsEmpty());
  EXPECT_THAT(memory_.Keep().hosts, IsEmpty());
}

TEST_F(NodeMemoryTest, BansAreNotDroppedForFaults) {
  ASSERT_TRUE(memory_.Ban(now_, "z", "broken").ok());
  for (size_t i = 0; i < NodeMemory::kMaxHosts + 10; ++i) {
    Record(Fault(absl::StrCat("h", i), FaultKind::kLost));
  }
  EXPECT_TRUE(memory_.View(now_).contains({.host = "z", .ip = ""}));
}

TEST_F(NodeMemoryTest, TooManyBansAreRefused) {
  for (size_t i = 0; i < NodeMemory::kMaxBans; ++i) {
    ASSERT_TRUE(memory_.Ban(now_, absl::StrCat("h", i), "").ok());
  }
  EXPECT_TRUE(absl::IsResourceExhausted(memory_.Ban(now_, "one more", "")));
  EXPECT_TRUE(memory_.Ban(now_, "h0", "again").ok());
}

TEST_F(NodeMemoryTest, ARestoredMemoryIsTheSame) {
  Quarantine("a");
  ASSERT_TRUE(memory_.Ban(now_, "b", "broken").ok());
  NodeMemory other;
  other.Restore(memory_.Keep());
  EXPECT_EQ(other.View(now_), memory_.View(now_));
  NodeMemory::Kept large;
  for (size_t i = 0; i < 2 * NodeMemory::kMaxHosts; ++i) {
    NodeMemory::Kept::Host host;
    host.key = Key(absl::StrCat("h", i));
    host.faults.resize(2 * NodeMemory::kMaxFaults);
    large.hosts.push_back(host);
  }
  other.Restore(large);
  EXPECT_THAT(other.Keep().hosts, SizeIs(NodeMemory::kMaxHosts));
  EXPECT_THAT(other.Keep().hosts[0].faults, SizeIs(NodeMemory::kMaxFaults));
}

TEST_F(NodeMemoryTest, WithQuarantineOffFaultsAreShownAndHaveNoEffect) {
  NodeMemory memory(rendezvous::Quarantine::kOff);
  for (int i = 0; i < 4; ++i) {
    EXPECT_THAT(memory.Record(now_, kNodes, Fault("a", FaultKind::kLost)),
                IsEmpty());
  }
  memory.Record(now_, kNodes, Fault("b", FaultKind::kStraggler, 0));
  const HostView view = memory.View(now_);
  ASSERT_EQ(view.size(), 1u);
  EXPECT_EQ(view.at(Key("a")).state, HostState::kHealthy);
  EXPECT_EQ(view.at(Key("a")).score, 4);
  EXPECT_EQ(memory.quarantined(), 0);
  EXPECT_EQ(memory.List(now_)[0].faults, 4);
  // A ban is valid with Quarantine::kOff, too.
  ASSERT_TRUE(memory.Ban(now_, "c", "broken fan").ok());
  EXPECT_EQ(memory.View(now_).at({"c", ""}).state, HostState::kBanned);
  // With Quarantine::kOff, View lists the healthy machine "a" as long as its
  // score is at least kSuspectAt. NextChange must return the time at which "a"
  // drops out of the list, at most one minute late.
  const std::optional<Duration> next = memory.NextChange(now_);
  ASSERT_TRUE(next.has_value());
  EXPECT_TRUE(memory.View(*next - minutes(1)).contains(Key("a")));
  EXPECT_FALSE(memory.View(*next).contains(Key("a")));
}

TEST_F(NodeMemoryTest, WithQuarantineOffRememberedQuarantinesEnd) {
  Quarantine("a");
  ASSERT_TRUE(memory_.Ban(now_, "c", "broken fan").ok());
  NodeMemory memory(rendezvous::Quarantine::kOff);
  memory.Restore(memory_.Keep());
  EXPECT_EQ(memory.quarantined(), 0);
  EXPECT_EQ(memory.View(now_).at(Key("a")).state, HostState::kHealthy);
  EXPECT_EQ(memory.View(now_).at({"c", ""}).state, HostState::kBanned);
  // `memory` ran with Quarantine::kOff; `again` restores its faults and runs
  // with Quarantine::kOn. Machine "a" is quarantined for these faults as soon
  // as the next fault of any machine is recorded.
  NodeMemory again;
  again.Restore(memory.Keep());
  again.Record(now_, kNodes, Fault("b", FaultKind::kStraggler, 0));
  EXPECT_EQ(again.View(now_).at(Key("a")).state, HostState::kQuarantined);
}

TEST_F(NodeMemoryTest, TheWorstMachinesAreKeptFirst) {
  // The program is the cause of these two faults, which are void.
  Record(Fault("acquitted1", FaultKind::kWorker, 0));
  Record(Fault("acquitted2", FaultKind::kWorker, 1));
  Record(Fault("old", FaultKind::kXid));
  Record(Fault("freed", FaultKind::kXid));
  ASSERT_TRUE(memory_.Free(now_ += minutes(1), "freed", "ada").ok());
  Record(Fault("few", FaultKind::kStraggler));
  Quarantine("many");
  ASSERT_TRUE(memory_.Ban(now_, "banned", "fan").ok());
  Record(Fault("void", FaultKind::kXid));
  ASSERT_TRUE(memory_.Free(now_ += minutes(1), "void", "ada").ok());
  const std::vector<std::string> order = {"banned",     "many",      "old",
                                          "few",        "void",      "freed",
                                          "acquitted2", "acquitted1"};
  for (const size_t most : {0, 2, 8, 9}) {
    EXPECT_EQ(HostsOf(memory_.KeepWorst(now_, most)),
              std::vector(order.begin(),
                          order.begin() + std::min(most, order.size())));
  }
}

}  // namespace
}  // namespace muster::rendezvous
