#ifndef MUSTER_TRAINER_SDK_SHARED_MEMORY_COLLECTIVES_H_
#define MUSTER_TRAINER_SDK_SHARED_MEMORY_COLLECTIVES_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "trainer_sdk/process_group/operation.h"
#include "trainer_sdk/process_group/transport.h"
#include "trainer_sdk/shared_memory/heap.h"
#include "trainer_sdk/shared_memory/peers.h"

namespace muster {

// Lets the ranks of a group wait for each other. At the start of a collective,
// in Meet, all ranks also compare their calls, before any data is touched. Step
// only waits; it is called at the synchronization points inside a collective.
// Not thread-safe.
class Agreement {
 public:
  explicit Agreement(Peers* peers) : peers_(peers) {}

  // The data that a rank publishes together with the operation that it calls:
  // how the rank makes its input available (Offer), the positions of its
  // buffers in the symmetric heap, and, for a call of Allocate, the size.
  struct Terms {
    Offer offer = Offer::kNone;
    HeapPlace input;
    HeapPlace output;
    int64_t allocation = 0;
  };

  // Publishes this rank's call to the other ranks, blocks until every rank has
  // published its call, and compares the calls. FailedPrecondition: the calls
  // differ; the group is broken. On success, CallOf, SendCount and ReceiveCount
  // are valid for every rank until the next Meet.
  absl::Status Meet(const Operation& operation, const Terms& terms,
                    const Waiting& waiting);

  // A synchronization point inside a collective: blocks until every rank has
  // called Step as often as this rank.
  absl::Status Step(const Waiting& waiting);

  const Call& CallOf(int rank) const {
    return peers_->page(rank).calls[number_ % 2];
  }
  // The number of elements that rank `from` sends to rank `to` in an all_to_all
  // with counts, according to the sender.
  int64_t SendCount(int from, int to) const {
    return peers_->counts(from, static_cast<int>(number_ % 2))[to];
  }
  // The number of elements that rank `from` sends to rank `to` in an all_to_all
  // with counts, according to the receiver.
  int64_t ReceiveCount(int from, int to) const {
    return peers_->counts(to,
                          static_cast<int>(number_ % 2))[peers_->size() + from];
  }

 private:
  void PostCounts(const Operation& operation) const;
  absl::Status Compare(const Operation& operation,
                       const OperationSignature& own) const;
  std::vector<int64_t> CountsOf(int rank, int first) const;
  std::string DescribeCall(int rank) const;

  Peers* const peers_;
  // number of the latest collective; the first has number 1
  uint64_t number_ = 0;
  uint64_t phase_ = 0;
};

// The flow of data in a collective: which elements each rank sends to which
// rank. Every collective can be described as such a flow. Every sender has one
// lane (sequence of elements) for each receiver. A receiver either combines its
// lanes elementwise or places them side by side. Pure. Keeps a reference to the
// operation.
class Flow {
 public:
  Flow(const Operation& operation, int rank, int size);

  // Whether receivers combine the elements of all senders, elementwise and in
  // rank order.
  bool reduces() const { return reduces_; }
  // Whether all receivers get the same elements, so that a sender needs only
  // one lane (sequence of elements) and not one for each receiver.
  bool one_lane() const { return one_lane_; }
  bool Sends(int rank) const { return sender_ < 0 || sender_ == rank; }
  bool Receives(int rank) const { return receiver_ < 0 || receiver_ == rank; }

  // SendCount: the number of elements that this rank sends to `receiver`.
  // InputOffset: their offset in this rank's input, in elements.
  int64_t SendCount(int receiver) const;
  int64_t InputOffset(int receiver) const;
  // ReceiveCount: the number of elements that this rank receives from `sender`.
  // OutputOffset: their offset in this rank's output, in elements.
  int64_t ReceiveCount(int sender) const;
  int64_t OutputOffset(int sender) const;

  // The largest number of elements that one rank sends to another. For an
  // all_to_all with counts: the largest number that this rank sends or
  // receives, because only this rank's counts are known here.
  int64_t LongestLane() const;
  // The number of bytes that this rank sends, or that it receives, whichever is
  // larger.
  int64_t Bytes() const;

 private:
  int64_t Part(int rank) const {
    return operation_.counts.empty() ? operation_.count
                                     : operation_.counts[rank];
  }
  int64_t ReceivedPart(int rank) const {
    return operation_.receive_counts.empty() ? operation_.count
                                             : operation_.receive_counts[rank];
  }

  const Operation& operation_;
  int rank_;
  int size_;
  bool reduces_ = false;
  bool one_lane_ = false;
  int sender_ = -1;    // the only sender; -1: all ranks send
  int receiver_ = -1;  // the only receiver; -1: all ranks receive
};

// The index of the first element in the share of `rank`, if `size` ranks divide
// `count` elements. Shares start at cache lines, each of which holds `per_line`
// elements. Returns `count` for rank == size.
int64_t ShareBegin(int64_t count, int rank, int size, int64_t per_line);

// Performs collectives in one of three ways. Each way combines elements in rank
// order, so the result is bit-identical on every rank, in every run, and in
// every way:
//
//   pulled   Works in rounds of one slot: every rank copies its input into its
//            own staging slot, all ranks synchronize, and every rank reads the
//            elements that it needs from the other ranks' slots.
//   shared   For large reductions of more than two ranks: works in rounds as
//            `pulled` does, but each rank reduces only its share of the slot,
//            and all ranks copy the reduced shares.
//   direct   For buffers in the symmetric heap, without copies: ranks read the
//            inputs of the other ranks. In an all_reduce or reduce each rank
//            reduces its share and writes the result to every output.
//
// All rounds of all collectives use the staging slots in turn. Three slots are
// enough: the slot to which a rank writes was last read two or more rounds ago,
// and all ranks finished these reads before the last synchronization. Not
// thread-safe.
class Collectives {
 public:
  Collectives(Peers* peers, Heap* heap)
      : peers_(peers), heap_(heap), agreement_(peers) {}

  // Performs `operation`, which must be valid and a collective.
  absl::Status Execute(const Operation& operation, const Waiting& waiting);

  // Allocates `bytes` bytes from the symmetric heap; see Transport::Allocate.
  absl::StatusOr<std::unique_ptr<TransportMemory>> Allocate(
      int64_t bytes, const Waiting& waiting);

 private:
  // The arguments of one call of Execute, and values computed from them.
  struct Run {
    const Operation& operation;
    const Waiting& waiting;
    Flow flow;
    int64_t element_bytes;
    // The number of elements for one receiver that fit into a staging slot.
    int64_t lane_elements;
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

  // Writes a part of this rank's output. From each sender's lane (the sequence
  // of its elements for this rank), takes the elements [begin, begin + limit),
  // or fewer at the lane's end. `sources` has, for each sender, the address of
  // these elements. In a reduction these elements are combined elementwise;
  // otherwise each sender's elements are copied to the sender's part of the
  // output.
  void Take(const Run& run, const std::vector<const void*>& sources,
            int64_t begin, int64_t limit) const;

  Peers* const peers_;
  Heap* const heap_;
  Agreement agreement_;
  // The number of rounds of all earlier collectives. Round r of the current
  // collective uses the staging slot (next_slot_ + r) % kStagingSlots.
  int64_t next_slot_ = 0;
};

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_SHARED_MEMORY_COLLECTIVES_H_
