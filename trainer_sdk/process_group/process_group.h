#ifndef MUSTER_TRAINER_SDK_PROCESS_GROUP_PROCESS_GROUP_H_
#define MUSTER_TRAINER_SDK_PROCESS_GROUP_PROCESS_GROUP_H_

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/time.h"
#include "trainer_sdk/process_group/operation.h"
#include "trainer_sdk/process_group/transport.h"

namespace muster {

// An operation started by ProcessGroup::Start. Thread-safe.
class Work {
 public:
  // Blocks until the operation is completed, and returns its status. The
  // operation's own deadline limits the wait.
  absl::Status Wait();

  // Blocks until the operation is completed or `deadline` (a time of
  // MonotonicNow's clock) passes. If the deadline passes first, returns
  // DeadlineExceeded, and the operation continues.
  absl::Status Wait(Instant deadline);

  // Whether the operation has ended, successfully or not.
  bool is_completed() const;

  // The status of the operation; FailedPrecondition while it has not ended.
  absl::Status status() const;

  // Called once by the code that performs the operation. Sets the operation's
  // status, and wakes all threads that wait for the operation.
  void Complete(absl::Status status);

 private:
  mutable std::mutex mutex_;
  std::condition_variable completed_changed_;
  bool completed_ = false;  // true: the operation has ended; guarded by mutex_
  absl::Status status_;     // the operation's status; guarded by mutex_
};

class FlightRecorder;

// Options of one call of ProcessGroup::Run or ProcessGroup::Start.
struct CallOptions {
  // The longest time that the operation may take, counted from the call. The
  // time includes the wait for earlier operations of the group. Zero: the
  // group's timeout.
  Duration timeout{};
};

struct ProcessGroupOptions {
  // Timeout of Create, and of operations whose CallOptions set no timeout.
  Duration timeout = std::chrono::minutes(10);
  // The longest time that a rank waits after its operation has timed out,
  // before it returns the error. During this time its peers report which
  // operations they called; the error names these operations. If the store does
  // not answer, the rank waits up to one second more.
  Duration explanation_timeout = std::chrono::seconds(2);
  // The members' world ranks, indexed by rank in the group. Empty: the group is
  // the world.
  std::vector<int> global_ranks = {};
  // The function that makes the transports of the groups that Split creates.
  // Null: the factory that was passed to Create makes them.
  TransportSplitter splitter = {};
  // The flight recorder of this group's operations; not owned. Null: the flight
  // recorder of the process (FlightRecorder::Process).
  FlightRecorder* recorder = nullptr;
};

// A group of ranks of a job, and the collectives among them.
//
//   absl::Status status = group->Run(AllReduce(in, out, n, DType::kFloat32));
//   std::shared_ptr<Work> work = group->Start(Broadcast(...));
//   ... work->Wait() ...
//
// Every rank must call the same collectives in the same order. Thread-safe; but
// threads that share a group must themselves ensure the same order of calls on
// every rank.
//
// Errors of an operation name the group, the operation, its sequence number and
// its bytes:
//   InvalidArgument     an argument is wrong; nothing was sent, and the group
//                       stays usable
//   Unimplemented       the transport does not support the operation; the group
//                       stays usable
//   DeadlineExceeded    a peer did not arrive: names the ranks that are late
//                       or called another operation, as far as the ranks could
//                       compare their calls through the store
//   Unavailable         a peer died
//   FailedPrecondition  ranks called different operations: names each
//   Aborted             Abort was called, or the group is being destroyed
// After one of the last four errors the group is broken permanently: every
// further call fails at once with the same cause. Make a new group to continue.
class ProcessGroup {
 public:
  // Makes a group. Collective over all ranks of the group, and blocking.
  // `place.store` must be empty. So if a group is made again, use a PrefixStore
  // with a prefix that no earlier group has used (NewProcessGroup chooses one).
  static absl::StatusOr<std::unique_ptr<ProcessGroup>> Create(
      GroupPlace place, TransportFactory factory,
      ProcessGroupOptions options = {});

  // Ends pending operations with the error Aborted.
  ~ProcessGroup();
  ProcessGroup(const ProcessGroup&) = delete;
  ProcessGroup& operator=(const ProcessGroup&) = delete;

  int rank() const;
  int size() const;
  const std::string& name() const;
  // The transport's name: "shm", "tcp", "gloo", "hierarchical", "nccl" or
  // "local".
  const char* transport_name() const;
  // The members' world ranks, indexed by rank in this group. Example: {1, 3}
  // for the group of the odd ranks of a world of 4.
  const std::vector<int>& global_ranks() const;

  // Performs `operation` and blocks until it is complete (CUDA: until it is
  // enqueued on its stream). Runs on the caller's thread, unless an earlier
  // operation is queued or running. Adds no allocation and no system call of
  // its own.
  absl::Status Run(const Operation& operation, CallOptions options = {});

  // Queues `operation` and returns at once. The operation's buffers must stay
  // valid until the returned work is completed. Operations run one after
  // another, in the order of the calls. The result is never null. All failures,
  // including invalid arguments, are in the work's status only, so a caller
  // must not discard the work.
  [[nodiscard]] std::shared_ptr<Work> Start(Operation operation,
                                            CallOptions options = {});

  // Allocates memory for inputs and outputs that this group's transport
  // accesses faster than other memory. Collective: all ranks pass the same
  // size. Returns ordinary memory if the transport has no such memory.
  // ResourceExhausted: not enough memory; the group stays usable.
  absl::StatusOr<std::unique_ptr<TransportMemory>> Allocate(
      int64_t bytes, CallOptions options = {});

  // Splits the group: ranks that pass the same `color` form a new group,
  // ordered by `key`, then by rank in this group. Collective and blocking; runs
  // after all queued operations. A rank with a negative color gets null.
  // `label` names the new groups: the groups of "world" are called
  // "world/LABEL:COLOR". An empty label is replaced by "split" and the number
  // of this Split among the group's splits. A failure breaks this group, like
  // the failure of an operation.
  absl::StatusOr<std::unique_ptr<ProcessGroup>> Split(
      int color, int key, const std::string& label = "",
      CallOptions options = {});

  // Breaks the group: pending and later operations fail with Aborted. Has no
  // effect on a broken group. Any thread.
  void Abort(const std::string& reason);

  // OK, or the cause for which the group is broken.
  absl::Status status() const;

 private:
  class Body;
  explicit ProcessGroup(std::unique_ptr<Body> body);

  std::unique_ptr<Body> body_;
};

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_PROCESS_GROUP_PROCESS_GROUP_H_
