#include "store/wire/reply.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "base/little_endian.h"
#include "store/wire/request.h"

namespace muster::store {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Parses `bytes` one byte at a time, and expects the reply to be complete with
// the last byte.
StoreReply Parse(StoreCommand command, size_t keys, const std::string& bytes) {
  ReplyParser parser(command, keys);
  StoreReply reply;
  for (size_t end = 0; end < bytes.size(); ++end) {
    const auto length = parser.Parse(bytes.substr(0, end), &reply);
    EXPECT_TRUE(length.ok() && *length == 0) << end;
  }
  const auto length = parser.Parse(bytes + "next", &reply);
  EXPECT_TRUE(length.ok()) << length.status();
  EXPECT_EQ(*length, bytes.size());
  return reply;
}

std::string Number(int64_t number) {
  std::string bytes;
  AppendInteger(number, &bytes);
  return bytes;
}

std::string String(const std::string& text) {
  std::string bytes;
  AppendString(text, &bytes);
  return bytes;
}

TEST(ReplyTest, Numbers) {
  EXPECT_EQ(Parse(StoreCommand::kAdd, 0, Number(-7)).number, -7);
  EXPECT_EQ(Parse(StoreCommand::kWait, 0, std::string(1, '\0')).number, 0);
  EXPECT_EQ(Parse(StoreCommand::kCancelWait, 0, "\1").number,
            kStoreWaitCanceled);
  EXPECT_EQ(Parse(StoreCommand::kPing, 0, "\1\2\3\xff").number, 0xff030201);
}

TEST(ReplyTest, Values) {
  EXPECT_THAT(Parse(StoreCommand::kGet, 0, String("abc")).strings,
              ElementsAre("abc"));
  EXPECT_THAT(Parse(StoreCommand::kCompareSet, 0, String("")).strings,
              ElementsAre(""));
  EXPECT_THAT(
      Parse(StoreCommand::kMultiGet, 2, String("abc") + String("d")).strings,
      ElementsAre("abc", "d"));
}

TEST(ReplyTest, AnEmptyQueueHasNoElement) {
  const StoreReply none = Parse(StoreCommand::kQueuePop, 0, Number(0));
  EXPECT_EQ(none.number, 0);
  EXPECT_THAT(none.strings, IsEmpty());
  const StoreReply one =
      Parse(StoreCommand::kQueuePop, 0, Number(3) + String("e"));
  EXPECT_EQ(one.number, 3);
  EXPECT_THAT(one.strings, ElementsAre("e"));
}

TEST(ReplyTest, Lists) {
  EXPECT_THAT(Parse(StoreCommand::kListKeys, 0, Number(0)).strings, IsEmpty());
  EXPECT_THAT(
      Parse(StoreCommand::kListKeys, 0, Number(2) + String("a") + String("b"))
          .strings,
      ElementsAre("a", "b"));
}

TEST(ReplyTest, NothingToReadWhereNothingIsAnswered) {
  StoreReply reply;
  EXPECT_EQ(*ReplyParser(StoreCommand::kSet, 0).Parse("", &reply), 0);
  EXPECT_EQ(ReplyOf(StoreCommand::kSet), ReplyShape::kNone);
}

TEST(ReplyTest, RefusesWhatNoStoreSays) {
  StoreReply reply;
  EXPECT_FALSE(
      ReplyParser(StoreCommand::kListKeys, 0).Parse(Number(-1), &reply).ok());
  EXPECT_FALSE(ReplyParser(StoreCommand::kGet, 0)
                   .Parse(Number(kMaxStoreValueBytes + 1), &reply)
                   .ok());
}

}  // namespace
}  // namespace muster::store
