#ifndef MUSTER_TRAINER_SDK_PROCESS_GROUP_TRANSPORT_H_
#define MUSTER_TRAINER_SDK_PROCESS_GROUP_TRANSPORT_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/time.h"
#include "trainer_sdk/process_group/operation.h"
#include "trainer_sdk/store/store.h"

namespace muster {

class Formation;

// Memory that a transport can reach faster than any other; freed with it.
class TransportMemory {
 public:
  virtual ~TransportMemory() = default;
  virtual void* data() const = 0;
  virtual int64_t bytes() const = 0;
};

// What one operation is told besides itself.
struct OperationContext {
  // Counts the group's collectives from 1: every rank's n-th collective has
  // the same number, which is how a mismatch is found. For send, receive and
  // batch, which only some ranks take part in, it is the number of the last
  // collective before them.
  uint64_t sequence = 0;
  Instant deadline;  // on MonotonicNow's clock
};

// How the ranks of one group reach each other. ProcessGroup checks arguments,
// numbers, queues and records; a transport moves and reduces.
//
// Execute is called by one thread at a time, in the same order of collectives
// on every rank, and returns once `operation.output` is written and
// `operation.input` may be changed (CUDA: once both are so in the order of
// `operation.stream`). Abort may be called at any time, by any thread.
//
// Errors, of which each message names the group's peer by rank (and host and
// pid where known), the operation, its sequence number and its bytes:
//   DeadlineExceeded    who was waited for
//   Unavailable         a peer died or its connection broke: who
//   FailedPrecondition  ranks called different things: what each called
//   Aborted             Abort was called: why
//   Unimplemented       this transport cannot do that operation
// After any of the first four the transport is broken for good, on every
// rank as soon as it can be told, and every later call fails with the same
// cause at once.
class Transport {
 public:
  virtual ~Transport() = default;

  // "shm", "gloo", "hierarchical", "nccl", "local".
  virtual const char* name() const = 0;

  virtual absl::Status Execute(const Operation& operation,
                               const OperationContext& context) = 0;

  // Makes Execute, here and (as far as it can be told) elsewhere, return
  // Aborted with `reason`.
  virtual void Abort(const std::string& reason) = 0;

  // Collective: every rank asks for the same size in the same order.
  // Unimplemented where the transport has no such memory.
  virtual absl::StatusOr<std::unique_ptr<TransportMemory>> Allocate(
      int64_t bytes, const OperationContext& context) = 0;
};

// Where in a group this process is, and what makes the group one.
struct GroupPlace {
  int rank = 0;
  int size = 1;
  // Where the ranks meet. Transports have keys of the group's own in it;
  // NewProcessGroup sees to that by the name.
  std::shared_ptr<Store> store = {};
  // For messages: "world", "dp", "world/split2".
  std::string name = {};
  // Tells groups of one name apart that are made one after the other: the same
  // on every rank of a group, for the flight recorder.
  uint64_t birth = 0;
  // While the transport is made by a ProcessGroup: what ends its waits when
  // another rank fails at that or the group is aborted. Calls of `store` end by
  // themselves then; other waits look at it (formation.h). May be null.
  std::shared_ptr<Formation> formation = nullptr;
};

// Makes the transport of a group, collectively: every rank of `place`'s group
// calls it with its own place. What Split makes its groups' transports with.
using TransportFactory =
    std::function<absl::StatusOr<std::unique_ptr<Transport>>(GroupPlace place,
                                                             Instant deadline)>;

// Makes the transport of a part of `parent`'s group out of `parent`, where that
// is cheaper than to begin anew. Collective over all of the parent's ranks,
// between its operations; `place` says what `color` and `key` come to. Null for
// a negative color.
using TransportSplitter =
    std::function<absl::StatusOr<std::unique_ptr<Transport>>(
        Transport& parent, int color, int key, GroupPlace place,
        Instant deadline)>;

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_PROCESS_GROUP_TRANSPORT_H_
