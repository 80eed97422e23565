#ifndef MUSTER_TRAINER_SDK_PROCESS_GROUP_QUEUE_TIME_H_
#define MUSTER_TRAINER_SDK_PROCESS_GROUP_QUEUE_TIME_H_

#include <string>

#include "base/time.h"

namespace muster {

// Of an operation that was late `whole` after its call: what of that it waited
// behind earlier ones, for an error's end. A transport that is late knows no
// more than how long it waited itself. Empty where it began at once. Pure.
std::string TellQueue(Duration behind, Duration whole);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_PROCESS_GROUP_QUEUE_TIME_H_
