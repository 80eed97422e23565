// Tests with processes as ranks, of which some die. Checks the errors of the
// other ranks.
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/types.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <fstream>
#include <memory>
#include <random>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/monotonic_clock.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "trainer_sdk/shared_memory/shared_memory_transport.h"
#include "trainer_sdk/shared_memory/testing/forked_ranks.h"

namespace muster {
namespace {

using testing::HasSubstr;

// A time-out that is much longer than any step takes, even with sanitizers on a
// busy machine.
constexpr Duration kLong = std::chrono::seconds(60);

Instant Soon() { return MonotonicNow() + kLong; }

absl::StatusOr<std::unique_ptr<Transport>> Join(const GroupPlace& place) {
  return NewSharedMemoryTransport(place, {}, Soon());
}

OperationContext Context(uint64_t sequence, Instant deadline = Soon()) {
  OperationContext context;
  context.sequence = sequence;
  context.deadline = deadline;
  return context;
}

Operation AllReduceOf(float* data, int64_t count) {
  Operation operation;
  operation.kind = OperationKind::kAllReduce;
  operation.input = data;
  operation.output = data;
  operation.count = count;
  return operation;
}

// Counters in shared memory that child processes increment and their parent
// reads.
class SharedCounters {
 public:
  SharedCounters()
      : counters_(static_cast<std::atomic<int>*>(
            mmap(nullptr, kBytes, PROT_READ | PROT_WRITE,
                 MAP_SHARED | MAP_ANONYMOUS, -1, 0))) {}
  ~SharedCounters() { munmap(counters_, kBytes); }
  std::atomic<int>& operator[](int index) { return counters_[index]; }

  // Waits until a counter reaches `value`; false on a timeout.
  bool Await(int index, int value) {
    const Instant deadline = Soon();
    while (counters_[index] < value) {
      if (MonotonicNow() > deadline) return false;
      sched_yield();
    }
    return true;
  }

