#include "trainer_sdk/bench/bench_table.h"

#include <gtest/gtest.h>

namespace muster {
namespace {

TEST(BenchTableTest, LooksAsNcclTestsDoes) {
  BenchRow row;
  row.bytes = 1048576;
  row.count = 262144;
  row.ranks = 4;
  row.out_of_place = {104.8576, 0};
  row.in_place = BenchMeasurement{52.4288, 3};
  EXPECT_EQ(BenchHead() + BenchLine(row),
            R"(#
#                                                              out-of-place                       in-place
#       size         count      type   redop    root     time   algbw   busbw  #wrong     time   algbw   busbw  #wrong
#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)
     1048576        262144     float     sum      -1    104.9   10.00   15.00      0    52.43   20.00   30.00      3
)");
}

TEST(BenchTableTest, MissingValuesAreNotShown) {
  BenchRow row;
  row.kind = OperationKind::kAllToAll;
  row.bytes = 8;
  row.count = 1;
  row.ranks = 2;
  row.out_of_place = {20000, std::nullopt};
  EXPECT_EQ(BenchLine(row),
            "           8             1     float    none      -1    20000    "
            "0.00    0.00    N/A      N/A     N/A     N/A    N/A\n");
  row.kind = OperationKind::kReduce;
  row.root = 1;
  row.op = ReduceOp::kMax;
  EXPECT_NE(BenchLine(row).find("max       1"), std::string::npos);
}

TEST(BenchTableTest, BusFactorsAreNcclTests) {
  EXPECT_EQ(BusFactor(OperationKind::kAllReduce, 4), 1.5);
  EXPECT_EQ(BusFactor(OperationKind::kReduceScatter, 4), 0.75);
  EXPECT_EQ(BusFactor(OperationKind::kAllGather, 4), 0.75);
  EXPECT_EQ(BusFactor(OperationKind::kAllToAll, 4), 0.75);
  EXPECT_EQ(BusFactor(OperationKind::kBroadcast, 4), 1);
  EXPECT_EQ(BusFactor(OperationKind::kReduce, 4), 1);
  EXPECT_EQ(BusFactor(OperationKind::kBatch, 4), 1);
}

}  // namespace
}  // namespace muster
