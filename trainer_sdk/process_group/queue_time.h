#ifndef MUSTER_TRAINER_SDK_PROCESS_GROUP_QUEUE_TIME_H_
#define MUSTER_TRAINER_SDK_PROCESS_GROUP_QUEUE_TIME_H_

#include <string>

#include "base/time.h"

namespace muster {

// End of an error message for an operation whose time was up `whole` after its
// call, of which it spent `behind` waiting for earlier operations. Needed
// because a transport knows only how long it waited itself. Empty if `behind`
// is less than 1 ms. Pure.
std::string TellQueue(Duration behind, Duration whole);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_PROCESS_GROUP_QUEUE_TIME_H_
