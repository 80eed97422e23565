#include "trainer_sdk/process_group/store_exchange.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

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

// A store that simulates a late rank 0. Directly after a read of the list (key
// "table") has timed out, rank 0 arrives and publishes the list.
class LastMomentStore final : public Store {
 public:
  absl::Status Set(const std::string& key, const std::string& value) override {
    return store_.Set(key, value);
  }
  absl::StatusOr<std::string> Get(const std::string& key,
                                  Instant deadline) override {
    absl::StatusOr<std::string> got = store_.Get(key, deadline);
    if (key == "table" && !got.ok()) {
      EXPECT_TRUE(store_.Set("rank/0", "zero").ok());
      EXPECT_TRUE(ExchangeThroughStore(store_, 0, 2, "zero", "the party",
                                       MonotonicNow())
                      .ok());
    }
    return got;
  }
  absl::Status Wait(const std::vector<std::string>& keys,
                    Instant deadline) override {
    return store_.Wait(keys, deadline);
  }
  absl::StatusOr<int64_t> Add(const std::string& key, int64_t amount) override {
    return store_.Add(key, amount);
  }
  absl::StatusOr<std::string> CompareSet(const std::string& key,
                                         const std::string& expected,
                                         const std::string& desired) override {
    return store_.CompareSet(key, expected, desired);
  }
  absl::StatusOr<bool> Delete(const std::string& key) override {
    return store_.Delete(key);
  }
  absl::StatusOr<bool> Check(const std::vector<std::string>& keys) override {
    return store_.Check(keys);
  }

 private:
  InProcessStore store_;
};

TEST(StoreExchangeTest, ArrivalAtTheDeadlineCounts) {
  LastMomentStore store;
  const auto texts =
      ExchangeThroughStore(store, 1, 2, "one", "the party", MonotonicNow());
  ASSERT_TRUE(texts.ok()) << texts.status();
  EXPECT_EQ(*texts, (std::vector<std::string>{"zero", "one"}));
}

}  // namespace
}  // namespace muster
