#ifndef MUSTER_TRAINER_SDK_HIERARCHICAL_RANK_WORDING_H_
#define MUSTER_TRAINER_SDK_HIERARCHICAL_RANK_WORDING_H_

#include <string>
#include <vector>

namespace muster {

// Converts the rank numbers in an error message of a host's own group to ranks
// of the whole group: "rank 1" becomes "rank " and ranks_in_errors[1]. Numbers
// that are not ranks of the host's group are not changed. Pure.
std::string WithGroupRanks(const std::string& message,
                           const std::vector<int>& ranks_in_errors);

// Looks for the last description of an operation in `message`, such as "reduce
// #2 of 4 float32 (16 bytes), sum: ", and returns the text after it. Without a
// description, returns the whole message. Removes the names of operations that
// are only internal steps of the caller's operation. Pure.
std::string WithoutCalls(const std::string& message);

// If `message` begins with "rank 1 found", replaces the rank number by
// ranks_in_errors[1]. The rest of the message is not changed. Pure.
std::string WithFinderGroupRank(const std::string& message,
                                const std::vector<int>& ranks_in_errors);

// Returns the part of `message` from the last occurrence of `heading`, with a
// preceding "rank N found:" if there is one. If `message` does not contain
// `heading`, returns `heading` followed by the whole message. Pure.
std::string FromLast(const std::string& heading, const std::string& message);

// Replaces the names of internal steps in `message`, an error of a host's own
// group: "has not called it: its last collective was broadcast #3" becomes
// `instead`. The caller does not know these steps. Pure.
std::string WithoutSteps(const std::string& message,
                         const std::string& instead);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_HIERARCHICAL_RANK_WORDING_H_
