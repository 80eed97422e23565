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

// Performs collectives in one of three ways, always combining in the order of
// ranks, so that the result is the same bit for bit on every rank, from run to
// run, and whichever way is taken:
//
//   pulled   Rounds of one slot each: every rank copies its part into its own
//            staging slot, all meet, every rank reads what it needs from the
//            others' slots.
//   shared   The same for large reductions of more than two ranks, but each
//            rank reduces its share of the slot only, and all copy the shares.
//   direct   Buffers in the symmetric heap: no copy. Ranks read the others'
//            inputs; in an all_reduce or reduce each rank reduces its share
//            and writes it to every output.
//
// Staging slots are used in turn by all rounds of all collectives. With three
// of them a rank writes to the one that the others read two rounds ago, which
// they finished before they came to the last meeting. Not thread-safe.
class Collectives {
 public:
  Collectives(Peers* peers, Heap* heap)
      : peers_(peers), heap_(heap), agreement_(peers) {}

  // `operation` is valid and no message.
  absl::Status Execute(const Operation& operation, const Waiting& waiting);

  // Collective memory of the symmetric heap: see Transport.
  absl::StatusOr<std::unique_ptr<TransportMemory>> Allocate(
      int64_t bytes, const Waiting& waiting);

 private:
  // One collective while it lasts.
  struct Run {
    const Operation& operation;
    const Waiting& waiting;
    Flow flow;
    int64_t element_bytes;
    int64_t lane_elements;  // that fit into one lane of a slot
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

  // Combines or places what the senders have at `sources`, elements from
  // `begin` of each lane, at most `limit` of them.
  void Take(const Run& run, const std::vector<const void*>& sources,
            int64_t begin, int64_t limit) const;

  Peers* const peers_;
  Heap* const heap_;
  Agreement agreement_;
  int64_t next_slot_ = 0;  // counts rounds of all collectives
};

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_SHARED_MEMORY_COLLECTIVES_H_
