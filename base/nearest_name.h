#ifndef MUSTER_BASE_NEAREST_NAME_H_
#define MUSTER_BASE_NEAREST_NAME_H_

#include <string>
#include <vector>

namespace muster {

// The candidate that a person who typed `name` most likely meant: the one with
// the fewest letters inserted, removed, replaced or swapped, if these are few;
// the first of equals; else one that `name` abbreviates; else empty.
std::string NearestName(const std::string& name,
                        const std::vector<std::string>& candidates);

}  // namespace muster

#endif  // MUSTER_BASE_NEAREST_NAME_H_
