#include "rendezvous/server/host_watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "rendezvous/protocol/directive.h"
#include "rendezvous/wire/memory_wire.h"

namespace muster::rendezvous {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

class Records : public RecordStore {
 public:
  void Put(const std::string& run_id, std::string record,
           std::function<void()>) override {
    newest[run_id] = std::move(record);
  }
  void Remove(const std::string& run_id) override { newest.erase(run_id); }

  std::map<std::string, std::string> newest;
};

class HostWatchTest : public ::testing::Test {
 protected:
  HostWatch::Options Options() {
    return {.records = &records_,
            .kept = {},
            .on_quarantine =
                [this](const HostWatch::Notice& notice) {
                  notices_.push_back(notice);
                },
            .clock = [this] { return now_; }};
  }
  static HostFault Lost() {
    return {.host = {"a", "10.0.0.1"},
            .kind = FaultKind::kLost,
            .run_id = "job",
            .text = "lost"};
  }

  Duration now_ = std::chrono::hours(1000);
  Records records_;
  std::vector<HostWatch::Notice> notices_;
};

TEST_F(HostWatchTest, AQuarantineIsANewVersionAndIsPassedOnOnce) {
  HostWatch watch(Options());
  EXPECT_EQ(watch.NewerThan(0), std::nullopt);
  watch.Record({Lost(), Lost()});
  EXPECT_THAT(notices_, IsEmpty());
  watch.Record({Lost()});
  watch.Record({Lost()});
  ASSERT_THAT(notices_, SizeIs(1));
  EXPECT_EQ(notices_[0].key.host, "a");
  EXPECT_EQ(notices_[0].run_id, "job");
  EXPECT_EQ(notices_[0].judgement.reason, "lost");
  const auto version = watch.NewerThan(0);
  ASSERT_TRUE(version.has_value());
  EXPECT_EQ(version->view->at({"a", "10.0.0.1"}).state,
            HostState::kQuarantined);
  EXPECT_EQ(watch.NewerThan(version->number), std::nullopt);
}

TEST_F(HostWatchTest, TheDecayIsANewVersion) {
  HostWatch watch(Options());
  watch.Record({Lost(), Lost(), Lost()});
  const uint64_t known = watch.NewerThan(0)->number;
  now_ += std::chrono::hours(100);
  const auto version = watch.NewerThan(known);
  ASSERT_TRUE(version.has_value());
  EXPECT_THAT(*version->view, IsEmpty());
  EXPECT_THAT(watch.List(), IsEmpty());
}

TEST_F(HostWatchTest, TheMemoryIsKeptAndRestored) {
  {
    HostWatch watch(Options());
    watch.Record({Lost(), Lost(), Lost()});
  }
  const auto kept = MemoryFromBytes(records_.newest.at(kNodeMemoryKey));
  ASSERT_TRUE(kept.ok()) << kept.status();
  HostWatch::Options options = Options();
  options.kept = *kept;
  HostWatch next(options);
  const auto version = next.NewerThan(0);
  ASSERT_TRUE(version.has_value());
  EXPECT_EQ(version->view->size(), 1u);
  // The machine is quarantined already, so another fault must not call
  // on_quarantine again.
  next.Record({Lost()});
  EXPECT_THAT(notices_, SizeIs(1));
}

TEST_F(HostWatchTest, OperatorsFreeAndBan) {
  HostWatch watch(Options());
  EXPECT_TRUE(absl::IsNotFound(watch.Free("a", "ada")));
  ASSERT_TRUE(watch.Ban("a", "broken fan").ok());
  const auto banned = watch.NewerThan(0);
  ASSERT_TRUE(banned.has_value());
  EXPECT_EQ(banned->view->at({"a", ""}).state, HostState::kBanned);
  ASSERT_TRUE(watch.Free("a", "ada").ok());
  EXPECT_THAT(*watch.NewerThan(banned->number)->view, IsEmpty());
  EXPECT_THAT(notices_, IsEmpty());
}

TEST_F(HostWatchTest, TheShareFollowsTheConnectedNodes) {
  HostWatch watch(Options());
  for (int i = 0; i < 21; ++i) watch.NodeCame();
  watch.NodeLeft();
  for (const char* const host : {"a", "b", "c"}) {
    HostFault fault = Lost();
    fault.host.host = host;
    watch.Record({fault, fault, fault});
  }
  EXPECT_THAT(notices_, SizeIs(2));
}

TEST_F(HostWatchTest, WithQuarantineOffAJobLearnsOfFaultsOnly) {
  HostWatch::Options options = Options();
  options.quarantine = Quarantine::kOff;
  HostWatch watch(options);
  watch.Record({Lost(), Lost(), Lost(), Lost()});
  EXPECT_THAT(notices_, IsEmpty());
  const auto version = watch.NewerThan(0);
  ASSERT_TRUE(version.has_value());
  EXPECT_EQ(version->view->at({"a", "10.0.0.1"}).state, HostState::kHealthy);
  EXPECT_EQ(version->view->at({"a", "10.0.0.1"}).reason, "lost");
  EXPECT_THAT(watch.List(), SizeIs(1));
  now_ += std::chrono::hours(30);
  EXPECT_THAT(*watch.NewerThan(version->number)->view, IsEmpty());
}

TEST_F(HostWatchTest, TheNextCoordinatorInheritsTheMemory) {
  HostWatch before(Options());
  before.Record({Lost(), Lost(), Lost()});
  ASSERT_TRUE(before.Ban("b", "fan").ok());
  const auto handed_over = before.NewerThan(0)->machines;
  notices_.clear();
  HostWatch watch(Options());
  ASSERT_TRUE(watch.Inherit(*handed_over).ok());
  const auto version = watch.NewerThan(0);
  ASSERT_TRUE(version.has_value());
  EXPECT_EQ(version->view->at({"a", "10.0.0.1"}).state,
            HostState::kQuarantined);
  EXPECT_EQ(version->view->at({"b", ""}).reason, "fan");
  EXPECT_EQ(*version->machines, *handed_over);
  EXPECT_EQ(records_.newest[kNodeMemoryKey].size(), handed_over->size());
  EXPECT_THAT(notices_, IsEmpty()) << "the earlier coordinator has told it";
  EXPECT_FALSE(watch.Inherit("\xff").ok());
  EXPECT_THAT(watch.List(), SizeIs(2));
}

TEST_F(HostWatchTest, WhatIsHandedOverIsBounded) {
  HostWatch watch(Options());
  const std::string name(200, 'n');
  std::vector<HostFault> faults;
  for (int host = 0; host < 60; ++host) {
    for (size_t i = 0; i < NodeMemory::kMaxFaults; ++i) {
      faults.push_back({.host = {absl::StrCat(name, host), "10.0.0.1"},
                        .kind = FaultKind::kStraggler,
                        .run_id = std::string(200, 'r'),
                        .rank = 8 * host + static_cast<int>(i),
                        .text = std::string(kMaxFaultBytes, 't')});
    }
  }
  watch.Record(faults);
  const auto machines = watch.NewerThan(0)->machines;
  EXPECT_LE(machines->size(), Handover::kMaxMachinesBytes);
  EXPECT_THAT(MemoryFromBytes(*machines)->hosts, SizeIs(16));
}

}  // namespace
}  // namespace muster::rendezvous
