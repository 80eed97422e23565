#ifndef MUSTER_BASE_SEARCH_PATH_H_
#define MUSTER_BASE_SEARCH_PATH_H_

#include <map>
#include <string>

namespace muster {

// Where programs are searched if PATH is not set: the system's default, as
// execvp(3) has it, without the current folder. "/bin:/usr/bin" on Linux.
std::string DefaultSearchPath();

// Where programs are searched in `environment`. A PATH that is set and empty is
// the current folder, as for execvp(3).
std::string SearchPath(const std::map<std::string, std::string>& environment);

}  // namespace muster

#endif  // MUSTER_BASE_SEARCH_PATH_H_
