#include "trainer_sdk/hierarchical/host_identity.h"

#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <fstream>

#include "absl/strings/str_cat.h"

namespace muster {

absl::StatusOr<std::string> HostIdentity() {
  const char* const boot_file = "/proc/sys/kernel/random/boot_id";
  std::string boot;
  std::ifstream(boot_file) >> boot;
  if (boot.empty()) {
    return absl::NotFoundError(absl::StrCat(
        boot_file, " cannot be read, so it is unknown who shares this host"));
  }
  const char* const network_file = "/proc/self/ns/net";
  struct stat network {};
  if (stat(network_file, &network) != 0) {
    return absl::NotFoundError(
        absl::StrCat(network_file, ": ", std::strerror(errno)));
  }
  return absl::StrCat(boot, "/", network.st_ino);
}

}  // namespace muster
