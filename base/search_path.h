#ifndef MUSTER_BASE_SEARCH_PATH_H_
#define MUSTER_BASE_SEARCH_PATH_H_

#include <map>
#include <string>

namespace muster {

// The folders in which programs are searched if PATH is not set:
// "/bin:/usr/bin" on Linux. This is the system's default of execvp(3), without
// the current folder.
std::string DefaultSearchPath();

// The folders in which programs are searched, from PATH in `environment`. An
// empty PATH means the current folder, as for execvp(3).
std::string SearchPath(const std::map<std::string, std::string>& environment);

}  // namespace muster

#endif  // MUSTER_BASE_SEARCH_PATH_H_
