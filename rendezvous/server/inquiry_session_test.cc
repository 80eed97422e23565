#include "rendezvous/server/inquiry_session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace muster::rendezvous {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Taken = OpenInquiry::Taken;
using Further = OpenInquiry::Further;

AnswerPart PartOf(const std::string& text) {
  return {.lines = {{.rank = 1, .text = text}}};
}
AnswerPart LastPart() { return {.is_last = true}; }

TEST(OpenInquiryTest, EndsWhenEachNodeHasSentItsLastPart) {
  OpenInquiry open(Further::kNone);
  open.Ask(7, "a", "host-a");
  open.Ask(8, "b", "host-b");
  ASSERT_TRUE(open.Begin(7));
  EXPECT_EQ(open.Take(7, PartOf("x")), Taken::kYes);
  EXPECT_EQ(open.Take(7, LastPart()), Taken::kYes);
  EXPECT_EQ(open.Next()->part, PartOf("x"));
  EXPECT_EQ(open.Next()->host, "host-a");
  EXPECT_FALSE(open.IsOver());
  ASSERT_TRUE(open.Begin(8));
  open.Take(8, LastPart());
  EXPECT_FALSE(open.IsOver()) << "the operator has not read the last part";
  EXPECT_EQ(open.Next()->node_id, "b");
  EXPECT_TRUE(open.IsOver());
  EXPECT_FALSE(open.Next().has_value());
}

TEST(OpenInquiryTest, AnswerOfAnUnknownIdIsNotTaken) {
  OpenInquiry open(Further::kNone);
  open.Ask(7, "a", "host-a");
  EXPECT_FALSE(open.Begin(9));
  EXPECT_EQ(open.Take(9, PartOf("x")), Taken::kUnwanted);
  EXPECT_EQ(open.Take(7, PartOf("x")), Taken::kUnwanted) << "not begun";
  EXPECT_FALSE(open.Next().has_value());
}

TEST(OpenInquiryTest, AnswerBeginsOnceAndEndsOnce) {
  OpenInquiry open(Further::kNone);
  open.Ask(7, "a", "host-a");
  EXPECT_TRUE(open.Begin(7));
  EXPECT_FALSE(open.Begin(7));
  open.Take(7, LastPart());
  EXPECT_EQ(open.Take(7, PartOf("x")), Taken::kUnwanted);
  open.Lose(7, "lost");
  EXPECT_FALSE(open.Begin(7));
  EXPECT_EQ(open.Next()->missing, "");
  EXPECT_TRUE(open.IsOver());
}

TEST(OpenInquiryTest, NodesWaitWhileTheOperatorIsSlow) {
  OpenInquiry open(Further::kNone);
  open.Ask(7, "a", "host-a");
  open.Begin(7);
  int taken = 1;
  while (open.Take(7, PartOf(std::string(10'000, 'x'))) == Taken::kYes) {
    ASSERT_LT(++taken, 1000);
  }
  EXPECT_GE(taken, 20);
  EXPECT_FALSE(open.HasRoom());
  open.Next();
  EXPECT_TRUE(open.HasRoom());
}

TEST(OpenInquiryTest, TooLargePartEndsTheAnswer) {
  OpenInquiry open(Further::kNone);
  open.Ask(7, "a", "host-a");
  open.Begin(7);
  EXPECT_EQ(open.Take(7, PartOf(std::string(3 * kMaxPartBytes, 'x'))),
            Taken::kUnwanted);
  EXPECT_THAT(open.Next()->missing, HasSubstr("too large"));
  EXPECT_TRUE(open.IsOver());
}

TEST(OpenInquiryTest, LostNodeIsNamedOnceAndMayBeAskedAgain) {
  OpenInquiry open(Further::kNone);
  open.Ask(7, "a", "host-a");
  EXPECT_TRUE(open.IsAsked("a"));
  EXPECT_FALSE(open.IsLost("a"));
  open.Lose(7, "gone");
  open.Lose(7, "gone again");
  EXPECT_TRUE(open.IsLost("a"));
  EXPECT_FALSE(open.IsAsked("a"));
  open.Ask(8, "a", "host-a");
  EXPECT_TRUE(open.IsAsked("a"));
  EXPECT_FALSE(open.IsPending(7));
  EXPECT_TRUE(open.IsPending(8));
  EXPECT_EQ(open.Next()->missing, "gone");
  EXPECT_FALSE(open.Next().has_value());
  EXPECT_FALSE(open.IsOver());
}

TEST(OpenInquiryTest, NodesAreSilentUntilTheyBeginToAnswer) {
  OpenInquiry open(Further::kAwaited);
  EXPECT_THAT(open.Silent(), IsEmpty());
  open.Ask(7, "a", "host-a");
  open.Ask(8, "b", "host-b");
  EXPECT_THAT(open.Silent(), ElementsAre("host-a", "host-b"));
  open.Begin(7);
  EXPECT_THAT(open.Silent(), ElementsAre("host-b"));
  open.Lose(8, "gone");
  EXPECT_THAT(open.Silent(), IsEmpty());
}

TEST(OpenInquiryTest, DeadlineNamesTheNodesThatHaveNotAnswered) {
  OpenInquiry open(Further::kNone);
  open.Ask(7, "a", "host-a");
  open.Ask(8, "b", "host-b");
  open.Ask(9, "c", "host-c");
  open.Begin(7);
  open.Take(7, LastPart());
  open.Begin(8);
  open.LoseAll("late");
  open.Next();
  EXPECT_EQ(open.Next()->host, "host-b");
  EXPECT_EQ(open.Next()->missing, "late");
  EXPECT_TRUE(open.IsOver());
}

TEST(OpenInquiryTest, FollowerWaitsForFurtherNodes) {
  OpenInquiry open(Further::kAwaited);
  EXPECT_FALSE(open.IsOver());
  open.AskNoMore();
  EXPECT_TRUE(open.IsOver());
}

TEST(OpenInquiryTest, ClosedInquiryTakesNothing) {
  OpenInquiry open(Further::kAwaited);
  open.Ask(7, "a", "host-a");
  open.Begin(7);
  open.Take(7, PartOf(std::string(kMaxPartBytes, 'x')));
  open.Take(7, PartOf(std::string(kMaxPartBytes, 'x')));
  open.Close();
  EXPECT_TRUE(open.IsOver());
  EXPECT_TRUE(open.HasRoom());
  EXPECT_EQ(open.Take(7, PartOf("x")), Taken::kUnwanted);
  EXPECT_FALSE(open.IsPending(7));
  open.Ask(8, "b", "host-b");
  open.Miss("c", "host-c", "why");
  EXPECT_FALSE(open.Begin(8));
  EXPECT_FALSE(open.Next().has_value());
}

}  // namespace
}  // namespace muster::rendezvous
