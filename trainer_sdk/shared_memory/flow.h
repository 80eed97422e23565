#ifndef MUSTER_TRAINER_SDK_SHARED_MEMORY_FLOW_H_
#define MUSTER_TRAINER_SDK_SHARED_MEMORY_FLOW_H_

#include <cstdint>

#include "trainer_sdk/process_group/operation.h"

namespace muster {

// Which elements of a collective go from which rank to which: all of them are
// one thing, seen like this. Every sender has a lane for each receiver, and
// what arrives is combined or placed side by side. Pure; refers to the
// operation.
class Flow {
 public:
  Flow(const Operation& operation, int rank, int size);

  // What arrives is combined elementwise, in the order of ranks.
  bool reduces() const { return reduces_; }
  // Every receiver gets the same elements: one lane for all.
  bool one_lane() const { return one_lane_; }
  bool Sends(int rank) const { return sender_ < 0 || sender_ == rank; }
  bool Receives(int rank) const { return receiver_ < 0 || receiver_ == rank; }

  // Elements of this rank's lane to `receiver`, and where they start in its
  // input.
  int64_t SendCount(int receiver) const;
  int64_t InputOffset(int receiver) const;
  // Elements of `sender`'s lane to this rank, and where they belong in its
  // output.
  int64_t ReceiveCount(int sender) const;
  int64_t OutputOffset(int sender) const;

  // The longest lane of all ranks; of an all_to_all with counts, of those this
  // rank knows.
  int64_t LongestLane() const;
  // The bytes that this rank sends or receives, whichever is more.
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
  int sender_ = -1;    // -1: everybody
  int receiver_ = -1;  // -1: everybody
};

// Where `rank`'s share of `count` elements starts if `size` ranks divide them:
// shares start at cache lines, `per_line` elements apart. `count` for
// rank == size.
int64_t ShareBegin(int64_t count, int rank, int size, int64_t per_line);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_SHARED_MEMORY_FLOW_H_
