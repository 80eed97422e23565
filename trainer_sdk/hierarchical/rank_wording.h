#ifndef MUSTER_TRAINER_SDK_HIERARCHICAL_RANK_WORDING_H_
#define MUSTER_TRAINER_SDK_HIERARCHICAL_RANK_WORDING_H_

#include <string>
#include <vector>

namespace muster {

// Converts the rank numbers in an error of a host's own group to ranks of the
// whole group: "rank 1" becomes the rank ranks_in_errors[1]. Numbers that are
// not ranks of the host's group stay. Pure.
std::string WithGroupRanks(const std::string& message,
                           const std::vector<int>& ranks_in_errors);

// The text after the last description of an operation in `message`, such as
// "reduce #2 of 4 float32 (16 bytes), sum: " (Describe); the whole message if
// there is none. Used for errors of operations that are steps of another
// operation. Pure.
std::string WithoutCalls(const std::string& message);

// If `message` begins with "rank 1 found", replaces the rank by
// ranks_in_errors[1]; the rest of the message stays. Pure.
std::string WithFinderGroupRank(const std::string& message,
                                const std::vector<int>& ranks_in_errors);

// The part of `message` from its last `heading`, including a preceding "rank N
// found:". If `message` has no such heading, returns `heading` followed by the
// whole message. Pure.
std::string FromLast(const std::string& heading, const std::string& message);

// Replaces the names of internal steps in `message`, an error of a host's own
// group, because the caller does not know these steps: "has not called it: its
// last collective was broadcast #3" becomes `instead`. Pure.
std::string WithoutSteps(const std::string& message,
                         const std::string& instead);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_HIERARCHICAL_RANK_WORDING_H_
