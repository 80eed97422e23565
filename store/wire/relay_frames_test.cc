#include "store/wire/relay_frames.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace muster::store {
namespace {

TEST(RelayFramesTest, AFrameSurvivesTheWireCutAnywhere) {
  std::string bytes;
  AppendRelayFrame(
      {.channel = 77, .kind = RelayFrameKind::kMessageForOne, .bytes = "hello"},
      &bytes);
  RelayFrame frame;
  for (size_t end = 0; end < bytes.size(); ++end) {
    EXPECT_EQ(*ParseRelayFrame(bytes.substr(0, end), 5, &frame), 0) << end;
  }
  const std::string more = bytes + "next";
  EXPECT_EQ(*ParseRelayFrame(more, 5, &frame), bytes.size());
  EXPECT_EQ(frame.channel, 77);
  EXPECT_EQ(frame.kind, RelayFrameKind::kMessageForOne);
  EXPECT_EQ(frame.bytes, "hello");
}

TEST(RelayFramesTest, RefusesAnUnknownKindAndTooManyBytes) {
  std::string bytes;
  AppendRelayFrame({.channel = 1, .bytes = "hello"}, &bytes);
  RelayFrame frame;
  EXPECT_EQ(ParseRelayFrame(bytes, 4, &frame).status().code(),
            absl::StatusCode::kResourceExhausted);
  bytes[4] = 3;
  EXPECT_EQ(ParseRelayFrame(bytes, 100, &frame).status().code(),
            absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace muster::store
