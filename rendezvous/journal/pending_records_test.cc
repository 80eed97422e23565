#include "rendezvous/journal/pending_records.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <optional>
#include <string>

namespace muster::rendezvous {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

constexpr Duration kHungAfter = std::chrono::seconds(1);
constexpr Duration kRetryAfter = std::chrono::seconds(5);
constexpr Duration kMoment = std::chrono::nanoseconds(1);
constexpr Instant kBegin = Instant(std::chrono::hours(1));

class PendingRecordsTest : public ::testing::Test {
 protected:
  // Starts a write at `begin` that hangs.
  void Hang(Instant begin) {
    pending_.Begin(begin);
    pending_.Look(begin + kHungAfter);
  }
  std::string Why() const {
    return pending_.trouble() ? pending_.trouble()->why : "";
  }

  PendingRecords pending_{
      "/s/journal", {.hung_after = kHungAfter, .retry_after = kRetryAfter}};
};

TEST_F(PendingRecordsTest, ABatchHasTheNewestChangeOfEachJob) {
  EXPECT_TRUE(pending_.IsIdle());
  EXPECT_FALSE(pending_.MayWrite(kBegin));
  EXPECT_EQ(pending_.Add("a", "1"), 1u);
  EXPECT_EQ(pending_.Add("b", "2"), 2u);
  EXPECT_EQ(pending_.Add("a", "3"), 3u);
  EXPECT_EQ(pending_.Add("b", std::nullopt), 4u);
  EXPECT_TRUE(pending_.MayWrite(kBegin));
  EXPECT_FALSE(pending_.IsIdle());
  pending_.Begin(kBegin);
  EXPECT_FALSE(pending_.IsIdle());
  EXPECT_EQ(pending_.writing_since(), kBegin);
  EXPECT_THAT(pending_.batch(),
              ElementsAre(Pair("a", "3"), Pair("b", std::nullopt)));
  pending_.Succeeded();
  EXPECT_TRUE(pending_.IsIdle());
  EXPECT_EQ(pending_.NextLook(), std::nullopt);
}

TEST(HeldRecordsTest, ARefusedRecordHoldsUpNoJob) {
  PendingRecords pending("etcd://e",
                         {.on_trouble = PendingRecords::OnTrouble::kHold,
                          .hung_after = kHungAfter,
                          .retry_after = kRetryAfter});
  pending.Add("large", "1");
  pending.Add("small", "2");
  pending.Begin(kBegin);
  pending.Succeeded({{"large", "too large"}});
  EXPECT_EQ(pending.released(), 2u);
  EXPECT_TRUE(pending.IsIdle());
  EXPECT_FALSE(pending.trouble().has_value());
  EXPECT_FALSE(pending.TroubleOf("small").has_value());
  ASSERT_TRUE(pending.TroubleOf("large").has_value());
  EXPECT_EQ(pending.TroubleOf("large")->why, "too large");
  EXPECT_EQ(pending.TroubleOf("large")->since, kBegin);
}

TEST_F(PendingRecordsTest, ARefusalLastsUntilARecordOfTheJobIsStored) {
  pending_.Add("a", "1");
  pending_.Begin(kBegin);
  pending_.Succeeded({{"a", "9 bytes"}});
  pending_.Add("a", "2");
  pending_.Begin(kBegin + kMoment);
  pending_.Succeeded({{"a", "10 bytes"}});
  ASSERT_TRUE(pending_.TroubleOf("a").has_value());
  EXPECT_EQ(pending_.TroubleOf("a")->why, "10 bytes");
  EXPECT_EQ(pending_.TroubleOf("a")->since, kBegin) << "of the first refusal";
  pending_.Add("b", "3");
  pending_.Begin(kBegin);
  pending_.Succeeded();
  EXPECT_TRUE(pending_.TroubleOf("a").has_value()) << "b is another job";
  pending_.Add("a", "4");
  pending_.Begin(kBegin);
  pending_.Succeeded();
  EXPECT_FALSE(pending_.TroubleOf("a").has_value());
}

TEST_F(PendingRecordsTest, TheTroubleOfAllJobsIsThatOfEach) {
  pending_.Add("a", "1");
  pending_.Begin(kBegin);
  pending_.Succeeded({{"a", "too large"}});
  pending_.Add("b", "2");
  pending_.Begin(kBegin);
  pending_.Failed(kBegin, "no answer");
  ASSERT_TRUE(pending_.TroubleOf("a").has_value());
  EXPECT_EQ(pending_.TroubleOf("a")->why, "no answer");
  EXPECT_EQ(pending_.TroubleOf("c")->why, "no answer");
}

TEST(HeldRecordsTest, NothingIsReleasedBeforeItIsDurable) {
  PendingRecords pending("etcd://e",
                         {.on_trouble = PendingRecords::OnTrouble::kHold,
                          .hung_after = kHungAfter,
                          .retry_after = kRetryAfter});
  pending.Add("a", "1");
  pending.Begin(kBegin);
  pending.Look(kBegin + kHungAfter);
  pending.Add("b", "2");
  EXPECT_EQ(pending.released(), 0u) << "while a write hangs";
  ASSERT_TRUE(pending.trouble().has_value());
  pending.Failed(kBegin + kHungAfter, "cannot write etcd://e: no answer");
  pending.Add("c", "3");
  EXPECT_EQ(pending.released(), 0u) << "after a failed write";
  EXPECT_EQ(pending.trouble()->why, "cannot write etcd://e: no answer");
  ASSERT_EQ(pending.NextLook(), kBegin + kHungAfter + kRetryAfter);
  pending.Begin(*pending.NextLook());
  EXPECT_THAT(pending.batch(),
              ElementsAre(Pair("a", "1"), Pair("b", "2"), Pair("c", "3")));
  pending.Succeeded();
  EXPECT_EQ(pending.released(), 3u);
  EXPECT_FALSE(pending.trouble().has_value());
}

TEST_F(PendingRecordsTest, ChangesAreReleasedOnceDurable) {
  pending_.Add("a", "1");
  pending_.Begin(kBegin);
  pending_.Add("a", "2");
  EXPECT_FALSE(pending_.MayWrite(kBegin));  // only one write runs at a time
  EXPECT_EQ(pending_.released(), 0u);
  EXPECT_THAT(pending_.batch(), ElementsAre(Pair("a", "1")));
  pending_.Succeeded();
  EXPECT_EQ(pending_.released(), 1u);
  EXPECT_TRUE(pending_.MayWrite(kBegin));
  pending_.Begin(kBegin);
  EXPECT_THAT(pending_.batch(), ElementsAre(Pair("a", "2")));
  pending_.Succeeded();
  EXPECT_EQ(pending_.released(), 2u);
  EXPECT_FALSE(pending_.trouble().has_value());
}

TEST_F(PendingRecordsTest, AHungWriteReleasesAllChanges) {
  pending_.Add("a", "1");
  pending_.Begin(kBegin);
  pending_.Add("b", "2");
  EXPECT_EQ(pending_.NextLook(), kBegin + kHungAfter);
  pending_.Look(kBegin + kHungAfter - kMoment);
  EXPECT_EQ(pending_.released(), 0u);
  EXPECT_FALSE(pending_.trouble().has_value());

  pending_.Look(kBegin + kHungAfter);
  EXPECT_EQ(pending_.released(), 2u);
  ASSERT_TRUE(pending_.trouble().has_value());
  EXPECT_EQ(pending_.trouble()->since, kBegin);
  EXPECT_EQ(Why(), "cannot write /s/journal: its file system does not answer");
  EXPECT_EQ(pending_.NextLook(), std::nullopt);
  // The hung write is still in progress, so no other write may start.
  EXPECT_FALSE(pending_.MayWrite(kBegin + kHungAfter));
  EXPECT_EQ(pending_.Add("c", "3"), 3u);
  EXPECT_EQ(pending_.released(), 3u);
}

TEST_F(PendingRecordsTest, AHungWriteThatEndsMakesOnlyItsBatchDurable) {
  pending_.Add("a", "1");
  Hang(kBegin);
  pending_.Add("b", "2");
  pending_.Succeeded();
  // The write that hung has ended, but contained only the change of a. The
  // change of b was released while that write hung (no caller waits for the
  // change any more), but is not durable yet. So trouble() has a value still.
  EXPECT_TRUE(pending_.trouble().has_value());
  // Writing works again, so the new change of c is released only once it is
  // durable. The next write contains the changes of b and c. After its success
  // trouble() must be empty, although a change of d is queued by then.
  pending_.Add("c", "3");
  EXPECT_EQ(pending_.released(), 2u);
  EXPECT_TRUE(pending_.MayWrite(kBegin));
  pending_.Begin(kBegin);
  pending_.Add("d", "4");
  pending_.Succeeded();
  EXPECT_EQ(pending_.released(), 3u);
  EXPECT_FALSE(pending_.trouble().has_value());
}

TEST_F(PendingRecordsTest, AHungWriteThatEndsWithNothingBehindEndsTheTrouble) {
  pending_.Add("a", "1");
  Hang(kBegin);
  pending_.Succeeded();
  EXPECT_FALSE(pending_.trouble().has_value());
  EXPECT_EQ(pending_.released(), 1u);
}

TEST_F(PendingRecordsTest, ASecondHangIsNoticed) {
  pending_.Add("a", "1");
  Hang(kBegin);
  pending_.Succeeded();
  pending_.Add("a", "2");
  const Instant again = kBegin + 10 * kHungAfter;
  Hang(again);
  EXPECT_EQ(pending_.released(), 2u);
  ASSERT_TRUE(pending_.trouble().has_value());
  EXPECT_EQ(pending_.trouble()->since, again);
}

TEST_F(PendingRecordsTest, AFailedWriteIsTriedAgainLater) {
  pending_.Add("a", "1");
  pending_.Add("b", "1");
  pending_.Begin(kBegin);
  pending_.Add("a", "2");
  const Instant failed = kBegin + kMoment;
  pending_.Failed(failed, "the disk is full");
  EXPECT_EQ(pending_.released(), 3u);
  EXPECT_EQ(Why(), "the disk is full");
  EXPECT_EQ(pending_.trouble()->since, kBegin);
  EXPECT_FALSE(pending_.IsIdle());
  EXPECT_EQ(pending_.writing_since(), std::nullopt);
  EXPECT_THAT(pending_.batch(), IsEmpty());
  EXPECT_EQ(pending_.Add("c", "1"), 4u);
  EXPECT_EQ(pending_.released(), 4u);

  EXPECT_EQ(pending_.NextLook(), failed + kRetryAfter);
  EXPECT_FALSE(pending_.MayWrite(failed + kRetryAfter - kMoment));
  EXPECT_TRUE(pending_.MayWrite(failed + kRetryAfter));
  pending_.Begin(failed + kRetryAfter);
  EXPECT_THAT(pending_.batch(),
              ElementsAre(Pair("a", "2"), Pair("b", "1"), Pair("c", "1")));
  pending_.Succeeded();
  EXPECT_FALSE(pending_.trouble().has_value());
}

TEST_F(PendingRecordsTest, TheTroubleBeginsWithTheFirstFailure) {
  pending_.Add("a", "1");
  pending_.Begin(kBegin);
  pending_.Failed(kBegin, "the disk is full");
  Hang(kBegin + kRetryAfter);
  EXPECT_EQ(pending_.trouble()->since, kBegin);
  EXPECT_THAT(Why(), HasSubstr("does not answer"));
  pending_.Failed(kBegin + 2 * kRetryAfter, "Input/output error");
  EXPECT_EQ(pending_.trouble()->since, kBegin);
  EXPECT_EQ(Why(), "Input/output error");
  // The third attempt hangs as well. The function Hang calls Look, which
  // notices the hang. So no further call of Look is due.
  Hang(kBegin + 3 * kRetryAfter);
  EXPECT_EQ(pending_.NextLook(), std::nullopt);
}

TEST_F(PendingRecordsTest, AFailedWriteCanBeTriedAtOnce) {
  pending_.Add("a", "1");
  pending_.Begin(kBegin);
  pending_.Failed(kBegin, "the disk is full");
  EXPECT_FALSE(pending_.MayWrite(kBegin));
  pending_.RetryNow();
  EXPECT_TRUE(pending_.MayWrite(kBegin));
}

TEST_F(PendingRecordsTest, TimeWithoutAWriteIsNoHang) {
  pending_.Look(kBegin);
  pending_.Add("a", "1");
  pending_.Look(kBegin + kHungAfter);
  EXPECT_EQ(pending_.released(), 0u);
  EXPECT_FALSE(pending_.trouble().has_value());
}

}  // namespace
}  // namespace muster::rendezvous
