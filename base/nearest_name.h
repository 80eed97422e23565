#ifndef MUSTER_BASE_NEAREST_NAME_H_
#define MUSTER_BASE_NEAREST_NAME_H_

#include <string>
#include <vector>

namespace muster {

// Returns the candidate that a person who typed `name` most likely meant: the
// candidate that differs in the fewest letters (the first one of several), if
// at most a third of the letters of `name` differ; in a short name one letter
// may differ. Otherwise returns the first candidate that begins with `name`, if
// `name` has three letters or more. Empty: no candidate is similar.
std::string NearestName(const std::string& name,
                        const std::vector<std::string>& candidates);

}  // namespace muster

#endif  // MUSTER_BASE_NEAREST_NAME_H_
