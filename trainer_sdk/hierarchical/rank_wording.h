#ifndef MUSTER_TRAINER_SDK_HIERARCHICAL_RANK_WORDING_H_
#define MUSTER_TRAINER_SDK_HIERARCHICAL_RANK_WORDING_H_

#include <string>
#include <vector>

namespace muster {

// What a host's own group says of "rank 1", told of the rank that this is in
// the whole group: told_as[1]. Numbers that are no rank of that group stay.
// Pure.
std::string TellAs(const std::string& message, const std::vector<int>& told_as);

// What follows the last `heading` in `message`; all of it where there is none.
// For what parts of a group say under headings of their own. Pure.
std::string AfterLast(const std::string& heading, const std::string& message);

// `message` of a host's own group without the steps that it names, which nobody
// called: "has not called it: its last collective was broadcast #3" becomes
// `instead`. Pure.
std::string WithoutSteps(const std::string& message,
                         const std::string& instead);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_HIERARCHICAL_RANK_WORDING_H_
