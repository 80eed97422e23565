#ifndef MUSTER_TRAINER_SDK_HIERARCHICAL_RANK_WORDING_H_
#define MUSTER_TRAINER_SDK_HIERARCHICAL_RANK_WORDING_H_

#include <string>
#include <vector>

namespace muster {

// Replaces "rank 1" in `message` of a host's own group by that rank's number in
// the whole group: told_as[1]. Numbers that are no rank of that group stay.
// Pure.
std::string TellAs(const std::string& message, const std::vector<int>& told_as);

// The text after the last operation that begins a part of `message`, such as
// "reduce #2 of 4 float32 (16 bytes), sum: " (Describe); the whole message if
// there is none. For errors of operations that are steps of another. Pure.
std::string WithoutCalls(const std::string& message);

// If `message` begins with "rank 1 found", replaces that rank by told_as[1];
// the rest stays. Pure.
std::string TellFinderAs(const std::string& message,
                         const std::vector<int>& told_as);

// The part of `message` from its last `heading`, including a preceding "rank N
// found:". If there is no heading: `heading` followed by the whole message.
// Pure.
std::string FromLast(const std::string& heading, const std::string& message);

// Replaces, in `message` of a host's own group, the names of internal steps,
// which the caller does not know: "has not called it: its last collective was
// broadcast #3" becomes `instead`. Pure.
std::string WithoutSteps(const std::string& message,
                         const std::string& instead);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_HIERARCHICAL_RANK_WORDING_H_
