// Checks the memory use of ZeRO-1: the bytes that each rank allocates must
// match a formula of the number of elements and ranks.

#include <malloc.h>

#include <cstdint>
#include <cstdlib>
#include <new>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "trainer_sdk/process_group/testing/group_fixture.h"
#include "trainer_sdk/shared_memory/shared_memory_transport.h"
#include "trainer_sdk/zero/scatter_hook.h"
#include "trainer_sdk/zero/sharded_optimizer.h"

namespace {

// The number of bytes that this thread has allocated and not freed. Each rank
// is a thread.
thread_local int64_t live_bytes = 0;
thread_local int64_t peak_bytes = 0;

void* Counted(size_t size) {
  void* const memory = std::malloc(size > 0 ? size : 1);
  if (memory == nullptr) std::abort();
  live_bytes += static_cast<int64_t>(malloc_usable_size(memory));
  if (live_bytes > peak_bytes) peak_bytes = live_bytes;
  return memory;
}

void Freed(void* memory) {
  if (memory == nullptr) return;
  live_bytes -= static_cast<int64_t>(malloc_usable_size(memory));
  std::free(memory);
}

}  // namespace

void* operator new(size_t size) { return Counted(size); }
void* operator new[](size_t size) { return Counted(size); }
void operator delete(void* memory) noexcept { Freed(memory); }
void operator delete[](void* memory) noexcept { Freed(memory); }
void operator delete(void* memory, size_t) noexcept { Freed(memory); }
void operator delete[](void* memory, size_t) noexcept { Freed(memory); }

namespace muster {
namespace {

// The number of elements of one weight matrix. It is not divisible by 3, so
// that the parts of three ranks differ in length.
constexpr int64_t kMatrix = 250000;
constexpr int64_t kVector = 500;
constexpr int kLayers = 4;
constexpr int64_t kParameters = kLayers * (kMatrix + kVector);
// Upper bound in bytes for memory that does not grow with the number of
// weights: names, lists, threads and allocators.
constexpr int64_t kSmall = 16 << 10;

// The element type, and the memory that a training with this type is expected
// to use, in bytes per element of the model: for the values (weights), for the
// gradients, and for the optimizer's sharded state.
struct Form {
  DType type = DType::kFloat32;
  int64_t values = 0;
  int64_t gradients = 0;
  int64_t state = 0;
};

absl::Status ExpectBytes(const char* what, int64_t bytes, int64_t formula) {
  if (bytes >= formula && bytes <= formula + kSmall) return absl::OkStatus();
  return absl::InternalError(
      absl::StrCat(what, ": ", bytes, " bytes, not ", formula));
}

absl::Status Measure(const Form& form, ProcessGroup& group) {
  const int64_t begin = live_bytes;
  std::vector<uint8_t> values(static_cast<size_t>(kParameters * form.values));
  std::vector<Tensor> tensors;
  int64_t offset = 0;
  for (int i = 0; i < 2 * kLayers; ++i) {
    const int64_t count = i % 2 == 0 ? kMatrix : kVector;
    tensors.push_back({.name = absl::StrCat("p", i),
                       .shape = {count},
                       .value = {values.data() + offset, count, form.type},
                       .gradient = {nullptr, 0, form.type},
                       .precision = form.type});
    offset += count * form.values;
  }
  auto reducer = Reducer::Create(
      group, tensors, ForSharding({.place = GradientPlace::kBucket}));
  if (!reducer.ok()) return reducer.status();
  const int64_t before_state = live_bytes;
  auto optimizer = ShardedOptimizer::Create(group, **reducer, AdamWRule({}),
                                            std::move(tensors));
  if (!optimizer.ok()) return optimizer.status();
  int64_t mine = 0;
  for (const GradientBucket& bucket : (*reducer)->buckets()) {
    mine += ShardCounts(bucket.count, group.size())[group.rank()];
  }
  // Check that `mine`, the number of elements in this rank's part, is an equal
  // share, except for at most one element per bucket.
  const auto buckets = static_cast<int64_t>((*reducer)->buckets().size());
  if (std::abs(mine - kParameters / group.size()) > buckets) {
    return absl::InternalError(absl::StrCat("a part of ", mine));
  }
  absl::Status status =
      ExpectBytes("state", live_bytes - before_state, form.state * mine);
  if (!status.ok()) return status;
  int64_t gradients = 0;
  for (const GradientBucket& bucket : (*reducer)->buckets()) {
    gradients += bucket.memory->bytes();
  }
  status = ExpectBytes(
      "all of a rank", live_bytes - begin + gradients,
      (form.values + form.gradients) * kParameters + form.state * mine);
  if (!status.ok()) return status;
  // Check that a step allocates no memory that grows with the number of
  // weights, not even temporarily.
  const int64_t before_step = peak_bytes = live_bytes;
  for (int64_t step = 1; step <= 2; ++step) {
    status = (*reducer)->Begin(GradientSync::kReduce);
    for (int i = 0; i < 2 * kLayers && status.ok(); ++i) {
      status = (*reducer)->MarkReady(i);
    }
    if (status.ok()) status = (*reducer)->Finish();
    if (status.ok()) status = (*optimizer)->SumOfSquares().status();
    if (status.ok()) {
      status = (*optimizer)->Step({.step = step, .learning_rate = 0.1});
    }
    if (!status.ok()) return status;
  }
  return ExpectBytes("a step", peak_bytes - before_step, 0);
}

class ShardMemory : public testing::TestWithParam<int> {
 protected:
  void Run(const Form& form) {
    const absl::Status failure = FirstFailure(RunWorld(
        GetParam(), [&](ProcessGroup& group) { return Measure(form, group); },
        [](GroupPlace place, Instant deadline) {
          return NewSharedMemoryTransport(place, {}, deadline);
        }));
    EXPECT_TRUE(failure.ok()) << failure;
  }
};

// With 16-bit values, an element needs 16 bytes on one rank. On each of N ranks
// it needs 4 + 12 / N bytes: the 12 bytes of two moments and the master weight
// are sharded.
TEST_P(ShardMemory, SixteenBitFormIsFourAndTwelveNths) {
  Run({.type = DType::kBFloat16, .values = 2, .gradients = 2, .state = 12});
}

// With float32 values, an element needs 8 + 8 / N bytes on each of N ranks: 8
// bytes are sharded, for two moments. The values themselves are the master
// weights.
TEST_P(ShardMemory, Float32FormIsEightAndEightNths) {
  Run({.type = DType::kFloat32, .values = 4, .gradients = 4, .state = 8});
}

INSTANTIATE_TEST_SUITE_P(Ranks, ShardMemory, testing::Values(1, 2, 3, 4));

}  // namespace
}  // namespace muster
