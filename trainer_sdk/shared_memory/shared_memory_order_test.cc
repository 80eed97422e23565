// Tests that reductions add in rank order, bit for bit, with each method of the
// transport: a rank reduces all elements or only its share; buffers are read
// directly or copied through staging memory; the data passes through the
// staging slots in one round or in several.

#include <chrono>
#include <cstdint>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/monotonic_clock.h"
#include "gtest/gtest.h"
#include "trainer_sdk/process_group/operations.h"
#include "trainer_sdk/process_group/testing/rank_threads.h"
#include "trainer_sdk/reduce/reduce.h"
#include "trainer_sdk/shared_memory/shared_memory_transport.h"

namespace muster {
namespace {

constexpr int64_t kMax = 1'000'003;

struct Numbers {
  DType dtype;
  ReduceOp op;
};
enum class Where { kHeap, kPrivate };

// Random values of very different magnitudes, so that another order of
// additions gives another sum.
std::string Input(DType dtype, int rank) {
  std::mt19937 random(rank + 1);
  std::vector<float> floats(kMax);
  for (float& value : floats) {
    const uint32_t bits = random();
    value = (static_cast<float>(bits >> 8) / (1 << 23) - 1) *
            static_cast<float>(1 << (bits & 15));
  }
  std::string bytes(kMax * SizeOf(dtype), '\0');
  if (dtype == DType::kFloat32) {
    std::memcpy(bytes.data(), floats.data(), bytes.size());
  } else {
    Narrow(floats.data(), dtype, bytes.data(), kMax);
  }
  return bytes;
}

std::string Reduced(const Numbers& numbers,
                    const std::vector<const void*>& sources) {
  std::string result(kMax * SizeOf(numbers.dtype), '\0');
  void* const to = result.data();
  Reduce(numbers.dtype, numbers.op, sources.data(),
         static_cast<int>(sources.size()), &to, 1, kMax);
  return result;
}

class Order : public testing::TestWithParam<std::tuple<Numbers, int, Where>> {};

TEST_P(Order, IsThatOfRanksBitForBit) {
  const auto& [numbers, size, where] = GetParam();
  const int64_t element = SizeOf(numbers.dtype);
  std::vector<std::string> inputs;
  for (int rank = 0; rank < size; ++rank) {
    inputs.push_back(Input(numbers.dtype, rank));
  }
  std::vector<const void*> sources;
  for (const std::string& each : inputs) sources.push_back(each.data());
  const std::string expected = Reduced(numbers, sources);
  const std::vector<const void*> backwards(sources.rbegin(), sources.rend());
  ASSERT_NE(Reduced(numbers, backwards), expected) << "no order would show";

  auto transports = MakeTransports(
      [](const GroupPlace& place, Instant deadline) {
        return NewSharedMemoryTransport(place, {}, deadline);
      },
      size, "world");
  ASSERT_TRUE(transports.ok()) << transports.status();
  const auto body = [&, where = where, size = size,
                     numbers = numbers](int rank) {
    Transport& transport = *(*transports)[rank];
    OperationContext context;
    context.deadline = MonotonicNow() + std::chrono::minutes(1);
    std::vector<std::unique_ptr<TransportMemory>> heap;
    std::vector<std::string> own;
    std::vector<char*> buffers;
    for (int i = 0; i < 2; ++i) {
      if (where == Where::kHeap) {
        auto memory = transport.Allocate(kMax * element, context);
        if (!memory.ok()) return memory.status();
        heap.push_back(*std::move(memory));
        buffers.push_back(static_cast<char*>(heap.back()->data()));
      } else {
        own.emplace_back(kMax * element, '\0');
        buffers.push_back(own.back().data());
      }
    }
    char* const in = buffers[0];
    char* const out = buffers[1];
    std::memcpy(in, inputs[rank].data(), inputs[rank].size());
    const auto run = [&](const char* what, const Operation& operation,
                         int64_t begin, int64_t count) {
      std::memset(out, 0x5a, count * element);
      ++context.sequence;
      absl::Status done = transport.Execute(operation, context);
      if (!done.ok() || operation.output == nullptr) return done;
      if (std::memcmp(out, expected.data() + begin * element,
                      count * element) != 0) {
        return absl::InternalError(
            absl::StrCat(what, " of ", count, " is reduced in another order"));
      }
      return absl::OkStatus();
    };
    // Numbers of elements just below and above the sizes at which the transport
    // changes its method, for elements of 2 and 4 bytes. The sizes are:
    // - 1 KiB, or 16 KiB if ranks share cores: from this size on, buffers in
    //   the symmetric heap are used directly.
    // - 64 KiB in the inputs of all ranks together: from this size on, the
    //   ranks divide the work.
    // - 512 KiB, a staging slot: above it, a reduction needs several rounds.
    for (const int64_t count :
         {1,      7,      255,    257,    511,    513,    3276,     3277,
          5461,   5462,   6553,   6554,   8191,   8193,   10922,    10923,
          131071, 131072, 131073, 262143, 262145, 400000, 1'000'003}) {
      absl::Status done =
          run("all_reduce",
              AllReduce(in, out, count, numbers.dtype, numbers.op), 0, count);
      if (!done.ok()) return done;
      const int root = static_cast<int>(count % size);
      done = run("reduce",
                 Reduce(in, rank == root ? out : nullptr, count, numbers.dtype,
                        root, numbers.op),
                 0, count);
      if (!done.ok()) return done;
      const int64_t part = count / size;
      done = run("reduce_scatter",
                 ReduceScatter(in, out, part, numbers.dtype, numbers.op),
                 rank * part, part);
      if (!done.ok()) return done;
    }
    return absl::OkStatus();
  };
  for (const absl::Status& status : RunRanks(size, body)) {
    EXPECT_TRUE(status.ok()) << status;
  }
}

std::string CaseName(
    const testing::TestParamInfo<std::tuple<Numbers, int, Where>>& one) {
  const auto& [numbers, size, where] = one.param;
  return absl::StrCat(Name(numbers.dtype), "_", Name(numbers.op), "_", size,
                      "_ranks_", where == Where::kHeap ? "heap" : "private");
}

INSTANTIATE_TEST_SUITE_P(
    Everywhere, Order,
    testing::Combine(testing::Values(Numbers{DType::kFloat32, ReduceOp::kSum},
                                     Numbers{DType::kFloat32, ReduceOp::kAvg},
                                     Numbers{DType::kBFloat16, ReduceOp::kSum}),
                     testing::Values(3, 5),
                     testing::Values(Where::kHeap, Where::kPrivate)),
    CaseName);

}  // namespace
}  // namespace muster
