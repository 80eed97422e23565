#ifndef MUSTER_BASE_OWN_PROGRAM_H_
#define MUSTER_BASE_OWN_PROGRAM_H_

#include <string>

namespace muster {

// The path of this process's executable with symbolic links resolved; empty if
// /proc cannot be read.
std::string OwnProgram();

}  // namespace muster

#endif  // MUSTER_BASE_OWN_PROGRAM_H_
