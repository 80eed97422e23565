#include "trainer_sdk/process_group/last_operations.h"

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

TEST(LastOperationsTest, NothingToSayWhereAllCalledTheSame) {
  EXPECT_EQ(CompareLastOperations({Sum(3), Sum(3)}, ""), "");
}

TEST(LastOperationsTest, RankWithFewerCallsIsNamed) {
  EXPECT_EQ(CompareLastOperations({Sum(3), Sum(2), Sum(3)}, ""),
            "ranks 0, 2 called all_reduce #3 of 4 float32 (16 bytes), sum; "
            "rank 1 is behind, at all_reduce #2 of 4 float32 (16 bytes), sum");
}

TEST(LastOperationsTest, MismatchNamesTheMajorityFirst) {
  EXPECT_EQ(CompareLastOperations({Call(Barrier(), 3), Sum(3), Sum(3)}, ""),
            "ranks 1-2 called all_reduce #3 of 4 float32 (16 bytes), sum; "
            "rank 0 called barrier #3");
}

TEST(LastOperationsTest, NamesTheSilent) {
  EXPECT_EQ(CompareLastOperations({Sum(3), std::nullopt}, ""),
            "of rank 1 nothing is known: it has not called, waits elsewhere "
            "or is gone");
  EXPECT_EQ(CompareLastOperations({std::nullopt, std::nullopt, Sum(1)}, ""),
            "of ranks 0-1 nothing is known: they have not called, wait "
            "elsewhere or are gone");
}

TEST(LastOperationsTest, RankInTheFailureIsNotRepeated) {
  EXPECT_EQ(CompareLastOperations({Sum(3), std::nullopt, std::nullopt},
                                  "waited for rank 1 (pid 7); rank 2"),
            "");
  EXPECT_EQ(CompareLastOperations({Sum(3), std::nullopt, std::nullopt},
                                  "waited for rank 12, rank 2"),
            "of rank 1 nothing is known: it has not called, waits elsewhere "
            "or is gone");
  EXPECT_EQ(CompareLastOperations({Sum(3), Sum(2)}, "waited for rank 1"),
            "rank 0 called all_reduce #3 of 4 float32 (16 bytes), sum; "
            "rank 1 is behind, at all_reduce #2 of 4 float32 (16 bytes), sum");
}

TEST(LastOperationsTest, MessagesAreReported) {
  EXPECT_EQ(CompareLastOperations(
                {Call(Receive(nullptr, 1, DType::kInt8, 1), 2), Sum(3)}, ""),
            "rank 0 was in receive after #2 of 1 int8 (1 bytes) from rank 1");
}

TEST(LastOperationsTest, ReadsWhatIsThereAndOnlyThat) {
  GroupPlace place;
  place.size = 3;
  place.store = std::make_shared<InProcessStore>();
  ASSERT_TRUE(PublishLastOperation(place, Sum(7)).ok());
  place.rank = 2;
  ASSERT_TRUE(PublishLastOperation(place, Sum(6)).ok());
  const auto operations = ReadLastOperations(place, MonotonicNow());
  ASSERT_EQ(operations.size(), 3u);
  EXPECT_EQ(operations[0], Sum(7));
  EXPECT_EQ(operations[1], std::nullopt);
  EXPECT_EQ(operations[2], Sum(6));
}

TEST(LastOperationsTest, InvalidRecordIsIgnored) {
  GroupPlace place;
  place.size = 2;
  place.store = std::make_shared<InProcessStore>();
  ASSERT_TRUE(place.store->Set("last_operation/0", "nonsense").ok());
  ASSERT_TRUE(place.store->Set("last_operation/1", Encoded(Sum(1))).ok());
  const auto operations = ReadLastOperations(place, MonotonicNow());
  EXPECT_EQ(operations[0], std::nullopt);
  EXPECT_EQ(operations[1], Sum(1));
}

}  // namespace
}  // namespace muster
