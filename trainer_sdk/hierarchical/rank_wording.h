#ifndef MUSTER_TRAINER_SDK_HIERARCHICAL_RANK_WORDING_H_
#define MUSTER_TRAINER_SDK_HIERARCHICAL_RANK_WORDING_H_

#include <string>
#include <vector>

namespace muster {

// What a host's own group says of "rank 1", told of the rank that this is in
// the whole group: told_as[1]. Numbers that are no rank of that group stay.
// Pure.
std::string TellAs(const std::string& message, const std::vector<int>& told_as);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_HIERARCHICAL_RANK_WORDING_H_
