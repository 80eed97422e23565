#include "rendezvous/wire/record_wire.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "proto/journal.pb.h"
#include "rendezvous/wire/testing/full_messages.h"

namespace muster::rendezvous {
namespace {

using std::chrono::hours;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(RecordWireTest, KeepsEveryField) {
  const std::string bytes = ToBytes(FullJob());
  v1::JobRecord wire;
  ASSERT_TRUE(wire.ParseFromString(bytes));
  // FullJob sets every field, but sets one group rank to 0. Protocol Buffers
  // cannot distinguish a group rank of 0 from an unset one.
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
