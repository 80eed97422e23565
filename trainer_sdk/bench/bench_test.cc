#include "trainer_sdk/bench/bench.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_split.h"
#include "trainer_sdk/process_group/testing/group_fixture.h"

// Makes sanitizers' allocators return null if memory is exhausted, as malloc
// does, instead of aborting.
extern "C" const char* __asan_default_options() {  // NOLINT
  return "allocator_may_return_null=1";
}
extern "C" const char* __tsan_default_options() {  // NOLINT
  return "allocator_may_return_null=1";
}

namespace muster {
namespace {

using testing::HasSubstr;

std::vector<std::string> Small(const std::string& operation) {
  return {operation, "-b", "0",  "-e",  "1000", "-i",  "500", "-n", "2",
          "-w",      "1",  "-d", "all", "-o",   "all", "-r",  "1"};
}

// Runs the benchmark on `size` ranks. Returns the text that rank 0 prints, and
// each rank's status.
std::pair<std::string, std::vector<absl::Status>> Printed(
    const std::vector<std::string>& arguments, int size,
    TransportFactory factory = ReferenceTransports()) {
  std::string printed;
  const auto options = ParseBenchOptions(arguments);
  EXPECT_TRUE(options.ok()) << options.status();
  auto statuses = RunWorld(
      size,
      [&](ProcessGroup& world) {
        return RunBench(world, *options, [&](const std::string& text) {
          EXPECT_EQ(world.rank(), 0);
          printed += text;
        });
      },
      std::move(factory));
  return {printed, statuses};
}

TEST(BenchTest, EveryOperationIsMeasuredAndRight) {
  for (const char* operation :
       {"all_reduce", "reduce_scatter", "all_gather", "broadcast", "reduce",
        "all_to_all", "gather", "scatter", "barrier", "sendrecv"}) {
    for (const int size : {2, 3}) {
      const auto [printed, statuses] = Printed(Small(operation), size);
      for (const absl::Status& status : statuses) {
        EXPECT_TRUE(status.ok()) << operation << ": " << status;
      }
      EXPECT_THAT(printed, HasSubstr("# Out of bounds values : 0 OK"));
      EXPECT_THAT(printed, HasSubstr(std::string("# ") + operation + ", "));
    }
  }
}

// A function that replaces Transport::Execute in a test. `right` is the correct
// transport.
using Execution = std::function<absl::Status(Transport& right, const Operation&,
                                             const OperationContext&)>;

// Makes the reference transport with a defect: on rank 1, `execution` replaces
// the transport's own int32 all_reduce.
TransportFactory Defective(const Execution& execution) {
  class Wrong final : public Transport {
   public:
    Wrong(std::unique_ptr<Transport> right, Execution execution)
        : right_(std::move(right)), execution_(std::move(execution)) {}
    const char* name() const override { return "wrong"; }
    absl::Status Execute(const Operation& operation,
                         const OperationContext& context) override {
      if (operation.kind == OperationKind::kAllReduce &&
          operation.dtype == DType::kInt32) {
        return execution_(*right_, operation, context);
      }
      return right_->Execute(operation, context);
    }
    void Abort(const std::string& reason) override { right_->Abort(reason); }
    absl::StatusOr<std::unique_ptr<TransportMemory>> Allocate(
        int64_t bytes, const OperationContext& context) override {
      return right_->Allocate(bytes, context);
    }

   private:
    const std::unique_ptr<Transport> right_;
    const Execution execution_;
  };
  return [right = ReferenceTransports(), execution](
             GroupPlace place,
             Instant deadline) -> absl::StatusOr<std::unique_ptr<Transport>> {
    const int rank = place.rank;
    auto transport = right(std::move(place), deadline);
    if (!transport.ok() || rank != 1) return transport;
    return std::make_unique<Wrong>(*std::move(transport), execution);
  };
}

TEST(BenchTest, WrongElementsAreCountedAndFail) {
  const auto one_wrong_bit = [](Transport& right, const Operation& operation,
                                const OperationContext& context) {
    absl::Status status = right.Execute(operation, context);
    *static_cast<char*>(operation.output) ^= 1;
    return status;
  };
  const auto [printed, statuses] =
      Printed({"all_reduce", "-b", "400", "-e", "400", "-d", "int32"}, 2,
              Defective(one_wrong_bit));
  EXPECT_THAT(printed, HasSubstr("# Out of bounds values : 2 FAILED"));
  for (const absl::Status& status : statuses) {
    EXPECT_TRUE(absl::IsInternal(status)) << status;
  }
}

TEST(BenchTest, LeftoversOfAnEarlierSizeAreDetected) {
  // A defective transport: in large operations, it does not write the first two
  // elements.
  const auto lazy = [](Transport& right, const Operation& operation,
                       const OperationContext& context) {
    constexpr size_t kLeftOut = 2 * sizeof(int32_t);
    char before[kLeftOut];
    std::memcpy(before, operation.output, kLeftOut);
    absl::Status status = right.Execute(operation, context);
    if (operation.count > 100) {
      std::memcpy(operation.output, before, kLeftOut);
    }
    return status;
  };
  // The in-place and the out-of-place results are both wrong, so two failures
  // are printed.
  EXPECT_THAT(Printed({"all_reduce", "-b", "400", "-e", "1600", "-f", "4", "-d",
                       "int32"},
                      2, Defective(lazy))
                  .first,
              HasSubstr("# Out of bounds values : 4 FAILED"));
}

TEST(BenchTest, MemoryThatIsNotThereIsAnErrorThatSaysWhatIsNeeded) {
  auto options = ParseBenchOptions({"all_reduce", "--memory", "plain"});
  ASSERT_TRUE(options.ok()) << options.status();
  options->least_bytes = options->max_bytes = int64_t{1} << 50;
  const auto statuses = RunWorld(
      2,
      [&](ProcessGroup& world) {
        return RunBench(world, *options, [](const std::string&) {});
      },
      ReferenceTransports());
  for (const absl::Status& status : statuses) {
    EXPECT_TRUE(absl::IsResourceExhausted(status)) << status;
    EXPECT_THAT(std::string(status.message()),
                HasSubstr("out of memory: every rank needs two buffers of "
                          "1125899906842624 bytes"));
  }
}

TEST(BenchTest, RefusesWhatTheWorldCannotDo) {
  EXPECT_TRUE(
      absl::IsInvalidArgument(Printed({"broadcast", "-r", "2"}, 2).second[0]));
  EXPECT_TRUE(absl::IsInvalidArgument(Printed({"sendrecv"}, 1).second[0]));
}

}  // namespace
}  // namespace muster
