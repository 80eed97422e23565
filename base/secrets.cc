#include "base/secrets.h"

#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <string_view>
#include <vector>

namespace muster {

std::optional<std::string> TakeSecretVariable(const char* name) {
  const char* const value = getenv(name);
  if (value == nullptr) return std::nullopt;
  std::string taken = value;
  // The environment may contain the variable `name` several times.
  std::vector<char*> entries;
  const std::string prefix = std::string(name) + "=";
  for (char** at = environ; *at != nullptr; ++at) {
    if (std::string_view(*at).substr(0, prefix.size()) == prefix) {
      entries.push_back(*at + prefix.size());
    }
  }
  unsetenv(name);
  for (char* const entry : entries) explicit_bzero(entry, strlen(entry));
  return taken;
}

void HideFromOtherProcesses() { prctl(PR_SET_DUMPABLE, 0, 0, 0, 0); }

}  // namespace muster
