#include "trainer_sdk/store/testing/store_contract.h"

#include <gmock/gmock.h>

#include <chrono>
#include <future>
#include <thread>
#include <vector>

#include "base/monotonic_clock.h"

namespace muster {
namespace {

using testing::HasSubstr;
using testing::Not;

Instant Soon() { return MonotonicNow() + std::chrono::milliseconds(30); }
Instant Late() { return MonotonicNow() + std::chrono::seconds(30); }

std::string Text(const absl::Status& status) {
  return std::string(status.message());
}

TEST_P(StoreContract, GetReturnsTheSetValue) {
  ASSERT_TRUE(store_->Set("k", "v").ok());
  EXPECT_EQ(store_->Get("k", Late()).value(), "v");
  ASSERT_TRUE(store_->Set("k", "w").ok());
  EXPECT_EQ(store_->Get("k", Late()).value(), "w");
}

TEST_P(StoreContract, KeysAndValuesAreBytes) {
  const std::string key("a\0b\n\xff", 5), value("\0\x80 ", 3);
  ASSERT_TRUE(store_->Set(key, value).ok());
  EXPECT_EQ(store_->Get(key, Late()).value(), value);
  EXPECT_FALSE(store_->Check({"a"}).value());
  ASSERT_TRUE(store_->Set("", "").ok());
  EXPECT_EQ(store_->Get("", Late()).value(), "");
}

TEST_P(StoreContract, ABigValueComesBackWhole) {
  std::string value(3 << 20, 'x');
  for (size_t i = 0; i < value.size(); i += 1000) value[i] = 'a' + i % 26;
  ASSERT_TRUE(store_->Set("big", value).ok());
  EXPECT_TRUE(store_->Get("big", Late()).value() == value);
}

TEST_P(StoreContract, AGetThatTimesOutNamesItsKeyAndHarmsNothing) {
  absl::Status late = store_->Get("never", Soon()).status();
  EXPECT_TRUE(absl::IsDeadlineExceeded(late)) << late;
  EXPECT_THAT(Text(late), HasSubstr("never'"));
  // The reply to the Get that timed out may arrive late. The client must not
  // take it for the reply to a later request.
  ASSERT_TRUE(store_->Set("never", "after all").ok());
  EXPECT_EQ(store_->Get("never", Late()).value(), "after all");
  EXPECT_EQ(store_->Add("n", 2).value(), 2);
}

TEST_P(StoreContract, AWaitThatTimesOutNamesTheAbsentOnly) {
  ASSERT_TRUE(store_->Set("here", "").ok());
  absl::Status late = store_->Wait({"gone1", "here", "gone2"}, Soon());
  EXPECT_TRUE(absl::IsDeadlineExceeded(late)) << late;
  EXPECT_THAT(Text(late), HasSubstr("gone1' and '"));
  EXPECT_THAT(Text(late), HasSubstr("gone2'"));
  EXPECT_THAT(Text(late), Not(HasSubstr("here'")));
}

TEST_P(StoreContract, ADeadlineInThePastStillFindsWhatIsThere) {
  const Instant past = MonotonicNow() - std::chrono::seconds(1);
  ASSERT_TRUE(store_->Set("k", "v").ok());
  EXPECT_EQ(store_->Get("k", past).value(), "v");
  EXPECT_TRUE(store_->Wait({"k"}, past).ok());
  EXPECT_TRUE(absl::IsDeadlineExceeded(store_->Wait({"l"}, past)));
  EXPECT_TRUE(store_->Wait({}, past).ok());
}

TEST_P(StoreContract, AWaitEndsWhenItsLastKeyIsSet) {
  auto waiting = std::async(std::launch::async, [this] {
    return store_->Wait({"first", "second"}, Late());
  });
  // While one thread waits, the store must serve requests of other threads.
  ASSERT_TRUE(store_->Set("first", "1").ok());
  ASSERT_EQ(store_->Add("second", 1).value(), 1);
  EXPECT_TRUE(waiting.get().ok());
}

TEST_P(StoreContract, ManyWaitersAreReleasedAtOnce) {
  std::vector<std::future<absl::StatusOr<std::string>>> waiting;
  waiting.reserve(12);
  for (int i = 0; i < 12; ++i) {
    waiting.push_back(std::async(std::launch::async, [this] {
      const auto arrived = store_->Add("arrived", 1);
      EXPECT_TRUE(arrived.ok()) << arrived.status();
      if (arrived.value_or(0) == 12) {
        EXPECT_TRUE(store_->Set("all have arrived", "").ok());
      }
      return store_->Get("go", Late());
    }));
  }
  ASSERT_TRUE(store_->Wait({"all have arrived"}, Late()).ok());
  ASSERT_TRUE(store_->Set("go", "now").ok());
  for (auto& waiter : waiting) EXPECT_EQ(waiter.get().value(), "now");
}

TEST_P(StoreContract, AddCountsFromNothingAndFromANumber) {
  EXPECT_EQ(store_->Add("n", 3).value(), 3);
  EXPECT_EQ(store_->Add("n", -5).value(), -2);
  EXPECT_EQ(store_->Get("n", Late()).value(), "-2");
  ASSERT_TRUE(store_->Set("m", "40").ok());
  EXPECT_EQ(store_->Add("m", 2).value(), 42);
}

TEST_P(StoreContract, AddReadsTheNumberThatAValueBeginsWith) {
  ASSERT_TRUE(store_->Set("n", "40 of 50").ok());
  EXPECT_EQ(store_->Add("n", 2).value(), 42);
}

TEST_P(StoreContract, AnAddThatCannotBeDoneFailsThatCallOnly) {
  ASSERT_TRUE(store_->Set("word", "ready").ok());
  ASSERT_TRUE(store_->Set("empty", "").ok());
  for (const char* key : {"word", "empty"}) {
    const absl::Status refused = store_->Add(key, 1).status();
    EXPECT_TRUE(absl::IsFailedPrecondition(refused)) << refused;
    EXPECT_THAT(Text(refused), HasSubstr(std::string("'") + key + "'"));
  }
  EXPECT_EQ(store_->Get("word", Late()).value(), "ready");
  EXPECT_EQ(store_->Add("n", 2).value(), 2);
}

TEST_P(StoreContract, AnAddBeyondTheLargestNumberFailsThatCallOnly) {
  if (GetParam().overflow == Overflow::kUnchecked) {
    GTEST_SKIP() << "this server adds without a check";
  }
  ASSERT_TRUE(store_->Set("max", "9223372036854775807").ok());
  const absl::Status refused = store_->Add("max", 1).status();
  EXPECT_TRUE(absl::IsFailedPrecondition(refused)) << refused;
  EXPECT_THAT(Text(refused), HasSubstr("'max'"));
  EXPECT_EQ(store_->Add("max", -1).value(), 9223372036854775806);
}

TEST_P(StoreContract, ErrorsNameKeysAsTheirCallerDoes) {
  EXPECT_THAT(Text(store_->Get("never", Soon()).status()),
              HasSubstr("key 'never'"));
  EXPECT_THAT(Text(store_->Wait({"one", "two"}, Soon())),
              HasSubstr("keys 'one' and 'two'"));
}

TEST_P(StoreContract, AddsOfManyThreadsAreAllCounted) {
  std::vector<std::thread> threads;
  threads.reserve(4);
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([this] {
      for (int n = 0; n < 50; ++n) EXPECT_TRUE(store_->Add("sum", 1).ok());
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(store_->Add("sum", 0).value(), 200);
}

TEST_P(StoreContract, CompareSetSetsWhereItsExpectationHolds) {
  EXPECT_EQ(store_->CompareSet("k", "other", "new").value(), "other");
  EXPECT_FALSE(store_->Check({"k"}).value());
  EXPECT_EQ(store_->CompareSet("k", "", "first").value(), "first");
  EXPECT_EQ(store_->CompareSet("k", "wrong", "x").value(), "first");
  EXPECT_EQ(store_->CompareSet("k", "first", "second").value(), "second");
  EXPECT_EQ(store_->Get("k", Late()).value(), "second");
}

TEST_P(StoreContract, ACompareSetReleasesWaiters) {
  auto waiting = std::async(std::launch::async,
                            [this] { return store_->Get("k", Late()); });
  ASSERT_TRUE(store_->CompareSet("k", "", "v").ok());
  EXPECT_EQ(waiting.get().value(), "v");
}

TEST_P(StoreContract, DeleteSaysWhetherThereWasSomething) {
  EXPECT_FALSE(store_->Delete("k").value());
  ASSERT_TRUE(store_->Set("k", "v").ok());
  EXPECT_TRUE(store_->Delete("k").value());
  EXPECT_FALSE(store_->Check({"k"}).value());
}

TEST_P(StoreContract, CheckWantsEveryKey) {
  EXPECT_TRUE(store_->Check({}).value());
  ASSERT_TRUE(store_->Set("a", "").ok());
  EXPECT_FALSE(store_->Check({"a", "b"}).value());
  ASSERT_TRUE(store_->Set("b", "").ok());
  EXPECT_TRUE(store_->Check({"a", "b"}).value());
}

}  // namespace
}  // namespace muster
