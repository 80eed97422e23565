// Tests of a group over Gloo in which each rank is a process, and one process
// dies during a collective.
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/monotonic_clock.h"
#include "trainer_sdk/gloo/gloo_transport.h"
#include "trainer_sdk/process_group/operations.h"
#include "trainer_sdk/process_group/signature.h"
#include "trainer_sdk/shared_memory/testing/forked_ranks.h"

namespace muster {
namespace {

// The deadline of an operation. If a death is not detected, the operation ends
// only at this deadline.
constexpr Duration kOperation = std::chrono::seconds(20);
constexpr Duration kTestTimeout = std::chrono::seconds(60);

constexpr DType kType = DType::kFloat32;

// Makes an operation of kind `kind` with `count` elements per rank.
Operation Of(OperationKind kind, const GroupPlace& place, int64_t count,
             uint64_t sequence, std::vector<float>& in,
             std::vector<float>& out) {
  const int root = static_cast<int>(sequence) % place.size;
  switch (kind) {
    case OperationKind::kAllReduce:
      return AllReduce(in.data(), out.data(), count, kType);
    case OperationKind::kReduceScatter:
      return ReduceScatter(in.data(), out.data(), count, kType);
    case OperationKind::kAllGather:
      return AllGather(in.data(), out.data(), count, kType);
    case OperationKind::kBroadcast:
      return Broadcast(in.data(), out.data(), count, kType, root);
    case OperationKind::kReduce:
      return Reduce(in.data(), out.data(), count, kType, root);
    case OperationKind::kAllToAll: {
      const std::vector<int64_t> counts(place.size, count);
      return sequence % 2 == 0
                 ? AllToAll(in.data(), out.data(), count, kType)
                 : AllToAll(in.data(), out.data(), counts, counts, kType);
    }
    case OperationKind::kGather:
      return Gather(in.data(), out.data(), count, kType, root);
    case OperationKind::kScatter:
      return Scatter(in.data(), out.data(), count, kType, root);
    case OperationKind::kBarrier:
    case OperationKind::kSplit:
      return Barrier();
    case OperationKind::kSend:
    case OperationKind::kReceive:
      return place.rank == 0 ? Send(in.data(), count, kType, 1)
                             : Receive(out.data(), count, kType, 0);
    case OperationKind::kBatch:
      break;
  }
  PointToPoint send, receive;
  send.peer = (place.rank + 1) % place.size;
  send.data = in.data();
  send.count = count;
  receive = send;
  receive.kind = OperationKind::kReceive;
  receive.peer = (place.rank + place.size - 1) % place.size;
  receive.data = out.data();
  return Batch({send, receive});
}

// Kills this process after the duration `moment`, whatever the process is doing
// then.
void DieAfter(Duration moment) {
  const Instant until = MonotonicNow() + moment;
  std::thread([until] {
    while (MonotonicNow() < until) {
    }
    kill(getpid(), SIGKILL);
  }).detach();
}

struct Death {
  OperationKind kind;
  int64_t count;
  int victim;
  Duration moment;
};

absl::Status UntilItFails(const Death& death, const GroupPlace& place) {
  auto transport = NewGlooTransport(place, {}, MonotonicNow() + kTestTimeout);
  if (!transport.ok()) return transport.status();
  std::vector<float> in(death.count * place.size);
  std::vector<float> out(death.count * place.size);
  for (uint64_t sequence = 1;; ++sequence) {
    const bool message = IsPointToPoint(death.kind) && sequence > 1;
    const Operation operation =
        sequence == 1 ? Barrier()
                      : Of(death.kind, place, death.count, sequence, in, out);
    const absl::Status s =
        (*transport)
            ->Execute(operation,
                      {message ? 1 : sequence, MonotonicNow() + kOperation});
    if (!s.ok()) return s;
    if (sequence == 1 && place.rank == death.victim) DieAfter(death.moment);
  }
}

void ExpectNamedByAll(const Death& death, int size) {
  const ForkedRanks ranks(size, [&](const GroupPlace& place) {
    return UntilItFails(death, place);
  });
  const std::vector<absl::Status> ends =
      ranks.Wait(MonotonicNow() + kTestTimeout);
  const std::string name = absl::StrCat("rank ", death.victim, " (host ");
  const std::string pid = absl::StrCat("pid ", ranks.pid(death.victim), ")");
  for (int rank = 0; rank < size; ++rank) {
    if (rank == death.victim) continue;
    const std::string message(ends[rank].message());
    EXPECT_TRUE(absl::IsUnavailable(ends[rank])) << ends[rank];
    EXPECT_TRUE(absl::StrContains(message, name)) << message;
    EXPECT_TRUE(absl::StrContains(message, pid)) << message;
  }
}

// A random rank dies in each kind of collective, once with small parts and once
// with large parts. With large parts, the death nearly always happens during a
// transfer.
TEST(GlooDeaths, DeathInAnyCollectiveIsNamedByAll) {
  std::mt19937 draw(20240713);
  for (const int64_t count : {int64_t{4096}, int64_t{1} << 20}) {
    for (int kind = 0; kind < kOperationKinds; ++kind) {
      Death death;
      death.kind = static_cast<OperationKind>(kind);
      // Skip single sends and receives, because all ranks must take part in the
      // operation. A batch is not skipped: every rank sends and receives in it.
      if (death.kind == OperationKind::kSend ||
          death.kind == OperationKind::kReceive) {
        continue;
      }
      const int size = 2 + static_cast<int>(draw() % 3);
      death.count = count;
      death.victim = static_cast<int>(draw() % size);
      death.moment = std::chrono::microseconds(draw() % 30'000);
      ExpectNamedByAll(death, size);
      if (HasFailure()) {
        FAIL() << "rank " << death.victim << " of " << size << " died in "
               << Name(death.kind) << " of " << count << " a rank";
      }
    }
  }
}

// The sender or the receiver dies during a message from rank 0 to rank 1. The
// other rank must name it, although Gloo itself waits forever if a peer dies in
// the middle of a payload.
TEST(GlooDeaths, DeathDuringAMessageIsNamed) {
  for (const int victim : {0, 1}) {
    ExpectNamedByAll({OperationKind::kSend, int64_t{1} << 24, victim,
                      std::chrono::milliseconds(5)},
                     2);
  }
}

}  // namespace
}  // namespace muster
