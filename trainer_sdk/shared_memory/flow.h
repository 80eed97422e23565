#ifndef MUSTER_TRAINER_SDK_SHARED_MEMORY_FLOW_H_
#define MUSTER_TRAINER_SDK_SHARED_MEMORY_FLOW_H_

#include <cstdint>

#include "trainer_sdk/process_group/operation.h"

namespace muster {

// Which elements of a collective go from which rank to which. All collectives
// are reduced to this form: every sender has a lane for each receiver, and
// arriving data is either combined or placed side by side. Pure. Keeps a
// reference to the operation.
class Flow {
 public:
  Flow(const Operation& operation, int rank, int size);

  // Whether arriving data is combined elementwise, in rank order.
  bool reduces() const { return reduces_; }
  // Whether all receivers get the same elements: one lane for all.
  bool one_lane() const { return one_lane_; }
  bool Sends(int rank) const { return sender_ < 0 || sender_ == rank; }
  bool Receives(int rank) const { return receiver_ < 0 || receiver_ == rank; }

  // The number of elements in this rank's lane to `receiver`, and their offset
  // in its input.
  int64_t SendCount(int receiver) const;
  int64_t InputOffset(int receiver) const;
  // The number of elements in `sender`'s lane to this rank, and their offset in
  // its output.
  int64_t ReceiveCount(int sender) const;
  int64_t OutputOffset(int sender) const;

  // Elements of the longest lane of any rank; for an all_to_all with counts, of
  // the lanes that this rank knows.
  int64_t LongestLane() const;
  // The number of bytes that this rank sends or receives, whichever is larger.
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
  int sender_ = -1;    // -1: all ranks
  int receiver_ = -1;  // -1: all ranks
};

// The first element of `rank`'s share when `size` ranks divide `count`
// elements. Shares start at cache lines, which are `per_line` elements apart.
// `count` for rank == size.
int64_t ShareBegin(int64_t count, int rank, int size, int64_t per_line);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_SHARED_MEMORY_FLOW_H_
