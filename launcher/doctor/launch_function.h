#ifndef MUSTER_LAUNCHER_DOCTOR_LAUNCH_FUNCTION_H_
#define MUSTER_LAUNCHER_DOCTOR_LAUNCH_FUNCTION_H_

#include <functional>
#include <string>
#include <vector>

namespace muster::launcher {

// Runs `launch` with these arguments and returns its exit code.
using LaunchFunction =
    std::function<int(const std::vector<std::string>& arguments)>;

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_DOCTOR_LAUNCH_FUNCTION_H_
