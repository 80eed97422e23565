#ifndef MUSTER_TRAINER_SDK_HIERARCHICAL_RANK_WORDING_H_
#define MUSTER_TRAINER_SDK_HIERARCHICAL_RANK_WORDING_H_

#include <string>
#include <vector>

namespace muster {

// Converts the rank numbers in `message` to ranks of the whole group: "rank 1"
// becomes "rank " and ranks_in_errors[1]. `message` is an error of the group of
// one host's ranks. Numbers that are not ranks of that group are not changed.
// Pure.
std::string WithGroupRanks(const std::string& message,
                           const std::vector<int>& ranks_in_errors);

// Returns the part of `message` after the last description of an operation,
// such as "reduce #2 of 4 float32 (16 bytes), sum: ". Returns the whole message
// if it has no description. Removes the names of operations that are only
// internal steps of the caller's operation. Pure.
std::string WithoutCalls(const std::string& message);

// If `message` begins with the rank that found a failure, such as "rank 1
// found", replaces this rank by ranks_in_errors[1], its number in the whole
// group. The rest of the message is not changed. Pure.
std::string WithFinderGroupRank(const std::string& message,
                                const std::vector<int>& ranks_in_errors);

// Returns the part of `message` from the last occurrence of `heading`, the text
// with which an error message should begin. Keeps a "rank N found:" just before
// it. If `message` does not contain `heading`, returns `heading` followed by
// the whole message. Pure.
std::string FromLast(const std::string& heading, const std::string& message);

// Replaces text about internal steps, which the caller of the operation does
// not know, by `instead`. An example of such text is "has not called it: its
// last collective was broadcast #3". `message` is an error of the group of one
// host's ranks. Pure.
std::string WithoutSteps(const std::string& message,
                         const std::string& instead);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_HIERARCHICAL_RANK_WORDING_H_
