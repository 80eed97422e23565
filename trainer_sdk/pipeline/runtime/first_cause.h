#ifndef MUSTER_TRAINER_SDK_PIPELINE_RUNTIME_FIRST_CAUSE_H_
#define MUSTER_TRAINER_SDK_PIPELINE_RUNTIME_FIRST_CAUSE_H_

#include <string>
#include <string_view>

namespace muster {

// What breaks a pipeline goes from neighbour to neighbour, and each transport
// adds words of its own; at the end every rank says the same first cause, and
// not who heard what from whom. Pure.

// The reason that a rank gives its neighbours when it gives up with `message`.
std::string BrokenBecause(std::string_view message);

// What broke the pipeline on another rank, if `message` came of such a reason;
// otherwise `message`.
std::string FirstCause(std::string_view message);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_PIPELINE_RUNTIME_FIRST_CAUSE_H_
