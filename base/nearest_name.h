#ifndef MUSTER_BASE_NEAREST_NAME_H_
#define MUSTER_BASE_NEAREST_NAME_H_

#include <string>
#include <vector>

namespace muster {

// Returns the candidate that a person who typed `name` most likely meant. First
// choice: the candidate that differs from `name` in the fewest letters (the
// first of several). At most a third of the letters of `name` may differ, or
// one letter if `name` is short. Second choice, if `name` has three letters or
// more: the first candidate that begins with `name`. Empty: no candidate is
// similar.
std::string NearestName(const std::string& name,
                        const std::vector<std::string>& candidates);

}  // namespace muster

#endif  // MUSTER_BASE_NEAREST_NAME_H_
