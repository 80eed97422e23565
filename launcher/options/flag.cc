#include "launcher/options/flag.h"

namespace muster::launcher {

const char* GroupTitle(FlagGroup group) {
  switch (group) {
    case FlagGroup::kCluster:
      return "Nodes and where they meet";
    case FlagGroup::kRemote:
      return "Starting the other nodes' agents from here";
    case FlagGroup::kWorkers:
      return "Workers";
    case FlagGroup::kRestarts:
      return "Restarts and changes of membership";
    case FlagGroup::kHealth:
      return "Health checks";
    case FlagGroup::kOutput:
      return "Output";
    case FlagGroup::kStopping:
      return "Signals and stopping";
    case FlagGroup::kPreemption:
      return "Preemption";
    case FlagGroup::kAccepted:
      return "Accepted for compatibility";
    case FlagGroup::kGeneral:
      return "General";
  }
  return "";
}

std::string PetName(const Flag& flag) {
  std::string name = "PET_";
  for (const char* at = flag.name; *at != '\0'; ++at) {
    name.push_back(*at == '-'
                       ? '_'
                       : static_cast<char>(
                             *at >= 'a' && *at <= 'z' ? *at - 'a' + 'A' : *at));
  }
  return name;
}

}  // namespace muster::launcher
