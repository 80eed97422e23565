#include "launcher/options/flag_table.h"

#include <string_view>

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

std::vector<Flag> TlsFlags() {
  std::vector<Flag> flags;
  for (const Flag& flag : ClusterFlags()) {
    if (std::string_view(flag.name).substr(0, 4) != "tls-") continue;
    flags.push_back(flag);
    flags.back().group = FlagGroup::kGeneral;
    flags.back().pet = PetVariable::kNone;
  }
  return flags;
}

}  // namespace muster::launcher
