#include "trainer_sdk/process_group/failure_record.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "trainer_sdk/store/in_process_store.h"

namespace muster {
namespace {

using testing::ElementsAre;

constexpr Duration kStoreTimeout = std::chrono::seconds(30);

TEST(FailureRecord, TheFirstCauseIsEverybodys) {
  const auto store = std::make_shared<InProcessStore>();
  const FailureRecord first(store, 0, kStoreTimeout),
      second(store, 1, kStoreTimeout);
  EXPECT_EQ(first.Settle(absl::UnavailableError("rank 2 died")),
            absl::UnavailableError("rank 2 died"));
  EXPECT_EQ(second.Settle(absl::AbortedError("cut")),
            absl::UnavailableError("rank 0 found: rank 2 died"));
  EXPECT_EQ(first.Settle(absl::AbortedError("later")),
            absl::UnavailableError("rank 2 died"));
}

TEST(FailureRecord, InvalidRecordIsInternal) {
  for (const char* const text : {"", "x", "0 1 fine", "99 1 what", "14 x y"}) {
    EXPECT_TRUE(absl::IsInternal(DecodeFailure(text, 0))) << text;
  }
}

TEST(FailureRecord, LongMessagesAreCut) {
  const std::string all(100'000, 'x');
  EXPECT_LT(EncodeFailure(0, absl::AbortedError(all)).size(), 5000U);
}

// A store whose Set and CompareSet block until the test allows an answer.
class SlowStore final : public Store {
 public:
  explicit SlowStore(std::shared_future<void> answer)
      : answer_(std::move(answer)) {}
  absl::Status Set(const std::string&, const std::string&) override {
    answer_.wait();
    return absl::OkStatus();
  }
  absl::StatusOr<std::string> Get(const std::string&, Instant) override {
    return absl::UnavailableError("");
  }
  absl::Status Wait(const std::vector<std::string>&, Instant) override {
    return absl::OkStatus();
  }
  absl::StatusOr<int64_t> Add(const std::string&, int64_t) override {
    return 0;
  }
  absl::StatusOr<std::string> CompareSet(const std::string&, const std::string&,
                                         const std::string&) override {
    answer_.wait();
    return std::string("14 7 too late");
  }
  absl::StatusOr<bool> Delete(const std::string&) override { return true; }
  absl::StatusOr<bool> Check(const std::vector<std::string>&) override {
    return true;
  }

 private:
  const std::shared_future<void> answer_;
};

TEST(FailureRecord, AStoreThatDoesNotAnswerHoldsNobodyUp) {
  std::promise<void> answer;
  const FailureRecord record(
      std::make_shared<SlowStore>(answer.get_future().share()), 0,
      std::chrono::milliseconds(1));
  EXPECT_EQ(record.Settle(absl::DeadlineExceededError("waited")),
            absl::DeadlineExceededError("waited"));
  EXPECT_TRUE(record.CompareLate("barrier #1", 2, kStoreTimeout).empty());
  answer.set_value();
}

TEST(FailureRecord, AwaitCauseReturnsTheCauseOfAnotherRank) {
  const auto store = std::make_shared<InProcessStore>();
  const FailureRecord zero(store, 0, kStoreTimeout),
      one(store, 1, kStoreTimeout);
  // This call times out after 1 ms, because no rank writes a cause.
  zero.AwaitCause(std::chrono::milliseconds(1));
  std::thread other(
      [&] { one.Settle(absl::UnavailableError("rank 2 died")).IgnoreError(); });
  zero.AwaitCause(kStoreTimeout);
  other.join();
  EXPECT_EQ(zero.Settle(absl::DeadlineExceededError("waited")),
            absl::UnavailableError("rank 1 found: rank 2 died"));
}

TEST(FailureRecord, RanksThatAreLateHearOfEachOther) {
  const auto store = std::make_shared<InProcessStore>();
  const FailureRecord zero(store, 0, kStoreTimeout),
      two(store, 2, kStoreTimeout);
  constexpr Duration kBrief = std::chrono::milliseconds(1);
  EXPECT_THAT(
      zero.CompareLate("barrier #1", 3, kBrief),
      ElementsAre(LateRank::kLateToo, LateRank::kSilent, LateRank::kSilent));
  for (const FailureRecord* record : {&two, &zero}) {
    EXPECT_THAT(
        record->CompareLate("barrier #1", 3, kBrief),
        ElementsAre(LateRank::kLateToo, LateRank::kSilent, LateRank::kLateToo));
  }
  EXPECT_THAT(
      zero.CompareLate("barrier #2", 3, kBrief),
      ElementsAre(LateRank::kLateToo, LateRank::kSilent, LateRank::kSilent));
}

TEST(FailureRecord, RanksThatAreLateWaitForEachOther) {
  const auto store = std::make_shared<InProcessStore>();
  const FailureRecord zero(store, 0, kStoreTimeout),
      one(store, 1, kStoreTimeout);
  std::vector<LateRank> heard;
  std::thread other(
      [&] { heard = one.CompareLate("barrier #1", 2, kStoreTimeout); });
  EXPECT_THAT(zero.CompareLate("barrier #1", 2, kStoreTimeout),
              ElementsAre(LateRank::kLateToo, LateRank::kLateToo));
  other.join();
  EXPECT_THAT(heard, ElementsAre(LateRank::kLateToo, LateRank::kLateToo));
}

}  // namespace
}  // namespace muster
