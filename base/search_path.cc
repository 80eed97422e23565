#include "base/search_path.h"

#include <unistd.h>

#include "base/environment_value.h"

namespace muster {

std::string DefaultSearchPath() {
  char path[256];
  const size_t size = confstr(_CS_PATH, path, sizeof path);
  return size > 0 && size <= sizeof path ? path : "/bin:/usr/bin";
}

std::string SearchPath(const std::map<std::string, std::string>& environment) {
  const std::optional<std::string> path = EnvironmentValue(environment, "PATH");
  return path ? *path : DefaultSearchPath();
}

}  // namespace muster
