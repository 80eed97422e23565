#include "rendezvous/wire/record_wire.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "base/channel_key.h"
#include "proto/journal.pb.h"
#include "rendezvous/wire/testing/full_messages.h"

namespace muster::rendezvous {
namespace {

using std::chrono::hours;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

KeptJob FullJob() {
  const Report report = FullReport();
  const JobStatus status = FullStatus();
  KeptJob kept;
  JobRecord& job = kept.job;
  job.run_id = "train";
  job.spec = report.spec;
  job.run_tag = "1a2b";
  job.age = std::chrono::hours(24 * 800);
  job.phase = JobPhase::kFinished;
  job.why = "every worker succeeded";
  job.round = 3;
  job.claimed_round = 2;
  job.restarts_used = 1;
  job.failures_in_row = 4;
  job.backoff_left = std::chrono::seconds(2);
  job.signals = report.signals;
  job.newest_signal = 9;
  job.speaker = "n0";
  job.preemption = report.preemption;
  job.verdict = status.verdict;
  job.world.members = {{.node_id = report.node.node_id,
                        .host = "h0",
                        .first_rank = 8,
                        .role_first_rank = 4,
                        .role_world_size = 16,
                        .slots = 8,
                        .departure = "lost: it was silent"}};
  job.world.world_size = 16;
  job.world.master_address = "10.0.0.1";
  job.world.master_port = 29500;
  job.world.nccl_id = "abcdef";
  job.world.store_clients = {"10.0.0.1", "10.0.0.2"};
  job.world.nccl_root_lost = "killed by SIGKILL on h0";
  job.world.restart_count = 1;
  job.world.succeeded = 1;
  job.ran = std::chrono::seconds(77);
  job.members = {{.identity = report.node,
                  .place_key = std::string("\0\xff key", 6),
                  .peer = "10.0.0.1",
                  .phase = NodePhase::kSucceeded,
                  .round = 3,
                  .newest_signal = 5,
                  .failures_taken = 2,
                  .going = true,
                  .going_why = "drained by ada",
                  .part = Part::kStopped}};
  job.members[0].group_rank = 0;
  job.past = {{.node_id = "n7",
               .incarnation = 17,
               .memory = Membership::Memory::kReleased,
               .sequence = 18,
               .place_key = "another key"}};
  job.stopping.signal = 10;
  job.stopping.at_once = true;
  job.stopping.cause = StopCause::kCancelled;
  job.stopping.consequence = Consequence(status.verdict, status.verdict, 1);
  job.failures = FailureLog(FullFailure(1), {FullFailure(2)}, 3);
  job.blamed = "rank 3 on h1: exit code 1";
  kept.written_at = std::chrono::seconds(1'700'000'000);
  kept.owner = {.principal = "ada", .peer = "10.0.0.9"};
  kept.channel_key = std::string(kChannelKeyBytes, '\7');
  return kept;
}

TEST(RecordWireTest, KeepsEveryField) {
  const std::string bytes = ToBytes(FullJob());
  v1::JobRecord wire;
  ASSERT_TRUE(wire.ParseFromString(bytes));
  // A group rank of 0 is not seen as set.
  EXPECT_THAT(UnsetFields(wire), ::testing::ElementsAre("members.group_rank"));
  const absl::StatusOr<KeptJob> again = FromBytes(bytes);
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(ToBytes(*again), bytes);
  EXPECT_EQ(again->job.age, hours(24 * 800));
  EXPECT_EQ(again->job.stopping.consequence.restarts_spent(), 1);
  EXPECT_EQ(again->job.past[0].memory, Membership::Memory::kReleased);
}

TEST(RecordWireTest, AnEmptyJobIsWrittenAndRead) {
  KeptJob kept;
  kept.job.run_id = "a";
  const absl::StatusOr<KeptJob> again = FromBytes(ToBytes(kept));
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_FALSE(again->job.verdict.has_value());
  EXPECT_FALSE(again->job.failures.cause().has_value());
  EXPECT_THAT(again->job.members, IsEmpty());
}

TEST(RecordWireTest, DamagedBytesAreRefused) {
  const auto why = [](const std::string& bytes) {
    return std::string(FromBytes(bytes).status().message());
  };
  EXPECT_THAT(why("\xff\xff"), HasSubstr("is damaged"));
  v1::JobRecord wire;
  ASSERT_TRUE(wire.ParseFromString(ToBytes(FullJob())));
  wire.mutable_members(0)->set_part(5);
  EXPECT_THAT(why(wire.SerializeAsString()), HasSubstr("members[0].part"));
  wire.mutable_members(0)->set_part(1);
  wire.mutable_stopping()->set_cause(3);
  EXPECT_THAT(why(wire.SerializeAsString()), HasSubstr("stopping.cause"));
  wire.mutable_stopping()->set_cause(0);
  wire.mutable_past(0)->set_memory(4);
  EXPECT_THAT(why(wire.SerializeAsString()), HasSubstr("past[0].memory"));
  wire.mutable_past(0)->set_memory(0);
  wire.set_phase(4);
  EXPECT_THAT(why(wire.SerializeAsString()), HasSubstr("phase"));
  wire.set_phase(1);
  EXPECT_THAT(why(wire.SerializeAsString()), HasSubstr("verdict"));
}

TEST(RecordWireTest, TimesOfAnyLengthDoNotOverflow) {
  KeptJob kept = FullJob();
  kept.job.age = kept.job.ran = kept.written_at = Duration::max();
  const absl::StatusOr<KeptJob> again = FromBytes(ToBytes(kept));
  ASSERT_TRUE(again.ok()) << again.status();
  constexpr Duration kElapsed = hours(24 * 365 * 100);
  const JobRecord next =
      RecordOf(StateOf(again->job, 8, Instant(hours(1)), kElapsed));
  EXPECT_EQ(next.age, again->job.age + kElapsed);
  EXPECT_GT(next.age, kElapsed);
  EXPECT_GT(next.ran, kElapsed);
}

TEST(RecordWireTest, CutBytesAreRefusedOrSound) {
  const std::string bytes = ToBytes(FullJob());
  for (size_t length = 0; length < bytes.size(); ++length) {
    const absl::StatusOr<KeptJob> cut = FromBytes(bytes.substr(0, length));
    EXPECT_TRUE(!cut.ok() || CheckRecord(cut->job).ok()) << length;
  }
}

}  // namespace
}  // namespace muster::rendezvous
