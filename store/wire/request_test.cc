
#include "store/wire/request.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/little_endian.h"

namespace muster::store {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::string Greeting() {
  std::string bytes;
  AppendRequest({.command = StoreCommand::kValidate, .number = kStoreMagic},
                &bytes);
  return bytes;
}

std::string Bytes(const StoreRequest& request) {
  std::string bytes;
  AppendRequest(request, &bytes);
  return bytes;
}

// One request of each command except VALIDATE.
std::vector<StoreRequest> OneOfEach() {
  using C = StoreCommand;
  return {
      {.command = C::kSet, .key = "/k", .value = "v"},
      {.command = C::kCompareSet,
       .key = "k",
       .value = "new",
       .expected = "old"},
      {.command = C::kGet, .key = "k"},
      {.command = C::kAdd, .key = "k", .number = -5},
      {.command = C::kCheck, .keys = {"a", "b"}},
      {.command = C::kWait, .keys = {"a", "", "c"}},
      {.command = C::kNumKeys},
      {.command = C::kDelete, .key = "k"},
      {.command = C::kAppend, .key = "k", .value = "more"},
      {.command = C::kMultiGet, .keys = {"a", "b"}},
      {.command = C::kMultiSet, .keys = {"a", "b"}, .values = {"1", "2"}},
      {.command = C::kCancelWait},
      {.command = C::kPing, .number = 4242},
      {.command = C::kQueuePush, .key = "q", .value = "e"},
      {.command = C::kQueuePop, .key = "q"},
      {.command = C::kQueueLen, .key = "q"},
      {.command = C::kListKeys},
      {.command = C::kBarrier, .key = "b", .number = 8},
  };
}

void ExpectSame(const StoreRequest& got, const StoreRequest& want) {
  EXPECT_EQ(CommandName(got.command), CommandName(want.command));
  EXPECT_EQ(got.key, want.key);
  EXPECT_EQ(got.value, want.value);
  EXPECT_EQ(got.expected, want.expected);
  EXPECT_EQ(got.keys, want.keys);
  EXPECT_EQ(got.values, want.values);
  EXPECT_EQ(got.number, want.number);
}

TEST(RequestParserTest, EveryCommandSurvivesTheWireHoweverItIsCut) {
  std::string stream = Greeting();
  for (const StoreRequest& request : OneOfEach()) {
    AppendRequest(request, &stream);
  }
  for (const size_t piece : {size_t{1}, size_t{3}, size_t{7}, stream.size()}) {
    RequestParser parser;
    StoreRequest request;
    size_t begin = 0;
    size_t parsed = 0;
    for (size_t end = piece;; end = std::min(end + piece, stream.size())) {
      while (true) {
        const auto length = parser.Parse(
            std::string_view(stream).substr(begin, end - begin), &request);
        ASSERT_TRUE(length.ok()) << length.status();
        if (*length == 0) break;
        begin += *length;
        if (parsed++ > 0) ExpectSame(request, OneOfEach()[parsed - 2]);
      }
      if (end == stream.size()) break;
    }
    EXPECT_EQ(parsed, OneOfEach().size() + 1) << "in pieces of " << piece;
    EXPECT_EQ(begin, stream.size());
    EXPECT_EQ(parser.framing(), StoreFraming::kModern);
  }
}

// Bytes that PyTorch 1.13 sent, recorded from the wire.
TEST(RequestParserTest, ReadsTheOldFraming) {
  const struct {
    std::string bytes;
    StoreRequest want;
  } cases[] = {
      {{"\0\2\0\0\0\0\0\0\0/a\1\0\0\0\0\0\0\0001", 20},
       {.command = StoreCommand::kSet, .key = "/a", .value = "1"}},
      {{"\5\1\0\0\0\0\0\0\0\2\0\0\0\0\0\0\0/a", 19},
       {.command = StoreCommand::kWait, .keys = {"/a"}}},
      {{"\2\2\0\0\0\0\0\0\0/a", 11},
       {.command = StoreCommand::kGet, .key = "/a"}},
      {{"\3\2\0\0\0\0\0\0\0/n\5\0\0\0\0\0\0\0", 19},
       {.command = StoreCommand::kAdd, .key = "/n", .number = 5}},
      {{"\1\2\0\0\0\0\0\0\0/q\0\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0x", 28},
       {.command = StoreCommand::kCompareSet, .key = "/q", .value = "x"}},
      {{"\10\2\0\0\0\0\0\0\0/a", 11},
       {.command = StoreCommand::kDelete, .key = "/a"}},
      {{"\6", 1}, {.command = StoreCommand::kNumKeys}},
      {{"\4\1\0\0\0\0\0\0\0\2\0\0\0\0\0\0\0/a", 19},
       {.command = StoreCommand::kCheck, .keys = {"/a"}}},
      {{"\7\2\0\0\0\0\0\0\0/a", 11},
       {.command = StoreCommand::kWatchKey, .key = "/a"}},
  };
  for (const auto& [bytes, want] : cases) {
    RequestParser parser;
    StoreRequest request;
    EXPECT_EQ(*parser.Parse(bytes.substr(0, bytes.size() - 1), &request), 0);
    const auto length = parser.Parse(bytes, &request);
    ASSERT_TRUE(length.ok()) << length.status();
    EXPECT_EQ(*length, bytes.size());
    ExpectSame(request, want);
    EXPECT_EQ(parser.framing(), StoreFraming::kOld);
  }
}

TEST(RequestParserTest, FourBytesDoNotTellTheFramingsApart) {
  RequestParser parser;
  StoreRequest request;
  EXPECT_EQ(*parser.Parse(Greeting().substr(0, 4), &request), 0);
  EXPECT_EQ(parser.framing(), StoreFraming::kUnknown);
}

std::string Error(const std::string& bytes) {
  RequestParser parser(StoreFraming::kModern);
  StoreRequest request;
  const auto length = parser.Parse(bytes, &request);
  return length.ok() ? "none" : std::string(length.status().message());
}

TEST(RequestParserTest, RefusesWhatIsNoCommand) {
  EXPECT_THAT(Error("\x13"), HasSubstr("command 19 is none"));
  EXPECT_THAT(Error("\x40"), HasSubstr("command 64 is none"));
  EXPECT_THAT(Error("\xff"), HasSubstr("command 255 is none"));
}

TEST(RequestParserTest, RefusesWhatIsNoOldCommand) {
  for (const char byte : {'\x0d', '\x12', '\x80', '\xff'}) {
    RequestParser parser;
    StoreRequest request;
    const auto length = parser.Parse(std::string(1, byte), &request);
    EXPECT_THAT(length.status().message(), HasSubstr("is none")) << byte;
  }
}

TEST(RequestParserTest, ValidateComesOnceAndFirst) {
  EXPECT_THAT(Error(Greeting()), HasSubstr("VALIDATE comes once"));
  RequestParser old;
  StoreRequest request;
  // Byte 0 is VALIDATE only if the magic number follows. Here it does not
  // follow, so these bytes are a SET in the old framing. This SET must be
  // refused, because the length of its key is far too large.
  EXPECT_FALSE(old.Parse(std::string("\0\1\1\1\1\0\0\0\0", 9), &request).ok());
}

std::string WithLength(StoreCommand command,
                       const std::vector<uint64_t>& numbers) {
  std::string bytes(1, static_cast<char>(command));
  for (const uint64_t number : numbers) AppendInteger(number, &bytes);
  return bytes;
}

TEST(RequestParserTest, RefusesBeforeTheBytesCome) {
  EXPECT_THAT(Error(WithLength(StoreCommand::kGet, {kMaxStoreKeyBytes + 1})),
              HasSubstr("GET with a key of 8193 bytes; at most 8192"));
  EXPECT_THAT(Error(WithLength(StoreCommand::kWait, {kMaxStoreKeys + 1})),
              HasSubstr("WAIT of 131073 keys; at most 131072"));
  EXPECT_THAT(Error(WithLength(StoreCommand::kMultiSet, {~uint64_t{0}})),
              HasSubstr("at most 131072"));
  // A WAIT for two keys: the first one is empty and valid, the second one is
  // too long and must be refused.
  EXPECT_THAT(
      Error(WithLength(StoreCommand::kWait, {2, 0, kMaxStoreKeyBytes + 1})),
      HasSubstr("WAIT with a key of 8193 bytes"));
  EXPECT_THAT(Error(WithLength(StoreCommand::kMultiSet,
                               {2, 0, 0, kMaxStoreKeyBytes + 1})),
              HasSubstr("MULTI_SET with a key of 8193 bytes"));
  // A SET with an empty key, which is valid, and a value above the limit, which
  // must be refused.
  EXPECT_THAT(
      Error(WithLength(StoreCommand::kSet, {0, kMaxStoreValueBytes + 1})),
      HasSubstr("SET with a value of 8388609 bytes"));
}

TEST(RequestParserTest, TakesWhatIsExactlyAtTheBounds) {
  const std::string key(kMaxStoreKeyBytes, 'k');
  const std::string value(kMaxStoreValueBytes, 'v');
  const StoreRequest set = {
      .command = StoreCommand::kSet, .key = key, .value = value};
  RequestParser parser(StoreFraming::kModern);
  StoreRequest request;
  const std::string bytes = Bytes(set);
  EXPECT_EQ(*parser.Parse(bytes, &request), bytes.size());
  ExpectSame(request, set);

  const StoreRequest wait = {
      .command = StoreCommand::kWait,
      .keys = std::vector<std::string_view>(kMaxStoreKeys, "key")};
  const std::string many = Bytes(wait);
  EXPECT_EQ(*parser.Parse(many, &request), many.size());
  EXPECT_EQ(request.keys.size(), kMaxStoreKeys);
  EXPECT_LT(parser.memory(), 10'000) << "kept for the next request";
}

TEST(RequestParserTest, BoundsAWholeRequest) {
  const std::string value(kMaxStoreValueBytes, 'v');
  StoreRequest set = {.command = StoreCommand::kMultiSet};
  for (size_t i = 0; i <= kMaxStoreRequestBytes / kMaxStoreValueBytes; ++i) {
    set.keys.emplace_back("k");
    set.values.push_back(value);
  }
  EXPECT_THAT(Error(Bytes(set)), HasSubstr("bytes in one request"));
}

TEST(RequestParserTest, LooksAtNoByteTwice) {
  StoreRequest wait = {.command = StoreCommand::kWait};
  const std::string key(100, 'k');
  wait.keys.assign(kMaxStoreKeys, key);
  const std::string bytes = Bytes(wait);
  RequestParser parser(StoreFraming::kModern);
  StoreRequest request;
  // Parse 14 MB that arrive one byte at a time. If each parse started from the
  // beginning, the test would take hours.
  for (size_t end = 1; end < bytes.size(); ++end) {
    ASSERT_EQ(*parser.Parse(std::string_view(bytes).substr(0, end), &request),
              0);
  }
  EXPECT_EQ(*parser.Parse(bytes, &request), bytes.size());
}

TEST(RequestParserTest, ForgetsTheKeysOfTheRequestBefore) {
  RequestParser parser(StoreFraming::kModern);
  StoreRequest request;
  const std::string first =
      Bytes({.command = StoreCommand::kWait, .keys = {"a", "b"}});
  ASSERT_EQ(*parser.Parse(first, &request), first.size());
  const std::string second = Bytes({.command = StoreCommand::kGet, .key = "c"});
  ASSERT_EQ(*parser.Parse(second, &request), second.size());
  EXPECT_THAT(request.keys, IsEmpty());
  EXPECT_EQ(request.key, "c");
}

}  // namespace
}  // namespace muster::store
