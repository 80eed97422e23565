#include "trainer_sdk/shared_memory/collectives.h"

#include <cstdint>

#include "gtest/gtest.h"

namespace muster {
namespace {

Operation Of(OperationKind kind) {
  Operation operation;
  operation.kind = kind;
  operation.count = 10;
  operation.root = 1;
  return operation;
}

TEST(Flow, AnAllGatherPutsPartsSideBySide) {
  Operation operation = Of(OperationKind::kAllGather);
  operation.counts = {3, 0, 5};
  const Flow flow(operation, 2, 3);
  EXPECT_TRUE(flow.one_lane());
  EXPECT_FALSE(flow.reduces());
  EXPECT_EQ(flow.SendCount(0), 5);
  EXPECT_EQ(flow.ReceiveCount(0), 3);
  EXPECT_EQ(flow.OutputOffset(1), 3);
  EXPECT_EQ(flow.OutputOffset(2), 3);
  EXPECT_EQ(flow.LongestLane(), 5);
  EXPECT_EQ(flow.Bytes(), 8 * 4);
}

TEST(Flow, AReduceScatterCombinesOwnParts) {
  Operation operation = Of(OperationKind::kReduceScatter);
  operation.counts = {3, 4, 5};
  const Flow flow(operation, 1, 3);
  EXPECT_TRUE(flow.reduces());
  EXPECT_EQ(flow.SendCount(2), 5);
  EXPECT_EQ(flow.InputOffset(2), 7);
  EXPECT_EQ(flow.ReceiveCount(2), 4);
  EXPECT_EQ(flow.OutputOffset(2), 0);
}

TEST(Flow, AnAllToAllHasALaneForEachPair) {
  Operation operation = Of(OperationKind::kAllToAll);
  operation.counts = {1, 2, 3};
  operation.receive_counts = {4, 2, 6};
  const Flow flow(operation, 1, 3);
  EXPECT_FALSE(flow.one_lane());
  EXPECT_EQ(flow.InputOffset(2), 3);
  EXPECT_EQ(flow.ReceiveCount(2), 6);
  EXPECT_EQ(flow.OutputOffset(2), 6);
  EXPECT_EQ(flow.Bytes(), 12 * 4);
}

TEST(Flow, RootsSendOrReceiveAlone) {
  const Operation broadcast = Of(OperationKind::kBroadcast);
  EXPECT_TRUE(Flow(broadcast, 0, 3).Sends(1));
  EXPECT_FALSE(Flow(broadcast, 0, 3).Sends(0));
  EXPECT_TRUE(Flow(broadcast, 0, 3).Receives(0));
  const Operation gather = Of(OperationKind::kGather);
  EXPECT_TRUE(Flow(gather, 0, 3).Receives(1));
  EXPECT_FALSE(Flow(gather, 0, 3).Receives(0));
  const Operation scatter = Of(OperationKind::kScatter);
  EXPECT_EQ(Flow(scatter, 0, 3).InputOffset(2), 20);
  EXPECT_EQ(Flow(scatter, 0, 3).OutputOffset(1), 0);
}

TEST(ShareBegin, CoversEverythingOnceInWholeLines) {
  for (const int size : {1, 2, 3, 8}) {
    for (const int64_t count : {0, 1, 15, 16, 17, 1000}) {
      EXPECT_EQ(ShareBegin(count, 0, size, 16), 0);
      EXPECT_EQ(ShareBegin(count, size, size, 16), count);
      for (int rank = 0; rank < size; ++rank) {
        const int64_t begin = ShareBegin(count, rank, size, 16);
        EXPECT_LE(begin, ShareBegin(count, rank + 1, size, 16));
        EXPECT_TRUE(begin % 16 == 0 || begin == count);
      }
    }
  }
}

}  // namespace
}  // namespace muster
