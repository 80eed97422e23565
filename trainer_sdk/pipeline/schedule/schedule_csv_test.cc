#include "trainer_sdk/pipeline/schedule/schedule_csv.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "trainer_sdk/pipeline/schedule/generators.h"
#include "trainer_sdk/pipeline/schedule/lowering.h"

namespace muster {
namespace {

using ::testing::HasSubstr;

std::string Refusal(std::string_view text) {
  const auto schedule = ReadScheduleCsv(text);
  EXPECT_FALSE(schedule.ok());
  return std::string(schedule.status().message());
}

TEST(ScheduleCsvTest, EverySchedulesComesBackAsItWas) {
  for (const ScheduleKind kind : kScheduleKinds) {
    const auto schedule = *MakeSchedule(kind, {3, 1, 5});
    for (const auto& written : {schedule, *AddCommunication(schedule)}) {
      const auto read = ReadScheduleCsv(WriteScheduleCsv(written));
      ASSERT_TRUE(read.ok()) << read.status();
      EXPECT_EQ(read->shape, written.shape);
      EXPECT_EQ(read->ranks, written.ranks);
    }
  }
}

TEST(ScheduleCsvTest, EmptyCellsAndBlanksCarryNoMeaning) {
  const auto read = ReadScheduleCsv("0F0, ,,0B0 ,\r\n,1F0,1B0,,\r\n\r\n\n");
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(WriteScheduleCsv(*read), "0F0,0B0\n1F0,1B0\n");
}

TEST(ScheduleCsvTest, SaysWhereItIsWrong) {
  EXPECT_THAT(Refusal("0F0,0B0\n1F0,1X0\n"),
              HasSubstr("line 2, column 2: '1X0' is no action"));
  EXPECT_THAT(Refusal("0F0\n1F0,1B0\n"), HasSubstr("stage 0 lacks"));
  EXPECT_THAT(Refusal("0F0,0B0,2F0\n1F0,1B0\n"),
              HasSubstr("the number of stages (3) is not a multiple of the "
                        "number of lines, one for each rank (2)"));
  EXPECT_THAT(Refusal(""), HasSubstr("no schedule in it"));
  EXPECT_THAT(Refusal("0F0,0B0\n1B0,1F0\n"), HasSubstr("for ever"));
  EXPECT_THAT(Refusal("0F0,0SEND_F0,0B0\n1F0,1B0\n"), HasSubstr("RECV_F0"));
}

TEST(ScheduleCsvTest, HugeNumbersCostNothing) {
  EXPECT_THAT(Refusal("999999F999999\n"), HasSubstr("lacks"));
}

}  // namespace
}  // namespace muster
