#include "base/file_backlog.h"

#include <gtest/gtest.h>

namespace muster {
namespace {

using std::chrono::seconds;
using Entry = FileBacklog::Entry;

constexpr FileBacklog::Limits kSmall = {.room_bytes = 100,
                                        .limit_bytes = 150,
                                        .max_entries = 2,
                                        .hung_after = seconds(10)};

class FileBacklogTest : public ::testing::Test {
 protected:
  static Instant At(int second) { return Instant(seconds(second)); }

  FileBacklog backlog_{kSmall};
};

TEST_F(FileBacklogTest, AnIdleFileSystemNeverHangs) {
  EXPECT_TRUE(backlog_.IsIdle());
  EXPECT_EQ(backlog_.HungAt(), std::nullopt);
  EXPECT_FALSE(backlog_.IsHung(At(1000)));
  EXPECT_TRUE(backlog_.HasRoom(At(1000)));
}

TEST_F(FileBacklogTest, HangsWhenNothingIsFinishedForTheGivenTime) {
  EXPECT_TRUE(backlog_.AddEntry(At(5), Entry::kWork));
  EXPECT_TRUE(backlog_.AddEntry(At(9), Entry::kWork));
  EXPECT_EQ(backlog_.HungAt(), At(15));
  EXPECT_FALSE(backlog_.IsHung(At(15) - Duration(1)));
  EXPECT_TRUE(backlog_.IsHung(At(15)));
  backlog_.EntryDone(At(16));
  EXPECT_EQ(backlog_.HungAt(), At(26));
  backlog_.EntryDone(At(17));
  EXPECT_TRUE(backlog_.IsIdle());
  EXPECT_FALSE(backlog_.IsHung(At(1000)));
}

TEST_F(FileBacklogTest, WrittenBytesAreProgress) {
  backlog_.AddEntry(At(0), Entry::kWork);
  backlog_.AddBytes(At(0), 60);
  backlog_.BytesDone(At(9), 10);
  EXPECT_EQ(backlog_.bytes(), 50);
  EXPECT_EQ(backlog_.HungAt(), At(19));
}

TEST_F(FileBacklogTest, AFullBacklogMakesProducersWaitUntilItIsHung) {
  backlog_.AddEntry(At(0), Entry::kWork);
  EXPECT_TRUE(backlog_.AddBytes(At(1), 99));
  EXPECT_TRUE(backlog_.HasRoom(At(1)));
  EXPECT_EQ(backlog_.RoomAt(At(1)), std::nullopt);
  EXPECT_TRUE(backlog_.AddBytes(At(1), 1));
  EXPECT_FALSE(backlog_.HasRoom(At(1)));
  EXPECT_EQ(backlog_.RoomAt(At(1)), At(10));
  EXPECT_TRUE(backlog_.HasRoom(At(10)));
  EXPECT_EQ(backlog_.RoomAt(At(10)), std::nullopt);
  EXPECT_FALSE(backlog_.HasHalfRoom());
  backlog_.BytesDone(At(11), 49);
  EXPECT_FALSE(backlog_.HasHalfRoom());
  backlog_.BytesDone(At(11), 1);
  EXPECT_TRUE(backlog_.HasHalfRoom());
}

TEST_F(FileBacklogTest, ASlowFileSystemGetsTheBytesOfThoseThatCannotWait) {
  backlog_.AddEntry(At(0), Entry::kWork);
  EXPECT_TRUE(backlog_.AddBytes(At(1), 150));
  EXPECT_FALSE(backlog_.AddBytes(At(1), 1));
  EXPECT_EQ(backlog_.bytes(), 150);
  EXPECT_EQ(backlog_.dropped(), 1);
}

TEST_F(FileBacklogTest, AHungFileSystemGetsNoMoreThanTheRoom) {
  backlog_.AddEntry(At(0), Entry::kWork);
  EXPECT_TRUE(backlog_.AddBytes(At(10), 100));
  EXPECT_FALSE(backlog_.AddBytes(At(10), 30));
  backlog_.Drop(12);
  EXPECT_EQ(backlog_.dropped(), 42);
  backlog_.BytesDone(At(11), 40);
  EXPECT_TRUE(backlog_.AddBytes(At(11), 90)) << "it has answered";
}

TEST_F(FileBacklogTest, EntriesAreBoundedExceptForEnds) {
  EXPECT_TRUE(backlog_.AddEntry(At(0), Entry::kWork));
  EXPECT_TRUE(backlog_.AddEntry(At(0), Entry::kWork));
  EXPECT_FALSE(backlog_.AddEntry(At(0), Entry::kWork));
  EXPECT_TRUE(backlog_.AddEntry(At(0), Entry::kEnd));
  backlog_.EntryDone(At(1));
  EXPECT_FALSE(backlog_.AddEntry(At(1), Entry::kWork));
  backlog_.EntryDone(At(1));
  EXPECT_TRUE(backlog_.AddEntry(At(1), Entry::kWork));
}

TEST_F(FileBacklogTest, AWaitEndsWithoutProgressOrWhenItIsOver) {
  constexpr FileBacklog::WaitLimits kLimits = {.without_progress = seconds(5),
                                               .in_all = seconds(60),
                                               .after_signal = seconds(3)};
  backlog_.AddEntry(At(100), Entry::kWork);
  EXPECT_EQ(backlog_.GiveUpAt(At(104), kLimits, 0), At(105));
  EXPECT_EQ(backlog_.GiveUpAt(At(101), kLimits, 1), At(104));
  EXPECT_EQ(backlog_.GiveUpAt(At(104), kLimits, 1), At(105));
  EXPECT_EQ(backlog_.GiveUpAt(At(104), kLimits, 2), At(104));
  backlog_.AddBytes(At(104), 10);
  backlog_.BytesDone(At(163), 1);
  EXPECT_EQ(backlog_.GiveUpAt(At(104), kLimits, 0), At(164));
}

}  // namespace
}  // namespace muster
