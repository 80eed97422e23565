#ifndef MUSTER_TRAINER_SDK_HIERARCHICAL_RANK_WORDING_H_
#define MUSTER_TRAINER_SDK_HIERARCHICAL_RANK_WORDING_H_

#include <string>
#include <vector>

namespace muster {

// What a host's own group says of "rank 1", told of the rank that this is in
// the whole group: told_as[1]. Numbers that are no rank of that group stay.
// Pure.
std::string TellAs(const std::string& message, const std::vector<int>& told_as);

// What follows the last operation that heads a part of `message`, as
// "reduce #2 of 4 float32 (16 bytes), sum: " does (Describe); all of it where
// there is none. For what parts of a group say of operations of their own.
// Pure.
std::string WithoutCalls(const std::string& message);

// `message`, found by "rank 1" of a part of the group where it begins with
// that, as found by told_as[1]; what follows stays. Pure.
std::string TellFinderAs(const std::string& message,
                         const std::vector<int>& told_as);

// `message` from its last `heading` on, with who "found" that where it is said
// just before: whose waiting it tells of. `heading` and all of it where there
// is none. Pure.
std::string FromLast(const std::string& heading, const std::string& message);

// `message` of a host's own group without the steps that it names, which nobody
// called: "has not called it: its last collective was broadcast #3" becomes
// `instead`. Pure.
std::string WithoutSteps(const std::string& message,
                         const std::string& instead);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_HIERARCHICAL_RANK_WORDING_H_
