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
  std::string name;  // name of the step; part of its keys in the group's store
  // How many times the ranks have waited for each other in the step `name`,
  // including this time; equal on every rank.
  uint64_t turn = 1;
};

// Records in the store that this rank has reached `meeting`. Returns early with
// an error if the formation of `place` (the creation of the group) fails on any
// rank.
absl::Status RecordArrival(const Meeting& meeting, const GroupPlace& place);

// `late` is the result of `meeting`. If it is DeadlineExceeded, returns it with
// the ranks that did not reach the meeting added to its message. Returns `late`
// unchanged if it is another status, if the creation of the group has failed,
// or if the store does not answer within `timeout`. In groups of more than 64
// ranks only rank 0 adds the absent ranks, to limit the load on the store's
// server.
absl::Status WithAbsent(const absl::Status& late, const Meeting& meeting,
                        const GroupPlace& place, Duration timeout);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_NCCL_ATTENDANCE_H_
