#ifndef MUSTER_TRAINER_SDK_PROCESS_GROUP_PROCESS_GROUP_H_
#define MUSTER_TRAINER_SDK_PROCESS_GROUP_PROCESS_GROUP_H_

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/time.h"
#include "trainer_sdk/process_group/operation.h"
#include "trainer_sdk/process_group/transport.h"
#include "trainer_sdk/process_group/work.h"

namespace muster {

class FlightRecorder;

// What one call may say besides its operation.
struct CallOptions {
  // How long the operation may take, counted from the call, the wait behind
  // earlier ones included. Zero: the group's own timeout.
  Duration timeout{};
};

struct ProcessGroupOptions {
  // Of operations that bring none.
  Duration timeout = std::chrono::minutes(10);
  // How long a rank that gave up waits for its peers' accounts of what they
  // are doing, before it says what is known; a store that does not answer costs
  // a second more.
  Duration explanation_timeout = std::chrono::seconds(2);
  // The members' world ranks, by rank in the group. Empty: the group is the
  // world.
  std::vector<int> global_ranks = {};
  // What Split makes transports with; null: the group's factory.
  TransportSplitter splitter = {};
  // Where operations are recorded; not owned. Null: the process's own.
  FlightRecorder* recorder = nullptr;
};

// The ranks of a job, or some of them, and the collectives among them.
//
//   absl::Status status = group->Run(AllReduce(in, out, n, DType::kFloat32));
//   std::shared_ptr<Work> work = group->Start(Broadcast(...));
//   ... work->Wait() ...
//
// Every rank must ask for the same collectives in the same order. Thread-safe;
// but where several threads share a group, the order in which they call is
// theirs to settle.
//
// Errors of an operation name the group, the operation, its sequence number
// and its bytes:
//   InvalidArgument     an argument is wrong; nothing was sent, the group
//                       goes on
//   Unimplemented       the transport cannot do that; the group goes on
//   DeadlineExceeded    a peer did not come: who is behind, who called
//                       something else, as far as the ranks can tell each
//                       other
//   Unavailable         a peer died
//   FailedPrecondition  ranks called different things: what each called
//   Aborted             Abort was called, or the group is being destroyed
// After one of the last four the group is broken for good: it fails at once,
// with the same cause. A new group is what comes next.
class ProcessGroup {
 public:
  // Collective: every rank of the group calls it. `place.store` is empty: a
  // group that is made again needs another prefix (NewProcessGroup sees to it).
  static absl::StatusOr<std::unique_ptr<ProcessGroup>> Create(
      GroupPlace place, TransportFactory factory,
      ProcessGroupOptions options = {});

  // Operations under way end with Aborted.
  ~ProcessGroup();
  ProcessGroup(const ProcessGroup&) = delete;
  ProcessGroup& operator=(const ProcessGroup&) = delete;

  int rank() const;
  int size() const;
  const std::string& name() const;
  // "shm", "gloo", "hierarchical", "nccl", "local".
  const char* transport_name() const;
  // The members' world ranks, by rank in this group: {1, 3} for the second of
  // two groups of every other rank.
  const std::vector<int>& global_ranks() const;

  // Does `operation` and returns when it is done (CUDA: put on its stream).
  // On the caller's own thread, unless an earlier operation is still queued.
  // Neither allocates nor enters the kernel by itself.
  absl::Status Run(const Operation& operation, CallOptions options = {});

  // Queues `operation`; its buffers must stay until the work is completed.
  // Operations are done one after another, in the order of the calls. Never
  // null: what is wrong with the arguments is the work's status, and so is
  // every failure, which a dropped work would hide.
  [[nodiscard]] std::shared_ptr<Work> Start(Operation operation,
                                            CallOptions options = {});

  // Memory that this group's transport can reach faster than any other, for
  // inputs and outputs. Collective: the same size everywhere. Plain memory
  // where the transport has none of its own. ResourceExhausted: there is not
  // so much; the group goes on.
  absl::StatusOr<std::unique_ptr<TransportMemory>> Allocate(
      int64_t bytes, CallOptions options = {});

  // Makes groups of those who give the same `color`, ranked by `key`, then by
  // their rank here. Collective, after everything queued; null for a negative
  // color. `label` names the new groups: "world" makes "world/LABEL:COLOR";
  // empty: "splitN". A failure breaks this group, as an operation's does.
  absl::StatusOr<std::unique_ptr<ProcessGroup>> Split(
      int color, int key, const std::string& label = "",
      CallOptions options = {});

  // Breaks the group; what is under way or comes later fails with Aborted.
  // Without effect on a group that is broken already.
  void Abort(const std::string& reason);

  // OK, or why the group is broken.
  absl::Status status() const;

 private:
  class Body;
  explicit ProcessGroup(std::unique_ptr<Body> body);

  std::unique_ptr<Body> body_;
};

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_PROCESS_GROUP_PROCESS_GROUP_H_
