#include "trainer_sdk/shared_memory/shared_memory_transport.h"

#include <chrono>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/monotonic_clock.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "trainer_sdk/process_group/operations.h"
#include "trainer_sdk/process_group/testing/rank_threads.h"

namespace muster {
namespace {

using testing::HasSubstr;

OperationContext Context(uint64_t sequence) {
  OperationContext context;
  context.sequence = sequence;
  context.deadline = MonotonicNow() + std::chrono::seconds(60);
  return context;
}

class SharedMemoryTransportTest : public testing::Test {
 protected:
  void Start(int size) {
    auto made = MakeTransports(
        [](const GroupPlace& place, Instant deadline) {
          return NewSharedMemoryTransport(place, {}, deadline);
        },
        size, "world");
    ASSERT_TRUE(made.ok()) << made.status();
    transports_ = *std::move(made);
  }

  std::vector<std::unique_ptr<Transport>> transports_;
};

TEST_F(SharedMemoryTransportTest, CallsItselfShm) {
  Start(1);
  EXPECT_STREQ(transports_[0]->name(), "shm");
}

TEST_F(SharedMemoryTransportTest, NamesWhoLeft) {
  Start(2);
  transports_[1].reset();
  const absl::Status status = transports_[0]->Execute(Barrier(), Context(1));
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(status.message()), HasSubstr("rank 1 (pid "));
  EXPECT_THAT(std::string(status.message()), HasSubstr("left"));
}

TEST_F(SharedMemoryTransportTest, LeavingAfterAnOperationFailsNoPeer) {
  for (int repeat = 0; repeat < 50; ++repeat) {
    Start(3);
    for (const absl::Status& status : RunRanks(3, [&](int rank) {
           std::vector<float> data(50'000, 1);
           absl::Status done = transports_[rank]->Execute(
               AllReduce(data.data(), data.data(), 50'000, DType::kFloat32),
               Context(1));
           transports_[rank].reset();
           return done;
         })) {
      EXPECT_TRUE(status.ok()) << status;
    }
  }
}

TEST_F(SharedMemoryTransportTest, AnAllocationBeyondTheHostIsRefusedToAll) {
  Start(3);
  for (const int64_t bytes :
       {int64_t{1} << 50, std::numeric_limits<int64_t>::max()}) {
    for (const absl::Status& status : RunRanks(3, [&](int rank) {
           return transports_[rank]->Allocate(bytes, Context(0)).status();
         })) {
      EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted) << status;
    }
  }
  // The group must stay usable after the failed allocation.
  for (const absl::Status& status : RunRanks(3, [&](int rank) {
         auto memory = transports_[rank]->Allocate(100, Context(0));
         if (!memory.ok()) return memory.status();
         return transports_[rank]->Execute(Barrier(), Context(1));
       })) {
    EXPECT_TRUE(status.ok()) << status;
  }
}

TEST_F(SharedMemoryTransportTest, AllocationsOfDifferentSizesAreExplained) {
  Start(2);
  for (const absl::Status& status : RunRanks(2, [&](int rank) {
         return transports_[rank]->Allocate(100 + rank, Context(0)).status();
       })) {
    EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
    EXPECT_THAT(std::string(status.message()), HasSubstr("100 bytes"));
    EXPECT_THAT(std::string(status.message()), HasSubstr("101 bytes"));
  }
}

// The transport must accept different kinds of memory in one operation. Ranks
// may free memory at different times, and memory may outlive its transport.
TEST_F(SharedMemoryTransportTest, MixesMemoryOfTheHeapAndOther) {
  constexpr int64_t kCount = 100'000;
  Start(3);
  for (const absl::Status& status : RunRanks(3, [&](int rank) {
         auto a = transports_[rank]->Allocate(kCount * 4, Context(0));
         auto b = transports_[rank]->Allocate(kCount * 8, Context(0));
         if (!a.ok()) return a.status();
         if (!b.ok()) return b.status();
         std::vector<float> own(kCount);
         // In each iteration, the ranks' buffers are at different places: in
         // one of two segments of the symmetric heap, or outside the heap.
         for (int shift = 0; shift < 4; ++shift) {
           float* data = nullptr;
           switch ((rank + shift) % 4) {
             case 0:
               data = static_cast<float*>((*a)->data());
               break;
             case 1:
               data = static_cast<float*>((*b)->data());
               break;
             case 2:
               data = static_cast<float*>((*b)->data()) + kCount;
               break;
             default:
               data = own.data();
           }
           for (int64_t i = 0; i < kCount; ++i) {
             data[i] = static_cast<float>(i + rank);
           }
           absl::Status done = transports_[rank]->Execute(
               AllReduce(data, data, kCount, DType::kFloat32),
               Context(shift + 1));
           if (!done.ok()) return done;
           for (int64_t i = 0; i < kCount; ++i) {
             if (data[i] != static_cast<float>(3 * i + 3)) {
               return absl::InternalError("wrong sum");
             }
           }
         }
         if (rank == 1) a->reset();
         absl::Status done = transports_[rank]->Execute(
             AllReduce(rank == 1 ? own.data() : (*a)->data(),
                       rank == 1 ? own.data() : (*a)->data(), kCount,
                       DType::kFloat32),
             Context(5));
         transports_[rank].reset();
         static_cast<float*>((*b)->data())[0] = 1;
         return done;
       })) {
    EXPECT_TRUE(status.ok()) << status;
  }
}

TEST_F(SharedMemoryTransportTest, CountsThatDoNotFitTogetherAreExplained) {
  Start(2);
  const std::vector<absl::Status> statuses = RunRanks(2, [&](int rank) {
    std::vector<float> data(20);
    Operation operation;
    operation.kind = OperationKind::kAllToAll;
    operation.input = data.data();
    operation.output = data.data() + 10;
    // Rank 0 sends 3 elements to rank 1, which expects 4. The all_to_all must
    // fail, with the counts of both ranks in its message.
    operation.counts =
        rank == 0 ? std::vector<int64_t>{1, 3} : std::vector<int64_t>{2, 1};
    operation.receive_counts =
        rank == 0 ? std::vector<int64_t>{1, 2} : std::vector<int64_t>{4, 1};
    return transports_[rank]->Execute(operation, Context(1));
  });
  for (const absl::Status& status : statuses) {
    EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
    EXPECT_THAT(std::string(status.message()), HasSubstr("[1, 3] for [1, 2]"));
    EXPECT_THAT(std::string(status.message()), HasSubstr("[2, 1] for [4, 1]"));
  }
}

TEST_F(SharedMemoryTransportTest, AnUnexpectedTagIsExplained) {
  Start(2);
  const std::vector<absl::Status> statuses = RunRanks(2, [&](int rank) {
    float data = 0;
    return transports_[rank]->Execute(
        rank == 0 ? Send(&data, 1, DType::kFloat32, 1, 7)
                  : Receive(&data, 1, DType::kFloat32, 0, 8),
        Context(0));
  });
  EXPECT_EQ(statuses[1].code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(statuses[1].message()), HasSubstr("tag 7"));
  EXPECT_THAT(std::string(statuses[1].message()), HasSubstr("tag 8"));
}

TEST(NewSharedMemoryTransport, RefusesARankThatIsNone) {
  GroupPlace place;
  place.rank = 2;
  place.size = 2;
  EXPECT_EQ(NewSharedMemoryTransport(place, {}, MonotonicNow()).status().code(),
            absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace muster
