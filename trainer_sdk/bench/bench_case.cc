#include "trainer_sdk/bench/bench_case.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "trainer_sdk/process_group/element.h"
#include "trainer_sdk/process_group/operations.h"
#include "trainer_sdk/process_group/signature.h"

namespace muster {
namespace {

// A rank's values repeat after this number of elements, so expected results are
// computed for one period only. A prime, so that no two pieces into which a
// transport cuts a buffer are equal.
constexpr int64_t kPeriod = 1021;

// The byte with which outputs are filled before the operation.
constexpr int kPoison = 0xA5;

// The value depends on rank, position and buffer length, so that leftovers of
// another operation are not taken for correct results.
double Given(const BenchCase& test, int rank, int64_t index) {
  auto mixed = static_cast<uint64_t>(index % kPeriod) * 0x9e3779b97f4a7c15u +
               static_cast<uint64_t>(rank) * 0xbf58476d1ce4e5b9u +
               static_cast<uint64_t>(test.count) * 0x94d049bb133111ebu;
  mixed = (mixed ^ (mixed >> 29)) * 0xbf58476d1ce4e5b9u;
  const auto step = static_cast<int>(mixed >> 62);
  // Products over many ranks must fit an int8.
  if (test.op == ReduceOp::kProd) return rank < 6 && step == 0 ? 2 : 1;
  return step + 1;
}

double Reduced(const BenchCase& test, int64_t index) {
  double result = Given(test, 0, index);
  for (int rank = 1; rank < test.size; rank++) {
    const double value = Given(test, rank, index);
    switch (test.op) {
      case ReduceOp::kSum:
      case ReduceOp::kAvg:
        result += value;
        break;
      case ReduceOp::kMin:
        result = std::min(result, value);
        break;
      case ReduceOp::kMax:
        result = std::max(result, value);
        break;
      case ReduceOp::kProd:
        result *= value;
        break;
    }
  }
  if (test.op == ReduceOp::kAvg) {
    result /= test.size;
    if (!IsFloat(test.dtype)) result = std::trunc(result);
  }
  // The int8 sum over very many ranks wraps around.
  if (test.dtype == DType::kInt8 && !(result >= -128 && result <= 127)) {
    result = static_cast<int8_t>(static_cast<int64_t>(result));
  }
  return result;
}

bool InParts(OperationKind kind) {
  return kind == OperationKind::kReduceScatter ||
         kind == OperationKind::kAllGather || kind == OperationKind::kGather ||
         kind == OperationKind::kScatter || kind == OperationKind::kAllToAll;
}

// The origin of one part of the output, `count` elements long.
struct Source {
  bool reduced = false;
  int rank = 0;
  int64_t begin = 0;
};

Source SourceOf(const BenchCase& test, int part) {
  switch (test.kind) {
    case OperationKind::kAllReduce:
    case OperationKind::kReduce:
      return {true, 0, 0};
    case OperationKind::kReduceScatter:
      return {true, 0, test.rank * test.count};
    case OperationKind::kBroadcast:
      return {false, test.root, 0};
    case OperationKind::kScatter:
      return {false, test.root, test.rank * test.count};
    case OperationKind::kAllToAll:
      return {false, part, test.rank * test.count};
    case OperationKind::kBatch:
      return {false, (test.rank + test.size - 1) % test.size, 0};
    default:
      return {false, part, 0};
  }
}

// The number of parts of `count` elements in this rank's output.
int PartsOfOutput(const BenchCase& test) {
  switch (test.kind) {
    case OperationKind::kAllGather:
    case OperationKind::kAllToAll:
      return test.size;
    case OperationKind::kGather:
      return test.rank == test.root ? test.size : 0;
    case OperationKind::kReduce:
      return test.rank == test.root ? 1 : 0;
    case OperationKind::kBarrier:
      return 0;
    default:
      return 1;
  }
}

int64_t InputLength(const BenchCase& test) {
  switch (test.kind) {
    case OperationKind::kReduceScatter:
    case OperationKind::kAllToAll:
      return test.count * test.size;
    case OperationKind::kScatter:
      return test.rank == test.root ? test.count * test.size : 0;
    case OperationKind::kBroadcast:
      return test.rank == test.root ? test.count : 0;
    case OperationKind::kBarrier:
      return 0;
    default:
      return test.count;
  }
}

const void* InputOf(const Operation& operation) {
  return operation.kind == OperationKind::kBatch ? operation.messages[0].data
                                                 : operation.input;
}

const void* OutputOf(const Operation& operation) {
  return operation.kind == OperationKind::kBatch ? operation.messages[1].data
                                                 : operation.output;
}

Operation Of(const BenchCase& test, const void* input, void* output) {
  if (test.kind == OperationKind::kBatch) {
    return Batch(
        {BatchSend(input, test.count, test.dtype, (test.rank + 1) % test.size),
         BatchReceive(output, test.count, test.dtype,
                      (test.rank + test.size - 1) % test.size)});
  }
  Operation operation;
  operation.kind = test.kind;
  operation.dtype = test.dtype;
  operation.reduce_op = test.op;
  operation.root = test.root;
  operation.count = test.count;
  operation.input = input;
  operation.output = output;
  return operation;
}

}  // namespace

int64_t BenchCase::longest() const {
  return InParts(kind) ? count * size : count;
}

BenchCase BenchCaseOf(OperationKind kind, DType dtype, ReduceOp op, int root,
                      int rank, int size, int64_t bytes) {
  BenchCase test;
  test.kind = kind;
  test.dtype = dtype;
  test.op = op;
  test.root = root;
  test.rank = rank;
  test.size = size;
  test.count = bytes / SizeOf(dtype) / (InParts(kind) ? size : 1);
  return test;
}

bool HasInPlace(OperationKind kind) {
  return kind != OperationKind::kAllToAll && kind != OperationKind::kBatch &&
         kind != OperationKind::kBarrier;
}

Operation OutOfPlace(const BenchCase& test, void* first, void* second) {
  return Of(test, first, second);
}

Operation InPlace(const BenchCase& test, void* buffer) {
  void* const own =
      static_cast<char*>(buffer) + test.rank * test.count * SizeOf(test.dtype);
  const bool is_root = test.rank == test.root;
  switch (test.kind) {
    case OperationKind::kAllGather:
      return Of(test, own, buffer);
    case OperationKind::kGather:
      return is_root ? Of(test, own, buffer) : Of(test, buffer, nullptr);
    case OperationKind::kReduceScatter:
      return Of(test, buffer, own);
    case OperationKind::kScatter:
      return is_root ? Of(test, buffer, own) : Of(test, nullptr, buffer);
    default:
      return Of(test, buffer, buffer);
  }
}

void Prepare(const BenchCase& test, const Operation& operation) {
  const int64_t width = SizeOf(test.dtype);
  const int64_t output = PartsOfOutput(test) * test.count * width;
  if (output > 0) {
    std::memset(const_cast<void*>(OutputOf(operation)), kPoison, output);
  }
  // In place, this overwrites a part of the output's fill.
  const int64_t bytes = InputLength(test) * width;
  std::vector<char> pattern(kPeriod * width);
  for (int64_t i = 0; i < std::min(kPeriod, InputLength(test)); i++) {
    EncodeElement(Given(test, test.rank, i), test.dtype, &pattern[i * width]);
  }
  char* const to = static_cast<char*>(const_cast<void*>(InputOf(operation)));
  for (int64_t at = 0; at < bytes; at += kPeriod * width) {
    std::memcpy(to + at, pattern.data(), std::min(kPeriod * width, bytes - at));
  }
}

int64_t CountWrong(const BenchCase& test, const Operation& operation) {
  int64_t wrong = 0;
  const int64_t width = SizeOf(test.dtype);
  const char* at = static_cast<const char*>(OutputOf(operation));
  std::vector<double> expected(std::min(kPeriod, test.count));
  for (int part = 0; part < PartsOfOutput(test); part++) {
    const Source source = SourceOf(test, part);
    for (size_t i = 0; i < expected.size(); i++) {
      const int64_t index = source.begin + static_cast<int64_t>(i);
      expected[i] = source.reduced ? Reduced(test, index)
                                   : Given(test, source.rank, index);
    }
    const double tolerance =
        source.reduced ? test.size * EpsilonOf(test.dtype) : 0;
    for (int64_t i = 0; i < test.count; i++, at += width) {
      const double want = expected[i % kPeriod];
      const double found = DecodeElement(test.dtype, at);
      if (!(std::fabs(found - want) <= tolerance * std::fabs(want))) wrong++;
    }
  }
  return wrong;
}

}  // namespace muster
