#include "rendezvous/server/job_inquiries.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

namespace muster::rendezvous {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using Follow = Inquiry::Follow;

NodeSeat Seat(const std::string& name, StreamId stream, int first_rank) {
  return {.node_id = name,
          .host = "host-" + name,
          .stream = stream,
          .first_rank = first_rank,
          .slots = 2};
}

class JobInquiriesTest : public ::testing::Test {
 protected:
  JobInquiries::Session Open(Inquiry question, const std::string& node = "") {
    auto session = std::make_shared<InquirySession>(std::move(question), [] {});
    EXPECT_TRUE(inquiries_.Add(session, node));
    return session;
  }

  uint64_t drawn_ = 100;
  JobInquiries inquiries_{[this] { return ++drawn_; }};
  const std::vector<NodeSeat> seats_ = {Seat("a", 11, 0), Seat("b", 12, 2),
                                        Seat("c", 13, 4),
                                        Seat("spare", 14, -1)};
};

TEST_F(JobInquiriesTest, OnlyNodesWithARankThatIsAskedForAreAsked) {
  EXPECT_THAT(inquiries_.Ask(Open({.ranks = {3, 4}}), seats_),
              ElementsAre(12, 13));
  EXPECT_THAT(inquiries_.Ask(Open({}), seats_), ElementsAre(11, 12, 13));
  EXPECT_THAT(inquiries_.Ask(Open({}, "host-b"), seats_), ElementsAre(12));
  EXPECT_THAT(inquiries_.Ask(Open({}, "spare"), seats_), ElementsAre(14));
  EXPECT_THAT(inquiries_.Ask(Open({.ranks = {3}}, "a"), seats_), IsEmpty());
}

TEST_F(JobInquiriesTest, EachNodeHasAnIdOfItsOwn) {
  const auto session = Open({.ranks = {1, 2}});
  inquiries_.Ask(session, seats_);
  ASSERT_THAT(inquiries_.For(11), SizeIs(1));
  ASSERT_THAT(inquiries_.For(12), SizeIs(1));
  EXPECT_THAT(inquiries_.For(13), IsEmpty());
  EXPECT_NE(inquiries_.For(11)[0].id, inquiries_.For(12)[0].id);
  EXPECT_EQ(inquiries_.Find(inquiries_.For(11)[0].id), session);
  EXPECT_EQ(inquiries_.Find(999), nullptr);
}

TEST_F(JobInquiriesTest, AnsweredInquiryLeavesTheDirective) {
  const auto session = Open({.ranks = {0}});
  inquiries_.Ask(session, seats_);
  const uint64_t id = inquiries_.For(11)[0].id;
  session->Begin(id, [] {});
  session->Take(id, {.is_last = true});
  EXPECT_THAT(inquiries_.For(11), IsEmpty());
  EXPECT_THAT(inquiries_.Remove(session), IsEmpty());
  EXPECT_TRUE(inquiries_.empty());
  EXPECT_EQ(inquiries_.Find(id), nullptr);
}

TEST_F(JobInquiriesTest, RemovalReturnsTheStreamsThatWereStillAsked) {
  const auto session = Open({});
  inquiries_.Ask(session, seats_);
  EXPECT_THAT(inquiries_.Remove(session), ElementsAre(11, 12, 13));
  EXPECT_THAT(inquiries_.For(11), IsEmpty());
  EXPECT_TRUE(session->IsOver());
}

TEST_F(JobInquiriesTest, DisconnectedNodeIsNamedOnce) {
  const auto session = Open({.ranks = {0}, .follow = Follow::kYes});
  EXPECT_THAT(inquiries_.Ask(session, {Seat("a", 0, 0)}), IsEmpty());
  EXPECT_THAT(session->Next()->missing, HasSubstr("not connected"));
}

TEST_F(JobInquiriesTest, FollowerAsksANodeAgainThatHasReconnected) {
  const auto session = Open({.ranks = {0}, .follow = Follow::kYes});
  inquiries_.Ask(session, seats_);
  EXPECT_THAT(inquiries_.AskFollowed(seats_), IsEmpty());
  const uint64_t first = inquiries_.For(11)[0].id;
  inquiries_.OnClosed(11);
  EXPECT_EQ(inquiries_.Find(first), nullptr);
  EXPECT_THAT(session->Next()->missing, HasSubstr("was lost"));
  EXPECT_THAT(inquiries_.AskFollowed({Seat("a", 21, 0)}), ElementsAre(21));
  ASSERT_THAT(inquiries_.For(21), SizeIs(1));
  EXPECT_NE(inquiries_.For(21)[0].id, first);
  EXPECT_EQ(inquiries_.For(21)[0].lines, 0) << "the operator has the old lines";
}

TEST_F(JobInquiriesTest, FollowerAsksTheNodeThatGetsTheRankInALaterRound) {
  const auto session = Open({.ranks = {4}, .follow = Follow::kYes});
  inquiries_.Ask(session, seats_);
  EXPECT_THAT(inquiries_.AskFollowed(
                  {Seat("a", 11, 0), Seat("b", 12, 2), Seat("spare", 14, 4)}),
              ElementsAre(14));
}

TEST_F(JobInquiriesTest, OthersAreNotAskedLater) {
  inquiries_.Ask(Open({}), {Seat("a", 11, 0)});
  EXPECT_THAT(inquiries_.AskFollowed(seats_), IsEmpty());
}

TEST_F(JobInquiriesTest, AtMostSixteenAreOpen) {
  for (size_t i = 0; i < kMaxInquiries; ++i) Open({});
  EXPECT_FALSE(
      inquiries_.Add(std::make_shared<InquirySession>(Inquiry(), [] {}), ""));
}

// The number of followers (`launch logs -f`) is limited separately. So
// operators who leave them running do not prevent another operator from reading
// the stacks of a job that hangs.
TEST_F(JobInquiriesTest, FollowersLeaveRoomForOthers) {
  for (int i = 0; i < JobInquiries::kMaxFollowers; ++i) {
    Open({.follow = Follow::kYes});
  }
  const auto session = [](const Inquiry& question) {
    return std::make_shared<InquirySession>(question, [] {});
  };
  EXPECT_FALSE(inquiries_.Add(session({.follow = Follow::kYes}), ""));
  EXPECT_TRUE(inquiries_.Add(session({}), ""));
}

TEST_F(JobInquiriesTest, EndOfTheJobEndsFollowers) {
  const auto session = Open({.follow = Follow::kYes});
  inquiries_.AskNoMore();
  EXPECT_TRUE(session->IsOver());
  const auto another = Open({.follow = Follow::kYes});
  inquiries_.Ask(another, seats_);
  inquiries_.LoseAll("deposed");
  EXPECT_EQ(another->Next()->missing, "deposed");
  another->Next();
  another->Next();
  EXPECT_TRUE(another->IsOver());
}

TEST(CheckInquiryTest, UnknownNodesAndRanksAreErrors) {
  const std::vector<NodeSeat> seats = {Seat("a", 11, 0), Seat("b", 12, 2)};
  EXPECT_TRUE(CheckInquiry({.ranks = {0, 3}}, "", seats).ok());
  EXPECT_TRUE(CheckInquiry({}, "host-b", seats).ok());
  EXPECT_THAT(CheckInquiry({}, "z", seats).ToString(), HasSubstr("no node"));
  EXPECT_THAT(CheckInquiry({.ranks = {4}}, "", seats).ToString(),
              HasSubstr("its ranks are 0 to 3"));
  EXPECT_THAT(CheckInquiry({.ranks = {0}}, "b", seats).ToString(),
              HasSubstr("not on node"));
}

TEST(CheckInquiryTest, BeforeTheFirstRoundOnlyFollowersWait) {
  const std::vector<NodeSeat> seats = {Seat("a", 11, -1)};
  EXPECT_TRUE(absl::IsFailedPrecondition(CheckInquiry({}, "", seats)));
  EXPECT_TRUE(
      CheckInquiry({.ranks = {7}, .follow = Follow::kYes}, "", seats).ok());
}

TEST(InquirySessionTest, NodeContinuesOnceThereIsRoom) {
  int news = 0;
  int woken = 0;
  InquirySession session({}, [&] { ++news; });
  session.Ask(7, "a", "host-a");
  ASSERT_TRUE(session.Begin(7, [&] { ++woken; }));
  const AnswerPart part{.lines = {{.text = std::string(kMaxPartBytes, 'x')}}};
  EXPECT_EQ(session.Take(7, part), OpenInquiry::Taken::kYes);
  EXPECT_EQ(session.Take(7, part), OpenInquiry::Taken::kFull);
  EXPECT_EQ(news, 2);
  EXPECT_EQ(woken, 0);
  session.Next();
  EXPECT_EQ(woken, 1);
  session.Next();
  EXPECT_EQ(woken, 1) << "it did not wait";
}

TEST(InquirySessionTest, NodesWaitUntilThereIsRoomForThem) {
  int woken = 0;
  InquirySession session({}, [] {});
  const AnswerPart part{.lines = {{.text = std::string(kMaxPartBytes, 'x')}}};
  for (const uint64_t id : {7, 8, 9}) {
    session.Ask(id, "n" + std::to_string(id), "host");
    ASSERT_TRUE(session.Begin(id, [&] { ++woken; }));
  }
  for (const uint64_t id : {7, 8, 9}) session.Take(id, part);
  session.Next();
  EXPECT_EQ(woken, 0) << "two parts fill the buffer";
  session.Next();
  EXPECT_EQ(woken, 2);
}

TEST(InquirySessionTest, OperatorWhoLeavesWakesTheNodes) {
  int woken = 0;
  InquirySession session({}, [] {});
  session.Ask(7, "a", "host-a");
  ASSERT_TRUE(session.Begin(7, [&] { ++woken; }));
  const AnswerPart part{.lines = {{.text = std::string(kMaxPartBytes, 'x')}}};
  session.Take(7, part);
  session.Take(7, part);
  session.Close();
  EXPECT_EQ(woken, 1);
  EXPECT_EQ(session.Take(7, part), OpenInquiry::Taken::kUnwanted);
}

}  // namespace
}  // namespace muster::rendezvous
