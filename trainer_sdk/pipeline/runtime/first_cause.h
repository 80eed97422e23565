#ifndef MUSTER_TRAINER_SDK_PIPELINE_RUNTIME_FIRST_CAUSE_H_
#define MUSTER_TRAINER_SDK_PIPELINE_RUNTIME_FIRST_CAUSE_H_

#include <string>
#include <string_view>

// When a pipeline breaks, the error passes from neighbour to neighbour and each
// transport adds text. The functions of this file extract the original cause,
// so that every rank reports the same text. Pure.

namespace muster {

// The reason that a rank passes to its neighbours when it gives up with the
// error `message`.
std::string BrokenBecause(std::string_view message);

// The original cause, if `message` contains a text that BrokenBecause made on
// another rank; otherwise `message`.
std::string FirstCause(std::string_view message);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_PIPELINE_RUNTIME_FIRST_CAUSE_H_
