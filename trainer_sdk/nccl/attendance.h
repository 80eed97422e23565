#ifndef MUSTER_TRAINER_SDK_NCCL_ATTENDANCE_H_
#define MUSTER_TRAINER_SDK_NCCL_ATTENDANCE_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "base/time.h"
#include "trainer_sdk/process_group/transport.h"

namespace muster {

// A step in which all ranks of a group wait for each other, and of which NCCL
// reports only that it waits.
struct Meeting {
  std::string name;   // a key of the group's store
  uint64_t turn = 1;  // counts meetings of that name, equally on every rank
};

// Records that this rank has reached `meeting`. Returns early if `place`'s
// formation is given up.
absl::Status SetOutTo(const Meeting& meeting, const GroupPlace& place);

// Adds to `late`, the timeout of a meeting, the ranks that did not reach it, if
// the store answers within `patience`. Any other status is returned unchanged.
// In large groups only rank 0 asks, because each rank would ask one server
// about every rank.
absl::Status WithAbsent(const absl::Status& late, const Meeting& meeting,
                        const GroupPlace& place, Duration patience);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_NCCL_ATTENDANCE_H_
