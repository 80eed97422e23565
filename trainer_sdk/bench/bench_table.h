#ifndef MUSTER_TRAINER_SDK_BENCH_BENCH_TABLE_H_
#define MUSTER_TRAINER_SDK_BENCH_BENCH_TABLE_H_

#include <cstdint>
#include <optional>
#include <string>

#include "trainer_sdk/process_group/operation.h"

namespace muster {

// One half of a row: the out-of-place or in-place measurement.
struct BenchMeasurement {
  double microseconds = 0;  // time of one operation, mean over all ranks
  // number of wrong elements on all ranks; none: not checked
  std::optional<int64_t> wrong;
};

struct BenchRow {
  OperationKind kind = OperationKind::kAllReduce;
  int64_t bytes = 0;  // of the longer buffer
  int64_t count = 0;  // number of elements of the shorter buffer
  DType dtype = DType::kFloat32;
  ReduceOp op = ReduceOp::kSum;
  int root = 0;
  int ranks = 1;
  BenchMeasurement out_of_place;
  std::optional<BenchMeasurement> in_place;  // none: not supported in place
};

// The factor between algbw and busbw.
double BusFactor(OperationKind kind, int ranks);

// The table format of nccl-tests, so that its parsers work. Pure.
std::string BenchHead();
std::string BenchLine(const BenchRow& row);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_BENCH_BENCH_TABLE_H_
