#ifndef MUSTER_BASE_NEAREST_NAME_H_
#define MUSTER_BASE_NEAREST_NAME_H_

#include <string>
#include <vector>

namespace muster {

// The candidate that a person who typed `name` most likely meant: the first one
// that differs in the fewest letters, if at most a third of the letters of
// `name` differ (in a short name one letter may). Otherwise the first one that
// begins with `name`, if `name` has three letters or more. Empty: none.
std::string NearestName(const std::string& name,
                        const std::vector<std::string>& candidates);

}  // namespace muster

#endif  // MUSTER_BASE_NEAREST_NAME_H_
