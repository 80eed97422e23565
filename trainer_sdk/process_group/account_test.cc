#include "trainer_sdk/process_group/account.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

#include "base/monotonic_clock.h"
#include "trainer_sdk/process_group/operations.h"
#include "trainer_sdk/store/in_process_store.h"

namespace muster {
namespace {

OperationSignature Call(const Operation& operation, uint64_t sequence) {
  return SignatureOf(operation, sequence);
}

OperationSignature Sum(uint64_t sequence) {
  return Call(AllReduce(nullptr, nullptr, 4, DType::kFloat32), sequence);
}

TEST(AccountTest, NothingToSayWhereAllCalledTheSame) {
  EXPECT_EQ(CompareAccounts({Sum(3), Sum(3)}, ""), "");
}

TEST(AccountTest, NamesWhoIsBehind) {
  EXPECT_EQ(CompareAccounts({Sum(3), Sum(2), Sum(3)}, ""),
            "ranks 0, 2 called all_reduce #3 of 4 float32 (16 bytes), sum; "
            "rank 1 is behind, at all_reduce #2 of 4 float32 (16 bytes), sum");
}

TEST(AccountTest, NamesWhoCalledSomethingElseAfterTheMost) {
  EXPECT_EQ(CompareAccounts({Call(Barrier(), 3), Sum(3), Sum(3)}, ""),
            "ranks 1-2 called all_reduce #3 of 4 float32 (16 bytes), sum; "
            "rank 0 called barrier #3");
}

TEST(AccountTest, NamesTheSilent) {
  EXPECT_EQ(CompareAccounts({Sum(3), std::nullopt}, ""),
            "of rank 1 nothing is known: it has not called, waits elsewhere "
            "or is gone");
  EXPECT_EQ(CompareAccounts({std::nullopt, std::nullopt, Sum(1)}, ""),
            "of ranks 0-1 nothing is known: they have not called, wait "
            "elsewhere or are gone");
}

TEST(AccountTest, DoesNotSayTwiceWhoDidNotCome) {
  EXPECT_EQ(CompareAccounts({Sum(3), std::nullopt, std::nullopt},
                            "waited for rank 1 (pid 7); rank 2"),
            "");
  EXPECT_EQ(CompareAccounts({Sum(3), std::nullopt, std::nullopt},
                            "waited for rank 12, rank 2"),
            "of rank 1 nothing is known: it has not called, waits elsewhere "
            "or is gone");
  EXPECT_EQ(CompareAccounts({Sum(3), Sum(2)}, "waited for rank 1"),
            "rank 0 called all_reduce #3 of 4 float32 (16 bytes), sum; "
            "rank 1 is behind, at all_reduce #2 of 4 float32 (16 bytes), sum");
}

TEST(AccountTest, TellsOfMessages) {
  EXPECT_EQ(CompareAccounts(
                {Call(Receive(nullptr, 1, DType::kInt8, 1), 2), Sum(3)}, ""),
            "rank 0 was in receive after #2 of 1 int8 (1 bytes) from rank 1");
}

TEST(AccountTest, ReadsWhatIsThereAndOnlyThat) {
  GroupPlace place;
  place.size = 3;
  place.store = std::make_shared<InProcessStore>();
  ASSERT_TRUE(PublishAccount(place, Sum(7)).ok());
  place.rank = 2;
  ASSERT_TRUE(PublishAccount(place, Sum(6)).ok());
  const auto accounts = ReadAccounts(place, MonotonicNow());
  ASSERT_EQ(accounts.size(), 3u);
  EXPECT_EQ(accounts[0], Sum(7));
  EXPECT_EQ(accounts[1], std::nullopt);
  EXPECT_EQ(accounts[2], Sum(6));
}

TEST(AccountTest, WhatIsNoAccountIsNone) {
  GroupPlace place;
  place.size = 2;
  place.store = std::make_shared<InProcessStore>();
  ASSERT_TRUE(place.store->Set("account/0", "nonsense").ok());
  ASSERT_TRUE(place.store->Set("account/1", Encoded(Sum(1))).ok());
  const auto accounts = ReadAccounts(place, MonotonicNow());
  EXPECT_EQ(accounts[0], std::nullopt);
  EXPECT_EQ(accounts[1], Sum(1));
}

}  // namespace
}  // namespace muster
