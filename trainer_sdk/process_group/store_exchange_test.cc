#include "trainer_sdk/process_group/store_exchange.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "base/monotonic_clock.h"
#include "trainer_sdk/store/in_process_store.h"

namespace muster {
namespace {

using testing::HasSubstr;

TEST(StoreExchangeTest, TextsComeBackFromTheirEncoding) {
  const std::vector<std::string> texts = {"", "1:a", std::string("\0:", 2)};
  const auto decoded = DecodeTexts(EncodeTexts(texts), 3);
  ASSERT_TRUE(decoded.ok());
  EXPECT_EQ(*decoded, texts);
  EXPECT_TRUE(
      absl::IsInvalidArgument(DecodeTexts(EncodeTexts(texts), 2).status()));
  for (const char* text : {"x", "1", "1:", "5:abcd", "-1:a", ":a",
                           "99999999999999999999:a", "1:ab"}) {
    EXPECT_TRUE(absl::IsInvalidArgument(DecodeTexts(text, 1).status())) << text;
  }
}

TEST(StoreExchangeTest, NamesWhoDoesNotCome) {
  for (const int rank : {0, 2}) {
    InProcessStore store;
    ASSERT_TRUE(store.Set(rank == 0 ? "rank/2" : "rank/0", "text").ok());
    const absl::Status status =
        ExchangeThroughStore(store, rank, 4, "text", "the party",
                             MonotonicNow() + std::chrono::milliseconds(50))
            .status();
    EXPECT_TRUE(absl::IsDeadlineExceeded(status)) << status;
    EXPECT_THAT(std::string(status.message()),
                HasSubstr("ranks 1, 3 did not come to the party"));
  }
}

}  // namespace
}  // namespace muster
