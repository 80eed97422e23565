#include "launcher/options/flag_table.h"

namespace muster::launcher {

std::vector<Flag> FlagsOf(FlagUser user) {
  std::vector<Flag> flags;
  for (const auto& part : {ClusterFlags(), WorkerFlags(), OutputFlags()}) {
    for (const Flag& flag : part) {
      if (user == FlagUser::kLaunchOnly ||
          flag.user == FlagUser::kLaunchAndAgent) {
        flags.push_back(flag);
      }
    }
  }
  return flags;
}

}  // namespace muster::launcher
