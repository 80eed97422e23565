#ifndef MUSTER_TRAINER_SDK_PROCESS_GROUP_GROUP_CALL_H_
#define MUSTER_TRAINER_SDK_PROCESS_GROUP_GROUP_CALL_H_

#include <cstdint>
#include <memory>

#include "base/time.h"
#include "trainer_sdk/process_group/operation.h"
#include "trainer_sdk/process_group/signature.h"
#include "trainer_sdk/process_group/transport.h"
#include "trainer_sdk/process_group/work.h"

namespace muster {

inline constexpr uint64_t kNotNumbered = ~uint64_t{0};

// The group's record of one call of Run or Start.
struct GroupCall {
  OperationContext context{kNotNumbered, Instant()};
  OperationSignature signature;
  uint64_t record = 0;  // its number in the flight recorder
  Instant called{};
  Instant begun{};  // when it reached the head of the queue
};

// A call that waits for its turn.
struct QueuedCall {
  Operation operation;
  GroupCall call;
  std::shared_ptr<Work> work;
};

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_PROCESS_GROUP_GROUP_CALL_H_