 private:
  static constexpr size_t kBytes = 4096;
  std::atomic<int>* const counters_;
};

std::string Messages(const std::vector<absl::Status>& statuses) {
  std::string text;
  for (const absl::Status& one : statuses) {
    absl::StrAppend(&text, one.ToString(), "\n");
  }
  return text;
}

std::string Named(int rank, pid_t pid) {
  return absl::StrCat("rank ", rank, " (pid ", pid, " on ");
}

TEST(Processes, SumInTheHeapAndElsewhere) {
  const auto body = [](const GroupPlace& place) {
    absl::StatusOr<std::unique_ptr<Transport>> transport = Join(place);
    if (!transport.ok()) return transport.status();
    absl::StatusOr<std::unique_ptr<TransportMemory>> heap =
        (*transport)->Allocate(1 << 20, Context(0));
    if (!heap.ok()) return heap.status();
    std::vector<float> own(1 << 18);
    uint64_t sequence = 0;
    for (const int64_t count : {0, 1, 1000, 1 << 18}) {
      for (float* const data :
           {own.data(), static_cast<float*>((*heap)->data())}) {
        for (int64_t i = 0; i < count; ++i) {
          data[i] = static_cast<float>(i % 1000 + place.rank);
        }
        absl::Status done =
            (*transport)
                ->Execute(AllReduceOf(data, count), Context(++sequence));
        if (!done.ok()) return done;
        for (int64_t i = 0; i < count; ++i) {
          if (data[i] != static_cast<float>(3 * (i % 1000) + 3)) {
            return absl::InternalError(absl::StrCat("wrong at ", i));
          }
        }
      }
    }
    return absl::OkStatus();
  };
  ForkedRanks ranks(3, body);
  for (const absl::Status& status : ranks.Wait(Soon())) {
    EXPECT_TRUE(status.ok()) << status;
  }
}

// Runs all kinds of operations repeatedly until one fails.
absl::Status WorkUntilBroken(const GroupPlace& place,
                             std::atomic<int>* counter) {
  absl::StatusOr<std::unique_ptr<Transport>> transport = Join(place);
  if (!transport.ok()) return transport.status();
  constexpr int64_t kCount = 200'000;
  absl::StatusOr<std::unique_ptr<TransportMemory>> heap =
      (*transport)->Allocate(kCount * 4, Context(0));
  if (!heap.ok()) return heap.status();
  std::vector<float> own(kCount);
  float* const shared = static_cast<float*>((*heap)->data());
  for (uint64_t sequence = 1;; ++sequence) {
    Operation operation = AllReduceOf(sequence % 2 == 0 ? shared : own.data(),
                                      sequence % 3 == 0 ? kCount : 100);
    if (sequence % 5 == 0) {
      operation = Operation();
      operation.kind = OperationKind::kBatch;
      PointToPoint message;
      message.count = sequence % 10 == 0 ? kCount / 2 : 10;
      message.peer = (place.rank + 1) % place.size;
      message.data = own.data();
      operation.messages.push_back(message);
      message.kind = OperationKind::kReceive;
      message.peer = (place.rank + place.size - 1) % place.size;
      message.data = own.data() + kCount / 2;
      operation.messages.push_back(message);
    }
    absl::Status done = (*transport)->Execute(operation, Context(sequence));
    if (!done.ok()) {
      // The next operation must fail with the same cause, because the group
      // stays broken.
      const absl::Status again =
          (*transport)->Execute(Operation(), Context(sequence + 1));
      return again == done ? done : absl::InternalError(again.ToString());
    }
    ++*counter;
  }
}

// The names of the files that this process has mapped as shared, from
// /proc/self/maps.
std::vector<std::string> SharedMappings() {
  std::ifstream maps("/proc/self/maps");
  std::vector<std::string> found;
  for (std::string line; std::getline(maps, line);) {
    // List a mapping only if it is shared (according to its permissions) and
    // maps a file (its inode number is not 0).
    std::istringstream fields(line);
    std::string range, permissions, offset, device, number, file;
    fields >> range >> permissions >> offset >> device >> number;
    std::getline(fields >> std::ws, file);
    if (permissions.back() == 's' && number != "0") found.push_back(file);
  }
  return found;
}

// The shared memory is a file without a name, so nothing can be left behind in
// /dev/shm. The file disappears when no process has it open or mapped any more.
TEST(Processes, SharedMemoryHasNoName) {
  const auto body = [](const GroupPlace& place) {
    const std::vector<std::string> before = SharedMappings();
    absl::StatusOr<std::unique_ptr<Transport>> transport = Join(place);
    if (!transport.ok()) return transport.status();
    auto heap = (*transport)->Allocate(1 << 20, Context(0));
    if (!heap.ok()) return heap.status();
    const std::vector<std::string> after = SharedMappings();
    size_t ours = 0;
    for (const std::string& file : after) {
      if (file == "/memfd:muster (deleted)") ++ours;
    }
    if (ours >= 2 && ours == after.size() - before.size()) {
      return absl::OkStatus();
    }
    return absl::InternalError(
        absl::StrCat("not all is nameless: ", absl::StrJoin(after, ", ")));
  };
  ForkedRanks ranks(3, body);
  for (const absl::Status& status : ranks.Wait(Soon())) {
    EXPECT_TRUE(status.ok()) << status;
  }
}

TEST(Processes, AKilledOneReleasesTheOthersWithItsName) {
  std::mt19937 random(20240607);
  for (int size = 2; size <= 5; ++size) {
    for (int repeat = 0; repeat < 3; ++repeat) {
      const int victim = static_cast<int>(random() % size);
      // The victim is killed once a randomly chosen rank, perhaps the victim
      // itself, has completed this number of operations. The number is at least
      // 1, so that the group has been formed by then.
      const int moment = 1 + static_cast<int>(random() % 40);
      SharedCounters counters;
      ForkedRanks ranks(size, [&](const GroupPlace& place) {
        return WorkUntilBroken(place, &counters[place.rank]);
      });
      ASSERT_TRUE(counters.Await(random() % size, moment));
      ranks.Kill(victim);
      const std::vector<absl::Status> ends = ranks.Wait(Soon());
      for (int rank = 0; rank < size; ++rank) {
        if (rank == victim) continue;
        EXPECT_EQ(ends[rank].code(), absl::StatusCode::kUnavailable);
        EXPECT_THAT(std::string(ends[rank].message()),
                    HasSubstr(Named(victim, ranks.pid(victim))));
        EXPECT_THAT(std::string(ends[rank].message()), HasSubstr("died"));
        if (HasFailure()) FAIL() << "rank " << rank << "\n" << Messages(ends);
      }
    }
  }
}

// A child that a rank forked without exec keeps all of the rank's descriptors
// open. When the rank dies, the other ranks must detect its death nevertheless.
TEST(Processes, AnOrphanDoesNotHideItsRanksDeath) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  SharedCounters counters;
  std::vector<absl::Status> statuses;
  pid_t victim = 0;
  {
    ForkedRanks ranks(2, [&](const GroupPlace& place) {
      absl::StatusOr<std::unique_ptr<Transport>> transport = Join(place);
      if (!transport.ok()) return transport.status();
      if (place.rank == 1 && fork() == 0) {
        close(ends[1]);
        char none;
        // The child runs until the test process closes its end of the pipe or
        // dies.
        if (read(ends[0], &none, 1) < 0) _exit(1);
        _exit(0);
      }
      ++counters[place.rank];
      if (place.rank == 1) pause();
      close(ends[1]);
      return (*transport)->Execute(Operation(), Context(1));
    });
    victim = ranks.pid(1);
    ASSERT_TRUE(counters.Await(1, 1));
    ranks.Kill(1);
    statuses = ranks.Wait(Soon());
  }
  close(ends[0]);
  close(ends[1]);
  EXPECT_EQ(statuses[0].code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(statuses[0].message()), HasSubstr(Named(1, victim)));
}

TEST(Processes, AStoppedOneIsNamedAtTheDeadline) {
  SharedCounters counters;
  ForkedRanks ranks(3, [&](const GroupPlace& place) {
    absl::StatusOr<std::unique_ptr<Transport>> transport = Join(place);
    if (!transport.ok()) return transport.status();
    absl::Status done = (*transport)->Execute(Operation(), Context(1));
    if (!done.ok()) return done;
    if (place.rank == 2) raise(SIGSTOP);
    return (*transport)
        ->Execute(Operation(),
                  Context(2, MonotonicNow() + std::chrono::milliseconds(200)));
  });
  for (int rank = 0; rank < 2; ++rank) {
    const absl::Status end = ranks.WaitFor(rank, Soon());
    EXPECT_EQ(end.code(), absl::StatusCode::kDeadlineExceeded);
    EXPECT_THAT(std::string(end.message()), HasSubstr(Named(2, ranks.pid(2))));
    EXPECT_THAT(std::string(end.message()),
                HasSubstr("has not called it: its last collective was "
                          "barrier #1"));
  }
}

TEST(Processes, DeathDuringFormationIsNamed) {
  for (const int victim : {0, 1}) {
    ForkedRanks ranks(3, [&](const GroupPlace& place) -> absl::Status {
      if (place.rank == victim) raise(SIGKILL);
      return NewSharedMemoryTransport(
                 place, {}, MonotonicNow() + std::chrono::milliseconds(300))
          .status();
    });
    const std::vector<absl::Status> ends = ranks.Wait(Soon());
    EXPECT_EQ(ends[victim].code(), absl::StatusCode::kCancelled);
    if (victim == 0) {
      // Rank 0 died before it published anything, so the other ranks can only
      // report that their deadline passed.
      EXPECT_EQ(ends[1].code(), absl::StatusCode::kDeadlineExceeded);
      EXPECT_EQ(ends[2].code(), absl::StatusCode::kDeadlineExceeded);
    } else {
      EXPECT_EQ(ends[0].code(), absl::StatusCode::kDeadlineExceeded);
      EXPECT_THAT(std::string(ends[0].message()), HasSubstr("came: 1"));
      EXPECT_FALSE(ends[2].ok());
    }
  }
}

TEST(Processes, MoreThanCoresGetTheirTurns) {
  ForkedRanks ranks(8, [](const GroupPlace& place) {
    absl::StatusOr<std::unique_ptr<Transport>> transport = Join(place);
    if (!transport.ok()) return transport.status();
    std::vector<float> data(1000);
    for (uint64_t sequence = 1; sequence <= 300; ++sequence) {
      data[sequence] = 1;
      absl::Status done =
          (*transport)
              ->Execute(AllReduceOf(data.data(), 1000), Context(sequence));
      if (!done.ok()) return done;
      if (data[sequence] != 8) return absl::InternalError("wrong");
      data[sequence] = 0;
    }
    return absl::OkStatus();
  });
  for (const absl::Status& status : ranks.Wait(Soon())) {
    EXPECT_TRUE(status.ok()) << status;
  }
}

}  // namespace
}  // namespace muster
