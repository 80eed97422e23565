#include "trainer_sdk/process_group/signature.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "trainer_sdk/process_group/operation.h"
#include "trainer_sdk/process_group/operations.h"

namespace muster {
namespace {

void* const kData = nullptr;

TEST(SignatureTest, DescribesEveryShape) {
  EXPECT_EQ(
      Describe(SignatureOf(AllReduce(kData, kData, 1024, DType::kFloat32), 12)),
      "all_reduce #12 of 1024 float32 (4096 bytes), sum");
  EXPECT_EQ(
      Describe(SignatureOf(Broadcast(kData, kData, 7, DType::kInt8, 0), 3)),
      "broadcast #3 of 7 int8 (7 bytes) from rank 0");
  EXPECT_EQ(Describe(SignatureOf(
                Gather(kData, kData, {1, 2, 3}, DType::kInt64, 2), 4)),
            "gather #4 of 6 int64 (48 bytes in parts, counts f5ab) to rank 2");
  EXPECT_NE(Describe(SignatureOf(
                AllGather(kData, kData, {1, 2, 3}, DType::kInt64), 4)),
            Describe(SignatureOf(
                AllGather(kData, kData, {3, 2, 1}, DType::kInt64), 4)));
  EXPECT_EQ(Describe(SignatureOf(Barrier(), 5)), "barrier #5");
  OperationSignature split;
  split.kind = OperationKind::kSplit;
  split.sequence = 6;
  EXPECT_EQ(Describe(split), "split #6");
  EXPECT_EQ(Describe(SignatureOf(Send(kData, 2, DType::kFloat32, 1), 4)),
            "send after #4 of 2 float32 (8 bytes) to rank 1");
  EXPECT_EQ(
      Describe(SignatureOf(Batch({BatchSend(kData, 2, DType::kFloat64, 1),
                                  BatchReceive(kData, 3, DType::kFloat64, 1)}),
                           4)),
      "batch after #4 of 2 messages, 5 float64 (40 bytes)");
}

TEST(SignatureTest, ABatchOfSeveralTypesIsOfBytes) {
  const OperationSignature mixed =
      SignatureOf(Batch({BatchSend(kData, 1000, DType::kFloat64, 1),
                         BatchReceive(kData, 1000, DType::kFloat32, 1)}),
                  0);
  EXPECT_EQ(Describe(mixed), "batch after #0 of 2 messages (12000 bytes)");
  // The text of a batch with several types gives only its bytes and names no
  // type, even if the types have the same size.
  EXPECT_EQ(
      Describe(SignatureOf(Batch({BatchSend(kData, 10, DType::kFloat32, 1),
                                  BatchSend(kData, 5, DType::kInt32, 2)}),
                           0)),
      "batch after #0 of 2 messages (60 bytes)");
  EXPECT_EQ(
      Describe(SignatureOf(Batch({BatchSend(kData, 1, DType::kInt64, 1)}), 0)),
      "batch after #0 of 1 message, 1 int64 (8 bytes)");
  EXPECT_EQ(Describe(SignatureOf(Batch({}), 0)),
            "batch after #0 of 0 messages, 0 float32 (0 bytes)");
  const auto decoded = DecodeSignature(Encoded(mixed));
  ASSERT_TRUE(decoded.ok());
  EXPECT_EQ(*decoded, mixed);
}

TEST(SignatureTest, NamesWhomABatchIsWithOnce) {
  Operation batch;
  batch.kind = OperationKind::kBatch;
  for (const int peer : {3, 1, 3, 3, 1, 0}) {
    batch.messages.push_back(BatchSend(kData, 1, DType::kInt8, peer));
  }
  const BatchPeers peers = BatchPeersOf(batch);
  ASSERT_EQ(peers.count, 3);
  EXPECT_EQ(peers.ranks[0], 3);
  EXPECT_EQ(peers.ranks[1], 1);
  EXPECT_EQ(peers.ranks[2], 0);
  for (int peer = 4; peer < 9; peer++) {
    batch.messages.push_back(BatchReceive(kData, 1, DType::kInt8, peer));
  }
  EXPECT_EQ(BatchPeersOf(batch).count, 8);
  batch.messages.push_back(BatchReceive(kData, 1, DType::kInt8, 9));
  EXPECT_EQ(BatchPeersOf(batch).count, 0) << "a part of them would mislead";
  EXPECT_EQ(BatchPeersOf(Barrier()).count, 0);
}

TEST(SignatureTest, ComparesWhatAKindUsesAndNothingElse) {
  const OperationSignature a =
      SignatureOf(AllReduce(kData, kData, 5, DType::kFloat32), 1);
  OperationSignature b = a;
  b.root = 3;
  EXPECT_TRUE(SameCollective(a, b)) << "an all_reduce has no root";
  for (auto change :
       {+[](OperationSignature& s) { s.sequence++; },
        +[](OperationSignature& s) { s.kind = OperationKind::kReduceScatter; },
        +[](OperationSignature& s) { s.dtype = DType::kInt32; },
        +[](OperationSignature& s) { s.reduce_op = ReduceOp::kMax; },
        +[](OperationSignature& s) { s.count++; },
        +[](OperationSignature& s) { s.counts_hash++; }}) {
    b = a;
    change(b);
    EXPECT_FALSE(SameCollective(a, b)) << Describe(b);
  }
  OperationSignature c =
      SignatureOf(Broadcast(kData, kData, 5, DType::kFloat32, 0), 1);
  OperationSignature d = c;
  d.reduce_op = ReduceOp::kMin;
  EXPECT_TRUE(SameCollective(c, d)) << "a broadcast reduces nothing";
  d.root = 1;
  EXPECT_FALSE(SameCollective(c, d));
}

TEST(SignatureTest, PartsMustAgreeExceptThoseOfAllToAll) {
  const auto gather = [](const std::vector<int64_t>& counts) {
    return SignatureOf(AllGather(kData, kData, counts, DType::kInt8), 1);
  };
  EXPECT_TRUE(SameCollective(gather({1, 2}), gather({1, 2})));
  EXPECT_FALSE(SameCollective(gather({1, 2}), gather({2, 1})));
  EXPECT_TRUE(SameCollective(
      SignatureOf(AllToAll(kData, kData, {1, 2}, {1, 7}, DType::kInt8), 1),
      SignatureOf(AllToAll(kData, kData, {7, 3}, {2, 3}, DType::kInt8), 1)));
  EXPECT_FALSE(
      SameCollective(SignatureOf(AllToAll(kData, kData, 3, DType::kInt8), 1),
                     SignatureOf(AllToAll(kData, kData, 4, DType::kInt8), 1)));
}

TEST(SignatureTest, ComesBackFromItsText) {
  const OperationSignature signature = SignatureOf(
      ReduceScatter(kData, kData, {4, 0, 9}, DType::kBFloat16, ReduceOp::kAvg),
      uint64_t{1} << 63);
  const auto decoded = DecodeSignature(Encoded(signature));
  ASSERT_TRUE(decoded.ok());
  EXPECT_EQ(*decoded, signature);
}

TEST(SignatureTest, ACountWhoseBytesOverflowIsDescribed) {
  OperationSignature signature;
  signature.kind = OperationKind::kAllReduce;
  signature.count = int64_t{1} << 62;
  EXPECT_EQ(Describe(signature),
            "all_reduce #0 of 4611686018427387904 float32 (9223372036854775807 "
            "bytes), sum");
}

TEST(SignatureTest, RefusesOtherTexts) {
  for (const char* text :
       {"", " ", "1 2 3", "1 99 0 0 0 0 0 0", "1 0 7 0 0 0 0 0",
        "1 0 0 5 0 0 0 0", "-1 0 0 0 0 0 0 0", "1 0 0 0 0 0 0",
        "1 0 0 0 0 0 0 0 0", "1 0 0 0 99999999999 0 0 0", "x 0 0 0 0 0 0 0",
        "1 0 0 0 0 0 0 2", "1 0 0 0 0 0 0 -1"}) {
    EXPECT_EQ(DecodeSignature(text).status().code(),
              absl::StatusCode::kInvalidArgument)
        << text;
  }
}

}  // namespace
}  // namespace muster
