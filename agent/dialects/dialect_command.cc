#include "agent/dialects/dialect_command.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"

namespace muster::agent {

std::vector<std::string> WithDialects(const std::vector<Dialect>& dialects,
                                      std::vector<std::string> command) {
  std::string needed;
  for (const auto& [dialect, name] :
       {std::pair(Dialect::kTensorFlow, kTensorFlowWord),
        std::pair(Dialect::kJax, kJaxWord)}) {
    if (std::find(dialects.begin(), dialects.end(), dialect) !=
        dialects.end()) {
      absl::StrAppend(&needed, needed.empty() ? "" : ",", name);
    }
  }
  if (needed.empty()) return command;
  command.insert(command.begin(), {"/proc/self/exe", kDialectArgument, needed});
  return command;
}

}  // namespace muster::agent
