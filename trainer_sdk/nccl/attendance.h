#ifndef MUSTER_TRAINER_SDK_NCCL_ATTENDANCE_H_
#define MUSTER_TRAINER_SDK_NCCL_ATTENDANCE_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "base/time.h"
#include "trainer_sdk/process_group/transport.h"

namespace muster {

// Something that all ranks of a group do together and wait for each other in,
// and that NCCL only says of that it waits.
struct Meeting {
  std::string name;   // a key of the group's store
  uint64_t turn = 1;  // counts those of that name, the same on every rank
};

// This rank has come to `meeting`. Ends early where `place`'s formation is
// given up.
absl::Status SetOutTo(const Meeting& meeting, const GroupPlace& place);

// `late`, by which a meeting's deadline has passed, with the names of those who
// have not come to it, if the store says so within `patience`; any other status
// as it is. In large groups rank 0 alone asks, since each asks one server about
// every rank.
absl::Status WithAbsent(const absl::Status& late, const Meeting& meeting,
                        const GroupPlace& place, Duration patience);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_NCCL_ATTENDANCE_H_
