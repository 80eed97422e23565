// Checks of the conformance suite that provoke failures of operations, and
// examine the errors that the ranks get.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <latch>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/monotonic_clock.h"
#include "trainer_sdk/process_group/operations.h"
#include "trainer_sdk/process_group/testing/conformance_checks.h"
#include "trainer_sdk/process_group/testing/rank_threads.h"

namespace muster {
namespace {

constexpr int64_t kCount = 64;

OperationContext ContextOf(uint64_t sequence, Duration timeout) {
  OperationContext context;
  context.sequence = sequence;
  context.deadline = MonotonicNow() + timeout;
  return context;
}

// Returns memory that is large enough for the operations of all checks of this
// file.
std::shared_ptr<void> Room(const ConformanceSubject& subject, int size) {
  return subject.memory->Allocate(2 * kCount * 8 * size);
}

bool Contains(const absl::Status& status, const std::string& text) {
  return absl::StrContains(std::string(status.message()), text);
}

absl::Status Complaint(const std::string& what, int rank,
                       const absl::Status& found) {
  return absl::InternalError(
      absl::StrCat(what, ": rank ", rank, " got ", found.ToString()));
}

// Calls one more operation on a broken transport, and checks that it fails at
// once.
absl::Status ExpectBroken(const std::string& what, Transport& transport,
                          int rank) {
  const Instant begin = MonotonicNow();
  const absl::Status status =
      transport.Execute(Barrier(), ContextOf(1000, std::chrono::seconds(30)));
  if (status.ok()) return Complaint(what + ", then a barrier", rank, status);
  if (MonotonicNow() - begin > std::chrono::seconds(20)) {
    return Complaint(what + ", then a barrier that waits", rank, status);
  }
  return absl::OkStatus();
}

struct Mismatch {
  const char* what;
  std::function<Operation(void* in, void* out)> most;
  std::function<Operation(void* in, void* out)> odd;
  // The texts that error messages must contain: `most_says` in messages of the
  // ranks that call the operation `most`, `odd_says` in the message of the one
  // rank that calls `odd`.
  const char* most_says;
  const char* odd_says;
};

std::vector<Mismatch> Mismatches(int size) {
  const auto all_reduce = [](int64_t count, DType dtype, ReduceOp op) {
    return [=](void* in, void* out) {
      return AllReduce(in, out, count, dtype, op);
    };
  };
  const auto broadcast = [](int root) {
    return [=](void* in, void* out) {
      return Broadcast(in, out, kCount, DType::kFloat32, root);
    };
  };
  const auto all_to_all = [size](int64_t sent) {
    return [=](void* in, void* out) {
      return AllToAll(in, out, std::vector<int64_t>(size, sent),
                      std::vector<int64_t>(size, 64), DType::kInt8);
    };
  };
  const auto f32 = all_reduce(64, DType::kFloat32, ReduceOp::kSum);
  return {
      {"sizes", f32, all_reduce(63, DType::kFloat32, ReduceOp::kSum), "64",
       "63"},
      {"an empty one", f32, all_reduce(0, DType::kFloat32, ReduceOp::kSum),
       "64", "0 float32"},
      {"types", f32, all_reduce(64, DType::kInt32, ReduceOp::kSum), "float32",
       "int32"},
      {"reductions", f32, all_reduce(64, DType::kFloat32, ReduceOp::kMax),
       "sum", "max"},
      {"operations", f32,
       [](void* in, void* out) {
         return AllGather(in, out, kCount, DType::kFloat32);
       },
       "all_reduce", "all_gather"},
      {"a barrier", f32, [](void*, void*) { return Barrier(); }, "all_reduce",
       "barrier"},
      {"a split", f32,
       [](void*, void*) {
         Operation split;
         split.kind = OperationKind::kSplit;
         return split;
       },
       "all_reduce", "split"},
      {"roots", broadcast(0), broadcast(1), "rank 0", "rank 1"},
      {"what one sends another", all_to_all(64), all_to_all(61), "64", "61"},
  };
}

absl::Status CheckMismatch(const ConformanceSubject& subject, int size,
                           int odd_rank, const Mismatch& mismatch) {
  const std::string what =
      absl::StrCat("ranks that disagree in ", mismatch.what, " (rank ",
                   odd_rank, " of ", size, ")");
  auto transports = MakeTransports(subject.factory, size, "mismatch");
  if (!transports.ok()) return transports.status();
  return FirstFailure(RunRanks(size, [&](int rank) {
    const std::shared_ptr<void> in = Room(subject, size);
    const std::shared_ptr<void> out = Room(subject, size);
    Transport& transport = *(*transports)[rank];
    const absl::Status status = transport.Execute(
        (rank == odd_rank ? mismatch.odd : mismatch.most)(in.get(), out.get()),
        ContextOf(1, std::chrono::seconds(30)));
    if (!absl::IsFailedPrecondition(status) ||
        !Contains(status, mismatch.most_says) ||
        !Contains(status, mismatch.odd_says)) {
      return Complaint(what, rank, status);
    }
    return ExpectBroken(what, transport, rank);
  }));
}

absl::Status CheckMessageMismatch(const ConformanceSubject& subject) {
  const std::string what = "a message of another size than is waited for";
  auto transports = MakeTransports(subject.factory, 2, "message");
  if (!transports.ok()) return transports.status();
  return FirstFailure(RunRanks(2, [&](int rank) {
    const std::shared_ptr<void> data = Room(subject, 2);
    absl::Status status = (*transports)[rank]->Execute(
        rank == 0 ? Send(data.get(), 61, DType::kFloat32, 1)
                  : Receive(data.get(), 64, DType::kFloat32, 0),
        ContextOf(0, std::chrono::seconds(30)));
    // The send of rank 0 may succeed, because the send may end before rank 1
    // calls its receive.
    if (rank == 0 && status.ok()) return status;
    return absl::IsFailedPrecondition(status) && Contains(status, "61") &&
                   Contains(status, "64")
               ? absl::OkStatus()
               : Complaint(what, rank, status);
  }));
}

// An operation that ranks 1 and higher call after rank 0 has given up.
struct LateCall {
  const char* what;
  // Whether only ranks other than the failed rank 0 take part in the operation.
  bool of_others;
  std::function<Operation(int rank, int size, void* in, void* out)> operation;
};

std::vector<LateCall> LateCalls(const ConformanceSubject& subject, int size) {
  std::vector<LateCall> calls = {
      {"a barrier", false, [](int, int, void*, void*) { return Barrier(); }},
      {"an all_reduce", false,
       [](int, int, void* in, void* out) {
         return AllReduce(in, out, kCount, DType::kFloat32);
       }},
      {"a broadcast by one that is late", false,
       [](int, int, void* in, void* out) {
         return Broadcast(in, out, kCount, DType::kFloat32, 1);
       }},
  };
  if (subject.late == ConformanceSubject::Late::kOfBarriers) calls.resize(1);
  if (size > 2 && subject.late == ConformanceSubject::Late::kOfEverything) {
    calls.push_back(
        {"messages of those that are late", true,
         [](int rank, int ranks, void* in, void* out) {
           Operation batch;
           batch.kind = OperationKind::kBatch;
           const int next = rank + 1 < ranks ? rank + 1 : 1;
           const int previous = rank > 1 ? rank - 1 : ranks - 1;
           batch.messages = {
               BatchSend(in, kCount, DType::kFloat32, next),
               BatchReceive(out, kCount, DType::kFloat32, previous)};
           return batch;
         }});
  }
  return calls;
}

absl::Status CheckLateCall(const ConformanceSubject& subject, int size,
                           const LateCall& call) {
  const std::string what =
      absl::StrCat(call.what, " after rank 0 of ", size, " gave up");
  auto transports = MakeTransports(subject.factory, size, "late");
  if (!transports.ok()) return transports.status();
  // Rank 0 fails in the group's first operation: its barrier times out before
  // another rank calls an operation. Ranks that call an operation later must
  // get an error. This holds also for a transport that connects the ranks only
  // in their first operation.
  const absl::Status early = (*transports)[0]->Execute(
      Barrier(), ContextOf(1, std::chrono::milliseconds(50)));
  if (early.ok()) return Complaint(what + ", its own barrier", 0, early);
  return FirstFailure(RunRanks(size, [&](int rank) -> absl::Status {
    if (rank == 0) return absl::OkStatus();
    const std::shared_ptr<void> in = Room(subject, size);
    const std::shared_ptr<void> out = Room(subject, size);
    Transport& transport = *(*transports)[rank];
    const absl::Status late = transport.Execute(
        call.operation(rank, size, in.get(), out.get()),
        ContextOf(call.of_others ? 0 : 1, std::chrono::seconds(30)));
    if (late.ok()) return Complaint(what, rank, late);
    return ExpectBroken(what, transport, rank);
  }));
}

}  // namespace

absl::Status CheckBrokenForAll(const ConformanceSubject& subject, int size) {
  if (size == 1) return absl::OkStatus();
  for (const LateCall& call : LateCalls(subject, size)) {
    absl::Status status = CheckLateCall(subject, size, call);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status CheckMismatches(const ConformanceSubject& subject, int size) {
  if (size == 1 || subject.mismatch == ConformanceSubject::Mismatch::kNotSeen) {
    return absl::OkStatus();
  }
  int odd_rank = 0;
  for (const Mismatch& mismatch : Mismatches(size)) {
    odd_rank = (odd_rank + 1) % size;
    absl::Status status = CheckMismatch(subject, size, odd_rank, mismatch);
    if (!status.ok()) return status;
  }
  return CheckMessageMismatch(subject);
}

absl::Status CheckDeadline(const ConformanceSubject& subject, int size) {
  if (size == 1) return absl::OkStatus();
  auto transports = MakeTransports(subject.factory, size, "deadline");
  if (!transports.ok()) return transports.status();
  const int absent = size / 2;
  const std::string name = absl::StrCat("rank ", absent);
  std::atomic<int> named{0};
  std::latch everybody(size);
  absl::Status failure = FirstFailure(RunRanks(size, [&](int rank) {
    const std::shared_ptr<void> in = Room(subject, size);
    const std::shared_ptr<void> out = Room(subject, size);
    Transport& transport = *(*transports)[rank];
    const auto all_reduce = [&](uint64_t sequence, Duration timeout) {
      return transport.Execute(
          AllReduce(in.get(), out.get(), kCount, DType::kFloat32),
          ContextOf(sequence, timeout));
    };
    // One operation succeeds first, so that all connections exist.
    absl::Status status = all_reduce(1, std::chrono::seconds(30));
    // Wait until every rank has finished the first operation. Only after that
    // may rank `absent` omit the second one, because a rank that gives up
    // breaks the group for all ranks.
    everybody.arrive_and_wait();
    if (!status.ok() || rank == absent) return status;
    status = all_reduce(2, std::chrono::seconds(1));
    // A rank that learns of the failure from a peer may return Unavailable or
    // Aborted instead of DeadlineExceeded.
    if (!absl::IsDeadlineExceeded(status) && !absl::IsUnavailable(status) &&
        !absl::IsAborted(status)) {
      return Complaint("without rank " + std::to_string(absent), rank, status);
    }
    if (!Contains(status, "all_reduce") || !Contains(status, "#2")) {
      return Complaint("an error that does not name its operation", rank,
                       status);
    }
    if (Contains(status, name)) {
      named++;
    } else if (subject.absent == ConformanceSubject::Absent::kNamedToAll) {
      return Complaint("an error that does not name " + name, rank, status);
    }
    return ExpectBroken("after a deadline", transport, rank);
  }));
  if (!failure.ok()) return failure;
  return named > 0 ? absl::OkStatus()
                   : absl::InternalError(absl::StrCat("nobody named ", name));
}

absl::Status CheckAbort(const ConformanceSubject& subject, int size) {
  auto transports = MakeTransports(subject.factory, size, "abort");
  if (!transports.ok()) return transports.status();
  // The threads whose operation must be pending when Abort is called; none in a
  // group of one rank, because no operation waits for a peer there. For such a
  // group, only operations after Abort are checked.
  std::vector<std::thread> waiting;
  std::vector<absl::Status> statuses(size);
  if (size > 1) {
    waiting.emplace_back([&] {
      const std::shared_ptr<void> room = Room(subject, size);
      statuses[0] = (*transports)[0]->Execute(
          AllReduce(room.get(), room.get(), kCount, DType::kFloat32),
          ContextOf(1, std::chrono::seconds(30)));
    });
  }
  (*transports)[0]->Abort("because of the test");
  for (std::thread& thread : waiting) thread.join();
  if (size == 1) {
    statuses[0] = (*transports)[0]->Execute(
        Barrier(), ContextOf(1, std::chrono::seconds(30)));
  }
  if (!absl::IsAborted(statuses[0]) ||
      !Contains(statuses[0], "because of the test")) {
    return Complaint("an operation that was aborted", 0, statuses[0]);
  }
  return ExpectBroken("after Abort", *(*transports)[0], 0);
}

}  // namespace muster
