#ifndef MUSTER_TRAINER_SDK_NCCL_ATTENDANCE_H_
#define MUSTER_TRAINER_SDK_NCCL_ATTENDANCE_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "base/time.h"
#include "trainer_sdk/process_group/transport.h"

namespace muster {

// A step in which all ranks of a group wait for each other, such as joining a
// communicator. If the step is late, NCCL does not report which rank is
// missing. So each rank records its arrival in the store.
struct Meeting {
  // Name of the operation in which the ranks wait for each other: "joining"
  // (all ranks join a communicator) or "split" (a communicator is split). Part
  // of the keys with which the ranks record their arrival in the store.
  std::string name;
  // How many times the ranks have waited for each other under this name,
  // including this time; equal on every rank.
  uint64_t turn = 1;
};

// Records in the store that this rank has reached `meeting`. Returns early with
// an error if the formation of `place` (the creation of the group) fails on any
// rank.
absl::Status RecordArrival(const Meeting& meeting, const GroupPlace& place);

// Adds the ranks that did not reach `meeting` to the message of `late`, the
// meeting's result. Returns `late` unchanged in these cases:
// - `late` is not DeadlineExceeded.
// - The formation of `place` has failed on another rank. The error of that rank
//   names the absent ranks.
// - The store does not answer within `timeout`.
// - The group has more than 64 ranks and this is not rank 0. This limits the
//   load on the store's server.
absl::Status WithAbsent(const absl::Status& late, const Meeting& meeting,
                        const GroupPlace& place, Duration timeout);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_NCCL_ATTENDANCE_H_
