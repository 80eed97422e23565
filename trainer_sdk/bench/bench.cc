#include "trainer_sdk/bench/bench.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <new>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/monotonic_clock.h"
#include "trainer_sdk/bench/bench_table.h"
#include "trainer_sdk/process_group/argument_check.h"
#include "trainer_sdk/process_group/element.h"
#include "trainer_sdk/process_group/operation.h"
#include "trainer_sdk/process_group/operations.h"
#include "trainer_sdk/process_group/signature.h"

namespace muster {
namespace {

// One operation to measure, as one rank calls it: what is run, on how many
// elements of which type, and on which rank. The functions below that take a
// BenchCase change nothing but the buffers that are passed to them.
struct BenchCase {
  OperationKind kind = OperationKind::kAllReduce;
  DType dtype = DType::kFloat32;
  ReduceOp op = ReduceOp::kSum;
  int root = 0;
  int rank = 0;
  int size = 1;
  int64_t count = 0;  // elements in the shorter one of input and output

  // The number of elements in the longer one of input and output.
  int64_t longest() const;
};

// The input values of a rank repeat after this number of elements, so that the
// expected results need to be computed for one period only. It is a prime, so
// that the pieces into which a transport cuts a buffer have different contents.
constexpr int64_t kPeriod = 1021;

// The byte with which an output buffer is filled before the operation, so that
// the check finds elements that the operation does not write.
constexpr int kPoison = 0xA5;

// The input value of `rank` at position `index`. It depends on rank, position
// and buffer length, so that data left over from another operation is not taken
// for a correct result.
double InputValue(const BenchCase& test, int rank, int64_t index) {
  auto mixed = static_cast<uint64_t>(index % kPeriod) * 0x9e3779b97f4a7c15u +
               static_cast<uint64_t>(rank) * 0xbf58476d1ce4e5b9u +
               static_cast<uint64_t>(test.count) * 0x94d049bb133111ebu;
  mixed = (mixed ^ (mixed >> 29)) * 0xbf58476d1ce4e5b9u;
  const auto step = static_cast<int>(mixed >> 62);
  // For products, most input values are 1 and few are 2, so that the product
  // over many ranks stays in the range of int8.
  if (test.op == ReduceOp::kProd) return rank < 6 && step == 0 ? 2 : 1;
  return step + 1;
}

double Reduced(const BenchCase& test, int64_t index) {
  double result = InputValue(test, 0, index);
  for (int rank = 1; rank < test.size; rank++) {
    const double value = InputValue(test, rank, index);
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
  // In int8 the sum of many values wraps around, in every transport. So the
  // expected result must wrap around, too.
  if (test.dtype == DType::kInt8 && !(result >= -128 && result <= 127)) {
    result = static_cast<int8_t>(static_cast<int64_t>(result));
  }
  return result;
}

// The source of one part of the expected output: BenchCase::count elements from
// position `begin` on. If `reduced`, these are elements of the reduction of all
// ranks' inputs, otherwise of the input of `rank`.
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

// The number of parts of the output on this rank. Each part has test.count
// elements.
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

int64_t BenchCase::longest() const {
  return HasParts(kind) ? count * size : count;
}

// Returns the test case for buffers of `bytes` bytes: the longer one of input
// and output has as many elements as fit.
BenchCase BenchCaseOf(OperationKind kind, DType dtype, ReduceOp op, int root,
                      int rank, int size, int64_t bytes) {
  BenchCase test;
  test.kind = kind;
  test.dtype = dtype;
  test.op = op;
  test.root = root;
  test.rank = rank;
  test.size = size;
  test.count = bytes / SizeOf(dtype) / (HasParts(kind) ? size : 1);
  return test;
}

// Whether the operation can run in place, with input and output in one buffer.
bool HasInPlace(OperationKind kind) {
  return kind != OperationKind::kAllToAll && kind != OperationKind::kBatch &&
         kind != OperationKind::kBarrier;
}

// Constructs the out-of-place form of the operation. Each buffer must have room
// for longest() elements.
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

// Fills the output of `operation` with kPoison, and then the input with the
// input values of this rank.
void Prepare(const BenchCase& test, const Operation& operation) {
  const int64_t width = SizeOf(test.dtype);
  const int64_t output = PartsOfOutput(test) * test.count * width;
  if (output > 0) {
    std::memset(const_cast<void*>(OutputOf(operation)), kPoison, output);
  }
  // Write the input after the output: in an in-place operation the input is a
  // part of the output buffer, so filling the output would destroy the input.
  const int64_t bytes = InputLength(test) * width;
  std::vector<char> pattern(kPeriod * width);
  for (int64_t i = 0; i < std::min(kPeriod, InputLength(test)); i++) {
    EncodeElement(InputValue(test, test.rank, i), test.dtype,
                  &pattern[i * width]);
  }
  char* const to = static_cast<char*>(const_cast<void*>(InputOf(operation)));
  for (int64_t at = 0; at < bytes; at += kPeriod * width) {
    std::memcpy(to + at, pattern.data(), std::min(kPeriod * width, bytes - at));
  }
}

// The number of wrong elements in the output.
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
                                   : InputValue(test, source.rank, index);
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

absl::Status OutOfMemory(int64_t longest) {
  return absl::ResourceExhaustedError(absl::StrCat(
      "out of memory: every rank needs two buffers of ", longest,
      " bytes (-e), and what its transport copies; a smaller -e, or fewer "
      "ranks on this host"));
}

int64_t LongestBuffer(const BenchOptions& options) {
  return std::max<int64_t>(64, BenchSizes(options).back());
}

class Bench {
 public:
  Bench(ProcessGroup& group, const BenchOptions& options,
        const std::function<void(const std::string&)>& print)
      : group_(group),
        options_(options),
        print_(print),
        on_device_(std::string(group.transport_name()) == "nccl") {}

  absl::Status Run() {
    absl::Status status = AllocateBuffers();
    if (!status.ok()) return status;
    if (!on_device_) status = Settle();
    if (!status.ok()) return status;
    PrintHead();
    for (const DType dtype : options_.dtypes) {
      for (size_t op = 0; op < Ops(); op++) {
        for (const int64_t bytes : BenchSizes(options_)) {
          status = Measure(dtype, options_.ops[op], bytes);
          if (!status.ok()) return status;
        }
      }
    }
    return Finish();
  }

 private:
  // The number of reductions (sum, max, ...) with which the operation is
  // measured; 1 for operations that do not reduce, such as broadcast.
  size_t Ops() const {
    return IsReduction(options_.kind) ? options_.ops.size() : 1;
  }

  void Print(const std::string& text) const {
    if (group_.rank() == 0) print_(text);
  }

  absl::Status AllocateBuffers() {
    if (options_.kind == OperationKind::kBatch && group_.size() == 1) {
      return absl::InvalidArgumentError("sendrecv needs two ranks");
    }
    if (options_.root >= group_.size()) {
      return absl::InvalidArgumentError(
          absl::StrCat("-r ", options_.root, " in a group of ", group_.size()));
    }
    const int64_t most = LongestBuffer(options_);
    for (Buffer* buffer : {&first_, &second_}) {
      absl::Status status = buffer->Allocate(
          group_, on_device_ ? BenchMemory::kTransports : options_.memory,
          most);
      if (!status.ok()) return status;
    }
    return absl::OkStatus();
  }

  // Runs barriers for a while before the measurement. The operating system may
  // run new processes on one core for some milliseconds before it distributes
  // them over all cores. Without this warm-up, the measurement would include
  // that delay. All ranks must run the same number of barriers, so they agree
  // on the elapsed time.
  absl::Status Settle() {
    constexpr double kSettlingSeconds = 0.1;
    constexpr int kBetweenLooks = 10;
    const Instant begin = MonotonicNow();
    double passed = 0;
    while (passed < kSettlingSeconds) {
      absl::Status status;
      for (int i = 0; i < kBetweenLooks && status.ok(); i++) {
        status = group_.Run(Barrier());
      }
      if (!status.ok()) return status;
      passed = ToSeconds(MonotonicNow() - begin);
      status = group_.Run(
          AllReduce(&passed, &passed, 1, DType::kFloat64, ReduceOp::kMax));
      if (!status.ok()) return status;
    }
    return absl::OkStatus();
  }

  void PrintHead() const {
    Print(absl::StrCat("# ", BenchName(options_.kind), ", ", group_.size(),
                       group_.size() == 1 ? " rank" : " ranks", ", transport ",
                       group_.transport_name(), ", ",
                       on_device_ || options_.memory == BenchMemory::kTransports
                           ? "the transport's"
                           : "plain",
                       " memory, ", options_.iterations, " iterations after ",
                       options_.warm_up, "\n"));
    Print(BenchHead());
  }

  absl::Status Measure(DType dtype, ReduceOp op, int64_t bytes) {
    const BenchCase test = BenchCaseOf(options_.kind, dtype, op, options_.root,
                                       group_.rank(), group_.size(), bytes);
    BenchRow row;
    row.kind = options_.kind;
    row.bytes = test.longest() * SizeOf(dtype);
    row.count = test.count;
    row.dtype = dtype;
    row.op = op;
    row.root = options_.root;
    row.ranks = group_.size();
    absl::Status status =
        MeasureOne(test, OutOfPlace(test, first_.data(), second_.data()),
                   row.out_of_place);
    if (status.ok() && HasInPlace(options_.kind)) {
      row.in_place.emplace();
      status = MeasureOne(test, InPlace(test, first_.data()), *row.in_place);
    }
    if (!status.ok()) return status;
    Add(row, row.out_of_place);
    if (row.in_place) Add(row, *row.in_place);
    Print(BenchLine(row));
    return absl::OkStatus();
  }

  absl::Status MeasureOne(const BenchCase& test, const Operation& operation,
                          BenchMeasurement& measurement) {
    absl::Status status;
    if (options_.check && !on_device_) {
      Prepare(test, operation);
      status = group_.Run(operation);
      if (!status.ok()) return status;
      int64_t wrong = CountWrong(test, operation);
      status = group_.Run(AllReduce(&wrong, &wrong, 1, DType::kInt64));
      if (!status.ok()) return status;
      measurement.wrong = wrong;
    }
    for (int i = 0; i < options_.warm_up && status.ok(); i++) {
      status = group_.Run(operation);
    }
    if (status.ok()) status = group_.Run(Barrier());
    const Instant begin = MonotonicNow();
    for (int i = 0; i < options_.iterations && status.ok(); i++) {
      status = group_.Run(operation);
    }
    // On a GPU, Run only launches an operation. So wait for all operations with
    // a barrier.
    if (status.ok() && on_device_) status = group_.Run(Barrier());
    if (!status.ok()) return status;
    double microseconds =
        ToSeconds(MonotonicNow() - begin) * 1e6 / options_.iterations;
    // Without a GPU, compute the mean over the ranks. On GPUs rank 0 reports
    // its own time instead: a GPU transport can reduce only numbers in GPU
    // memory, and `microseconds` is in host memory.
    if (!on_device_) {
      status = group_.Run(AllReduce(&microseconds, &microseconds, 1,
                                    DType::kFloat64, ReduceOp::kAvg));
    }
    measurement.microseconds = microseconds;
    return status;
  }

  void Add(const BenchRow& row, const BenchMeasurement& measurement) {
    wrong_ += measurement.wrong.value_or(0);
    if (measurement.microseconds > 0 && row.bytes > 0) {
      bandwidths_ += static_cast<double>(row.bytes) / measurement.microseconds /
                     1e3 * BusFactor(row.kind, row.ranks);
      measured_++;
    }
  }

  absl::Status Finish() const {
    char average[64];
    std::snprintf(average, sizeof(average), "%.3f",
                  measured_ == 0 ? 0 : bandwidths_ / measured_);
    const bool checked = options_.check && !on_device_;
    Print(absl::StrCat("# Out of bounds values : ", wrong_,
                       !checked      ? " (not checked)"
                       : wrong_ == 0 ? " OK"
                                     : " FAILED",
                       "\n# Avg bus bandwidth    : ", average, " GB/s\n"));
    return wrong_ == 0 ? absl::OkStatus()
                       : absl::InternalError(
                             absl::StrCat(wrong_, " elements were wrong"));
  }

  class Buffer {
   public:
    absl::Status Allocate(ProcessGroup& group, BenchMemory memory,
                          int64_t bytes) {
      if (memory == BenchMemory::kPlain) {
        plain_.reset(new (std::nothrow) char[bytes]());
        return plain_ ? absl::OkStatus() : OutOfMemory(bytes);
      }
      auto lent = group.Allocate(bytes);
      if (!lent.ok()) return lent.status();
      lent_ = *std::move(lent);
      return absl::OkStatus();
    }
    void* data() const { return plain_ ? plain_.get() : lent_->data(); }

   private:
    std::unique_ptr<TransportMemory> lent_;
    std::unique_ptr<char[]> plain_;
  };

  ProcessGroup& group_;
  const BenchOptions& options_;
  const std::function<void(const std::string&)>& print_;
  const bool on_device_;
  Buffer first_, second_;
  int64_t wrong_ = 0;
  double bandwidths_ = 0;
  int measured_ = 0;
};

}  // namespace

absl::Status RunBench(ProcessGroup& group, const BenchOptions& options,
                      const std::function<void(const std::string&)>& print) {
  try {
    return Bench(group, options, print).Run();
  } catch (const std::bad_alloc&) {
    return OutOfMemory(LongestBuffer(options));
  }
}

}  // namespace muster
