#ifndef MUSTER_TRAINER_SDK_NCCL_ATTENDANCE_H_
#define MUSTER_TRAINER_SDK_NCCL_ATTENDANCE_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "base/time.h"
#include "trainer_sdk/process_group/transport.h"

namespace muster {

// A step in which all ranks of a group wait for each other. NCCL reports that
// such a step is late, but not which rank is missing.
struct Meeting {
  std::string name;  // key of the meeting in the group's store
  // Counts the meetings with this name, from 1; equal on every rank.
  uint64_t turn = 1;
};

// Records in the store that this rank has reached `meeting`. Returns early if
// the formation of `place` is interrupted.
absl::Status RecordArrival(const Meeting& meeting, const GroupPlace& place);

// If `late` is DeadlineExceeded of a meeting, adds the ranks that did not reach
// the meeting to the message, if the store answers within `timeout`. Any other
// status is returned unchanged. In large groups only rank 0 asks the store:
// otherwise each rank would ask one server about every rank.
absl::Status WithAbsent(const absl::Status& late, const Meeting& meeting,
                        const GroupPlace& place, Duration timeout);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_NCCL_ATTENDANCE_H_
