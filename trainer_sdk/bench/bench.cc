#include "trainer_sdk/bench/bench.h"

#include <algorithm>
#include <cstdio>
#include <memory>
#include <new>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/monotonic_clock.h"
#include "trainer_sdk/bench/bench_case.h"
#include "trainer_sdk/bench/bench_table.h"
#include "trainer_sdk/process_group/operations.h"
#include "trainer_sdk/process_group/signature.h"

namespace muster {
namespace {

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
  // Operations that do not reduce need one round.
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

  // Runs the operation for a while before measuring. New processes may share a
  // core for some milliseconds until the kernel distributes them, and that
  // would be measured instead of the transport. All ranks must repeat equally
  // often, so they agree on the elapsed time.
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
    // On a GPU, operations are only launched so far; a barrier waits for them.
    if (status.ok() && on_device_) status = group_.Run(Barrier());
    if (!status.ok()) return status;
    double microseconds =
        ToSeconds(MonotonicNow() - begin) * 1e6 / options_.iterations;
    // A GPU transport cannot reduce a number in host memory.
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
