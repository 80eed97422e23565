#include "trainer_sdk/tcp/frame_inbox.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>

namespace muster {
namespace {

using testing::HasSubstr;

constexpr int64_t kKeepBytes = 64;

OperationSignature AllReduceOf(uint64_t sequence, int64_t count) {
  OperationSignature signature;
  signature.sequence = sequence;
  signature.kind = OperationKind::kAllReduce;
  signature.count = count;
  return signature;
}

OperationSignature Receiving() {
  OperationSignature signature;
  signature.kind = OperationKind::kReceive;
  return signature;
}

class FrameInboxTest : public testing::Test {
 protected:
  static FrameHeader PartOf(const OperationSignature& signature,
                            int64_t bytes) {
    FrameHeader header;
    header.signature = signature;
    header.bytes = bytes;
    return header;
  }

  static FrameHeader Announcing(const OperationSignature& signature) {
    FrameHeader header;
    header.type = FrameType::kAnnounce;
    header.signature = signature;
    return header;
  }

  static FrameHeader Message(int tag, const std::string& text) {
    FrameHeader header;
    header.type = FrameType::kMessage;
    header.label = LabelOf(tag, text);
    header.bytes = static_cast<int64_t>(text.size());
    return header;
  }

  static MessageLabel LabelOf(int tag, const std::string& text) {
    return {tag, DType::kInt8, static_cast<int64_t>(text.size())};
  }

  // Simulates the arrival of a frame from rank 1, with `text` as its data.
  absl::Status Arrives(const FrameHeader& header, const std::string& text) {
    const auto place = inbox_.Place(1, header);
    if (!place.ok()) return place.status();
    if (place->kind == FramePlace::Kind::kNotYet) {
      return absl::UnavailableError("not yet");
    }
    if (!text.empty()) std::memcpy(place->data, text.data(), text.size());
    inbox_.Placed(1, header);
    return absl::OkStatus();
  }

  static bool NotYet(const absl::Status& s) { return absl::IsUnavailable(s); }

