#include "trainer_sdk/process_group/argument_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "trainer_sdk/process_group/operations.h"

namespace muster {
namespace {

using testing::HasSubstr;

constexpr int kRank = 1;
constexpr int kSize = 3;

float g_in[64];
float g_out[64];

std::string Complaint(const Operation& operation) {
  const absl::Status status = CheckArguments(operation, kRank, kSize);
  EXPECT_TRUE(status.ok() || absl::IsInvalidArgument(status));
  return std::string(status.message());
}

constexpr DType kType = DType::kFloat32;

TEST(ArgumentCheckTest, TakesWhatIsRight) {
  const std::vector<int64_t> counts = {1, 2, 3};
  for (const Operation& operation :
       {AllReduce(g_in, g_out, 8, kType),
        AllReduce(g_in, g_in, 8, kType),
        AllReduce(nullptr, nullptr, 0, kType),
        ReduceScatter(g_in, g_out, 8, kType),
        ReduceScatter(g_in, g_in + 8, 8, kType),
        ReduceScatter(g_in, g_in + 1, counts, kType),
        AllGather(g_in, g_out, counts, kType),
        AllGather(g_in + 1, g_in, counts, kType),
        Broadcast(nullptr, g_out, 4, kType, 0),
        Broadcast(g_out, g_out, 4, kType, 0),
        Reduce(g_in, nullptr, 4, kType, 2),
        Reduce(g_in, g_in, 4, kType, 1),
        AllToAll(g_in, g_out, 4, kType),
        AllToAll(g_in, g_out, counts, {5, 2, 5}, kType),
        Gather(g_in, nullptr, 4, kType, 0),
        Gather(g_in + 4, g_in, 4, kType, 1),
        Scatter(nullptr, g_out, counts, kType, 0),
        Scatter(g_in, g_in + 1, counts, kType, 1),
        Barrier(),
        Send(g_in, 4, kType, 2),
        Receive(g_out, 4, kType, 0, 7),
        Batch({}),
        Batch({BatchSend(g_in, 3, kType, 0),
               BatchReceive(nullptr, 0, kType, 2)})}) {
    EXPECT_EQ(Complaint(operation), "");
  }
}

TEST(ArgumentCheckTest, NamesWhatIsWrong) {
  const std::vector<std::pair<Operation, std::string>> cases = {
      {AllReduce(nullptr, g_out, 8, kType), "no input for 8 elements"},
      {AllReduce(g_in, nullptr, 8, kType), "no output for 8 elements"},
      {AllReduce(g_in, g_out, -1, kType), "a count of -1 elements"},
      {AllReduce(g_in, g_out, INT64_MAX, kType), "a count of"},
      {AllReduce(g_in, g_in + 1, 8, kType), "overlap"},
      {Broadcast(g_in, g_out, 4, kType, 3), "root 3 in a group of 3"},
      {Reduce(g_in, g_out, 4, kType, -1), "root -1 in a group of 3"},
      {AllGather(g_in, g_out, {1, 2}, kType), "2 counts for a group of 3"},
      {AllGather(g_in, g_out, {1, -2, 1}, kType), "a count of -2"},
      {AllGather(g_in, g_in, 4, kType), "this rank's own part"},
      {ReduceScatter(g_in, g_in, 4, kType), "this rank's own part"},
      {Gather(g_in, g_in, 4, kType, 1), "this rank's own part"},
      {Scatter(g_in, g_in, 4, kType, 1), "this rank's own part"},
      {AllToAll(g_in, g_in, 4, kType), "overlap, which it cannot do"},
      {AllToAll(g_in, g_out, {1, 2, 3}, {1, 2}, kType), "2 counts"},
      {AllToAll(g_in, g_out, {1, 2, 3}, {3, 1, 3}, kType),
       "rank 1 sends itself 2 elements and receives 1"},
      {Send(g_in, 4, kType, 3), "peer 3 in a group of 3"},
      {Send(g_in, 4, kType, 1), "rank 1 is its own peer"},
      {Receive(g_out, 4, kType, 0, -1), "tag -1 is negative"},
      {Receive(nullptr, 4, kType, 0), "no output"},
      {Batch({BatchSend(g_in, 3, kType, 5)}), "peer 5"},
      {Batch({BatchSend(nullptr, 3, kType, 0)}), "without a buffer"},
      {Batch({BatchSend(g_in, -3, kType, 0)}), "a message of -3"},
      {Batch({PointToPoint{OperationKind::kBarrier, 0, 0, g_in, 1, kType}}),
       "neither sent nor received"},
  };
  for (const auto& [operation, complaint] : cases) {
    EXPECT_THAT(Complaint(operation), HasSubstr(complaint));
    EXPECT_THAT(Complaint(operation), HasSubstr(Name(operation.kind)));
  }
}

TEST(ArgumentCheckTest, RefusesATypeThatThePointerContradicts) {
  std::vector<double> doubles(8);
  std::vector<uint16_t> halves(8);
  std::vector<int64_t> whole(8);
  EXPECT_THAT(Complaint(AllReduce(doubles.data(), doubles.data(), 8, kType)),
              HasSubstr("elements of float32 in a buffer of float64"));
  EXPECT_THAT(Complaint(AllReduce(g_in, doubles.data(), 8, kType)),
              HasSubstr("in a buffer of float64"));
  EXPECT_THAT(Complaint(Send(whole.data(), 8, DType::kInt32, 0)),
              HasSubstr("elements of int32 in a buffer of int64"));
  // The 16-bit integers in `halves` may be the bits of bfloat16 elements, so
  // this type is accepted. A broadcast only moves bytes, so it accepts every
  // buffer as int8. An all_reduce adds elements, so it must reject a float32
  // buffer that is passed as int8.
  EXPECT_EQ(
      Complaint(AllReduce(halves.data(), halves.data(), 8, DType::kBFloat16)),
      "");
  EXPECT_EQ(Complaint(Broadcast(g_in, g_in, 32, DType::kInt8, 0)), "");
  EXPECT_THAT(Complaint(AllReduce(g_in, g_in, 32, DType::kInt8)),
              HasSubstr("elements of int8 in a buffer of float32"));
  EXPECT_EQ(Complaint(AllReduce(static_cast<void*>(doubles.data()),
                                static_cast<void*>(doubles.data()), 8, kType)),
            "");
}

TEST(ArgumentCheckTest, RangesBringTheirTypeAndLength) {
  std::vector<double> doubles(8);
  const Operation sum = AllReduce(doubles, ReduceOp::kMax);
  EXPECT_EQ(sum.kind, OperationKind::kAllReduce);
  EXPECT_EQ(sum.dtype, DType::kFloat64);
  EXPECT_EQ(sum.count, 8);
  EXPECT_EQ(sum.reduce_op, ReduceOp::kMax);
  EXPECT_EQ(sum.input, doubles.data());
  EXPECT_EQ(sum.output, doubles.data());
  EXPECT_EQ(Complaint(sum), "");
  EXPECT_EQ(Broadcast(std::span(g_in).first(5), 2).count, 5);
  EXPECT_EQ(Broadcast(g_in, 2).root, 2);
  const std::vector<int32_t> whole(3);
  EXPECT_EQ(Complaint(Send(whole, 0, 7)), "");
  EXPECT_EQ(Send(whole, 0, 7).tag, 7);
  EXPECT_EQ(Complaint(Receive(g_out, 0)), "");
  EXPECT_EQ(Receive(g_out, 0).count, 64);
}

TEST(ArgumentCheckTest, ASplitIsNoOperationOfCallers) {
  Operation split;
  split.kind = OperationKind::kSplit;
  EXPECT_THAT(Complaint(split), HasSubstr("call ProcessGroup::Split"));
}

TEST(ArgumentCheckTest, RefusesCountsOfKindsThatHaveNone) {
  Operation operation = AllReduce(g_in, g_out, 4, kType);
  operation.counts = {1, 2, 3};
  EXPECT_THAT(Complaint(operation), HasSubstr("has no counts"));
  operation = AllGather(g_in, g_out, {1, 2, 3}, kType);
  operation.receive_counts = {1, 2, 3};
  EXPECT_THAT(Complaint(operation), HasSubstr("no counts to receive"));
}

TEST(ArgumentCheckTest, SumsOfCountsDoNotOverflow) {
  const int64_t most = int64_t{1} << 46;
  EXPECT_NE(Complaint(AllGather(g_in, g_out, {most, most, most}, kType)), "");
}

}  // namespace
}  // namespace muster
