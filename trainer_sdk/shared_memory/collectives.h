#ifndef MUSTER_TRAINER_SDK_SHARED_MEMORY_COLLECTIVES_H_
#define MUSTER_TRAINER_SDK_SHARED_MEMORY_COLLECTIVES_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "trainer_sdk/process_group/operation.h"
#include "trainer_sdk/process_group/transport.h"
#include "trainer_sdk/shared_memory/agreement.h"
#include "trainer_sdk/shared_memory/flow.h"
#include "trainer_sdk/shared_memory/heap.h"
#include "trainer_sdk/shared_memory/peers.h"

namespace muster {

// Performs collectives in one of three ways. All combine in rank order, so that
// the result is bit-identical on every rank, in every run, and in every way:
//
//   pulled   Rounds of one slot: every rank copies its input into its own
//            staging slot, all ranks meet, and every rank reads what it needs
//            from the slots of the others.
//   shared   For large reductions of more than two ranks: as pulled, but each
//            rank reduces only its share of the slot, and all copy the shares.
//   direct   For buffers in the symmetric heap, without copies: ranks read the
//            inputs of the others. In an all_reduce or reduce each rank
//            reduces its share and writes it to every output.
//
// All rounds of all collectives use the staging slots in turn. Three slots are
// enough: a rank writes to the slot that the others read two rounds ago, and
// they finished reading it before the last meeting. Not thread-safe.
class Collectives {
 public:
  Collectives(Peers* peers, Heap* heap)
      : peers_(peers), heap_(heap), agreement_(peers) {}

  // `operation` must be valid and a collective.
  absl::Status Execute(const Operation& operation, const Waiting& waiting);

  // Allocates from the symmetric heap: see Transport.
  absl::StatusOr<std::unique_ptr<TransportMemory>> Allocate(
      int64_t bytes, const Waiting& waiting);

 private:
  // The state of one collective.
  struct Run {
    const Operation& operation;
    const Waiting& waiting;
    Flow flow;
    int64_t element_bytes;
    int64_t lane_elements;  // capacity of one lane of a slot
  };

  void ExecuteAlone(const Run& run) const;
  Agreement::Terms MakeTerms(const Run& run) const;
  bool AllDirect() const;
  bool WasStagedByAll() const;
  int64_t Rounds(const Run& run) const;

  char* Slot(int rank, int64_t round) const;
  void CopyIn(const Run& run, int64_t round) const;
  absl::Status Pulled(const Run& run);
  absl::Status Shared(const Run& run);
  absl::Status Direct(const Run& run);

  // Combines or places the senders' data at `sources`: elements from `begin` of
  // each lane, at most `limit` of them.
  void Take(const Run& run, const std::vector<const void*>& sources,
            int64_t begin, int64_t limit) const;

  Peers* const peers_;
  Heap* const heap_;
  Agreement agreement_;
  int64_t next_slot_ = 0;  // counts the rounds of all collectives
};

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_SHARED_MEMORY_COLLECTIVES_H_