  FrameInbox inbox_{0, {{0, "here", 10}, {1, "there", 20}}, kKeepBytes};
  std::string first_ = "____", second_ = "____";
};

TEST_F(FrameInboxTest, PartsGoToReceivesInOrder) {
  ASSERT_TRUE(inbox_.Begin(AllReduceOf(1, 8)).ok());
  const Ticket a = inbox_.Post(1, first_.data(), 4);
  const Ticket b = inbox_.Post(1, second_.data(), 4);
  EXPECT_EQ(inbox_.AwaitedBytes(1), 8);
  ASSERT_TRUE(Arrives(PartOf(AllReduceOf(1, 8), 4), "abcd").ok());
  EXPECT_TRUE(inbox_.done(a));
  EXPECT_FALSE(inbox_.done(b));
  ASSERT_TRUE(Arrives(PartOf(AllReduceOf(1, 8), 4), "efgh").ok());
  EXPECT_TRUE(inbox_.done(b));
  EXPECT_EQ(first_ + second_, "abcdefgh");
  EXPECT_FALSE(inbox_.Awaits(1));
}

TEST_F(FrameInboxTest, APartWaitsForItsReceiveAndItsCollective) {
  ASSERT_TRUE(inbox_.Begin(AllReduceOf(1, 1)).ok());
  EXPECT_TRUE(NotYet(Arrives(PartOf(AllReduceOf(1, 1), 4), "abcd")));
  EXPECT_TRUE(NotYet(Arrives(PartOf(AllReduceOf(2, 1), 4), "abcd")));
  ASSERT_TRUE(inbox_.Begin(AllReduceOf(2, 1)).ok());
  const Ticket a = inbox_.Post(1, first_.data(), 4);
  ASSERT_TRUE(Arrives(PartOf(AllReduceOf(2, 1), 4), "abcd").ok());
  EXPECT_TRUE(inbox_.done(a));
}

TEST_F(FrameInboxTest, AnotherOperationUnderTheSameNumberIsExplained) {
  ASSERT_TRUE(inbox_.Begin(AllReduceOf(1, 3)).ok());
  const absl::Status s = Arrives(PartOf(AllReduceOf(1, 4), 16), "");
  EXPECT_TRUE(absl::IsFailedPrecondition(s));
  EXPECT_THAT(
      std::string(s.message()),
      testing::AllOf(HasSubstr("rank 1 (host there, pid 20)"),
                     HasSubstr("of 4 float32"), HasSubstr("of 3 float32")));
}

TEST_F(FrameInboxTest, APeerThatIsPastWhatIsAwaitedIsExplained) {
  ASSERT_TRUE(inbox_.Begin(AllReduceOf(1, 3)).ok());
  inbox_.Post(1, first_.data(), 4);
  const absl::Status part = Arrives(PartOf(AllReduceOf(2, 3), 4), "abcd");
  EXPECT_TRUE(absl::IsFailedPrecondition(part));
  EXPECT_THAT(std::string(part.message()),
              testing::AllOf(HasSubstr("#2"), HasSubstr("#1")));
  EXPECT_TRUE(
      absl::IsFailedPrecondition(Arrives(Announcing(AllReduceOf(2, 3)), "")));
}

TEST_F(FrameInboxTest, AnAnnouncementIsComparedWhenItsTurnComes) {
  ASSERT_TRUE(inbox_.Begin(AllReduceOf(1, 3)).ok());
  ASSERT_TRUE(Arrives(Announcing(AllReduceOf(2, 5)), "").ok());
  ASSERT_TRUE(Arrives(Announcing(AllReduceOf(1, 3)), "").ok());
  EXPECT_TRUE(absl::IsFailedPrecondition(inbox_.Begin(AllReduceOf(2, 6))));
}

TEST_F(FrameInboxTest, AnnouncementsOfThePastAreComparedToo) {
  ASSERT_TRUE(inbox_.Begin(AllReduceOf(1, 3)).ok());
  ASSERT_TRUE(inbox_.Begin(AllReduceOf(2, 3)).ok());
  EXPECT_TRUE(Arrives(Announcing(AllReduceOf(1, 3)), "").ok());
  EXPECT_TRUE(
      absl::IsFailedPrecondition(Arrives(Announcing(AllReduceOf(1, 4)), "")));
}

TEST_F(FrameInboxTest, MessagesAreTakenByTagAndKeptUntilThen) {
  ASSERT_TRUE(inbox_.Begin(Receiving()).ok());
  const Ticket two = inbox_.PostMessage(1, LabelOf(2, "ab"), first_.data());
  ASSERT_TRUE(Arrives(Message(1, "cdef"), "cdef").ok());
  EXPECT_FALSE(inbox_.done(two));
  ASSERT_TRUE(Arrives(Message(2, "ab"), "ab").ok());
  EXPECT_TRUE(inbox_.done(two));
  ASSERT_TRUE(inbox_.Begin(Receiving()).ok());
  const Ticket one = inbox_.PostMessage(1, LabelOf(1, "cdef"), second_.data());
  EXPECT_TRUE(inbox_.done(one));
  EXPECT_EQ(first_, "ab__");
  EXPECT_EQ(second_, "cdef");
}

TEST_F(FrameInboxTest, EarlyMessagesOfOneTagStayInOrder) {
  ASSERT_TRUE(inbox_.Begin(Receiving()).ok());
  ASSERT_TRUE(Arrives(Message(1, "abcd"), "abcd").ok());
  ASSERT_TRUE(Arrives(Message(1, "efgh"), "efgh").ok());
  inbox_.PostMessage(1, LabelOf(1, "abcd"), first_.data());
  inbox_.PostMessage(1, LabelOf(1, "efgh"), second_.data());
  EXPECT_EQ(first_ + second_, "abcdefgh");
}

TEST_F(FrameInboxTest, AMessageOfAnotherSizeOrTypeIsExplained) {
  ASSERT_TRUE(inbox_.Begin(Receiving()).ok());
  inbox_.PostMessage(1, LabelOf(1, "abc"), first_.data());
  const absl::Status s = Arrives(Message(1, "abcd"), "abcd");
  EXPECT_TRUE(absl::IsFailedPrecondition(s));
  EXPECT_THAT(
      std::string(s.message()),
      testing::AllOf(HasSubstr("sent 4 int8"), HasSubstr("receives 3 int8")));
  // A message of 4 elements arrives first, and then a receive for 3 elements is
  // posted. The receive must fail as it does if it is posted before the message
  // arrives.
  ASSERT_TRUE(Arrives(Message(2, "abcd"), "abcd").ok());
  const Ticket late = inbox_.PostMessage(1, LabelOf(2, "abc"), first_.data());
  EXPECT_FALSE(inbox_.done(late));
  EXPECT_TRUE(absl::IsFailedPrecondition(inbox_.status(late)));
}

TEST_F(FrameInboxTest, KeptMessagesAreBounded) {
  ASSERT_TRUE(inbox_.Begin(Receiving()).ok());
  const std::string all(kKeepBytes, 'x');
  ASSERT_TRUE(Arrives(Message(1, all), all).ok());
  // The inbox is full, and no receive is pending. The inbox must leave the
  // message with tag 2 on the connection, without an error: the message blocks
  // no frame for which a receive waits.
  EXPECT_TRUE(NotYet(Arrives(Message(2, "y"), "y")));
  inbox_.PostMessage(1, LabelOf(3, "z"), first_.data());
  const absl::Status s = Arrives(Message(2, "y"), "y");
  EXPECT_TRUE(absl::IsFailedPrecondition(s));
  EXPECT_THAT(std::string(s.message()), HasSubstr("tag 2"));
  // The inbox has kept the message with tag 1. When the receive for it is
  // posted, the inbox hands the message over, and so has room for another one.
  std::string taken(kKeepBytes, '_');
  inbox_.PostMessage(1, LabelOf(1, all), taken.data());
  EXPECT_EQ(taken, all);
  EXPECT_TRUE(Arrives(Message(2, "y"), "y").ok());
}

TEST_F(FrameInboxTest, EmptyMessagesThatNobodyReceivesAreBounded) {
  ASSERT_TRUE(inbox_.Begin(Receiving()).ok());
  inbox_.PostMessage(1, LabelOf(3, "z"), first_.data());
  constexpr int kMany = 1 << 17;
  absl::Status s;
  for (int i = 0; i < kMany && s.ok(); ++i) s = Arrives(Message(2, ""), "");
  EXPECT_TRUE(absl::IsFailedPrecondition(s));
  EXPECT_THAT(std::string(s.message()), HasSubstr("tag 2"));
}

TEST_F(FrameInboxTest, APartOfALaterCollectiveMakesWayForAMessage) {
  ASSERT_TRUE(inbox_.Begin(Receiving()).ok());
  const Ticket message = inbox_.PostMessage(1, LabelOf(1, "ab"), first_.data());
  ASSERT_TRUE(Arrives(PartOf(AllReduceOf(1, 1), 4), "cdef").ok());
  ASSERT_TRUE(Arrives(Message(1, "ab"), "ab").ok());
  EXPECT_TRUE(inbox_.done(message));
  ASSERT_TRUE(inbox_.Begin(AllReduceOf(1, 1)).ok());
  EXPECT_TRUE(inbox_.done(inbox_.Post(1, second_.data(), 4)));
  EXPECT_EQ(second_, "cdef");
}

}  // namespace
}  // namespace muster
