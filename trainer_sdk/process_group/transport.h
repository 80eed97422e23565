#ifndef MUSTER_TRAINER_SDK_PROCESS_GROUP_TRANSPORT_H_
#define MUSTER_TRAINER_SDK_PROCESS_GROUP_TRANSPORT_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/time.h"
#include "trainer_sdk/process_group/operation.h"
#include "trainer_sdk/store/store.h"

namespace muster {

class Formation;

// Memory that a transport accesses faster than other memory. The destructor
// frees it.
class TransportMemory {
 public:
  virtual ~TransportMemory() = default;
  virtual void* data() const = 0;
  virtual int64_t bytes() const = 0;
};

// The number and deadline of one operation.
struct OperationContext {
  // The number of the collective in its group, from 1. The n-th collective has
  // the same number on every rank, which makes mismatches visible. A send,
  // receive or batch involves only some ranks, so it has the number of the last
  // collective before it.
  uint64_t sequence = 0;
  Instant deadline;  // the operation must end by then (MonotonicNow's clock)
};

// Moves and reduces data between the ranks of one group. ProcessGroup checks
// arguments, and numbers, queues and records operations.
//
// Execute is called by one thread at a time, in the same order of collectives
// on every rank. Execute blocks until `operation.output` is written and
// `operation.input` may be changed. A CUDA transport blocks only until the
// operation is enqueued on `operation.stream`. Work that is enqueued on this
// stream afterwards may read the output and change the input. Abort may be
// called at any time by any thread.
//
// Every error message names the peer by its rank in the group (with host and
// pid if known), the operation, its sequence number and its bytes:
//   DeadlineExceeded    names the ranks that were waited for
//   Unavailable         a peer died or its connection broke: names the peer
//   FailedPrecondition  ranks called different operations: names each
//   Aborted             Abort was called: gives its reason
//   Unimplemented       this transport does not support the operation
//
// After any of the first four errors the transport is broken permanently, on
// every rank as soon as that rank can learn of the error. Every later call
// fails at once with the same cause.
class Transport {
 public:
  virtual ~Transport() = default;

  // The transport's name: "shm", "tcp", "gloo", "hierarchical", "nccl" or
  // "local".
  virtual const char* name() const = 0;

  virtual absl::Status Execute(const Operation& operation,
                               const OperationContext& context) = 0;

  // Whether Execute blocks until the peers have arrived, so that its duration
  // shows how long this rank waited. false: Execute only enqueues the
  // operation.
  virtual bool WaitsForPeers() const { return true; }

  // Makes Execute return Aborted with `reason`, on this rank and on all other
  // ranks that can be reached.
  virtual void Abort(const std::string& reason) = 0;

  // Allocates memory that belongs to the transport. Collective: every rank asks
  // for the same size in the same order. Unimplemented: the transport has no
  // such memory.
  virtual absl::StatusOr<std::unique_ptr<TransportMemory>> Allocate(
      int64_t bytes, const OperationContext& context) = 0;
};

// The position of this process in a group, and the data that identify the
// group.
struct GroupPlace {
  int rank = 0;
  int size = 1;
  // The group's store. Transports use keys of this group only; NewProcessGroup
  // gives each group its own keys by a prefix with the group's name.
  std::shared_ptr<Store> store = {};
  // The group's name in messages: "world", "dp", "world/split2".
  std::string name = {};
  // A number by which the flight recorder distinguishes groups that have the
  // same name and are made one after the other. Equal on all ranks of a group.
  uint64_t birth = 0;
  // The formation: the creation of the group on all of its ranks. If another
  // rank fails or the group is aborted, the formation is interrupted, and all
  // waits in the creation of this transport must end. Calls of `store` end by
  // themselves; for all other waits, the transport must watch the formation
  // (formation.h). null: nothing to watch, as in a group of one rank.
  std::shared_ptr<Formation> formation = nullptr;
  // The world ranks of the group's members, indexed by rank in the group; set
  // by ProcessGroup. Empty: the world ranks are not known.
  std::vector<int> global_ranks = {};
};

// Makes the transport of a group. Collective: every rank calls the factory with
// its own place. Blocks until `deadline` at most. ProcessGroup::Split calls the
// factory as well.
using TransportFactory =
    std::function<absl::StatusOr<std::unique_ptr<Transport>>(GroupPlace place,
                                                             Instant deadline)>;

// Makes the transport of a new group that Split forms from some ranks of the
// group of `parent`. For some transports, a TransportSplitter is faster than a
// TransportFactory. Collective over all ranks of the parent group, between its
// operations. `place`: this rank's place in the new group, according to `color`
// and `key`. Returns null for a negative color.
using TransportSplitter =
    std::function<absl::StatusOr<std::unique_ptr<Transport>>(
        Transport& parent, int color, int key, GroupPlace place,
        Instant deadline)>;

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_PROCESS_GROUP_TRANSPORT_H_
