#include "trainer_sdk/pipeline/schedule/schedule_svg.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "trainer_sdk/pipeline/schedule/generators.h"

namespace muster {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string Picture(ScheduleKind kind, const PipelineShape& shape,
                    std::string_view title) {
  return DrawSchedule(*Simulate(*MakeSchedule(kind, shape), {}), title);
}

int Count(const std::string& text, const std::string& what) {
  int count = 0;
  for (size_t at = text.find(what); at != std::string::npos;
       at = text.find(what, at + 1)) {
    ++count;
  }
  return count;
}

TEST(ScheduleSvgTest, HasABoxForEachPassAndALineForEachRank) {
  const std::string svg = Picture(ScheduleKind::k1F1B, {3, 1, 4}, "1F1B");
  EXPECT_EQ(Count(svg, "<title>"), 3 * 4 * 2);
  EXPECT_EQ(Count(svg, ">rank "), 3);
  EXPECT_THAT(svg, HasSubstr("<title>2B3, "));
  EXPECT_THAT(svg, HasSubstr("bubble 50.0 % of the ideal time"));
  EXPECT_THAT(svg, Not(HasSubstr("weights")));
}

TEST(ScheduleSvgTest, NamesThePartsOfASplitBackward) {
  const std::string svg = Picture(ScheduleKind::kZeroBubble1P, {2, 1, 4}, "ZB");
  EXPECT_THAT(svg, HasSubstr("backward, weights"));
  EXPECT_EQ(Count(svg, "<title>"), 2 * 4 * 3);
}

TEST(ScheduleSvgTest, TheTitleIsTextAndNothingElse) {
  EXPECT_THAT(Picture(ScheduleKind::k1F1B, {1, 1, 1}, "a<b>&c"),
              HasSubstr("a&lt;b&gt;&amp;c"));
}

TEST(ScheduleSvgTest, AHugeOneIsDrawnInPart) {
  const std::string svg = Picture(ScheduleKind::k1F1B, {64, 1, 512}, "large");
  EXPECT_EQ(Count(svg, "<title>"), 20'000);
  EXPECT_THAT(svg, HasSubstr("the first 20000 of 65536 passes"));
}

}  // namespace
}  // namespace muster
