#include "agent/framework_env/framework_command.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"

namespace muster::agent {

std::vector<std::string> WithFrameworkProcess(
    const std::vector<FrameworkEnv>& framework_envs,
    std::vector<std::string> command) {
  std::string needed;
  for (const auto& [framework, name] :
       {std::pair(FrameworkEnv::kTensorFlow, kTensorFlowWord),
        std::pair(FrameworkEnv::kJax, kJaxWord)}) {
    if (std::find(framework_envs.begin(), framework_envs.end(), framework) !=
        framework_envs.end()) {
      absl::StrAppend(&needed, needed.empty() ? "" : ",", name);
    }
  }
  if (needed.empty()) return command;
  command.insert(command.begin(),
                 {"/proc/self/exe", kFrameworkArgument, needed});
  return command;
}

}  // namespace muster::agent
