#include "agent/guardian/socket_folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>

namespace muster::agent {

void RemoveSocketFolder(const std::string& folder) {
  const int fd =
      open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (fd < 0) return;
  struct stat facts = {};
  DIR* const listing = fdopendir(fd);
  if (listing == nullptr) {
    close(fd);
    return;
  }
  if (fstat(fd, &facts) == 0 && facts.st_uid == geteuid()) {
    while (const dirent* entry = readdir(listing)) {
      const char* const name = entry->d_name;
      if (fstatat(fd, name, &facts, AT_SYMLINK_NOFOLLOW) == 0 &&
          (S_ISSOCK(facts.st_mode) || S_ISFIFO(facts.st_mode) ||
           (S_ISREG(facts.st_mode) &&
            std::strcmp(name, kFileAmongSockets) == 0))) {
        unlinkat(fd, name, 0);
      }
    }
    rmdir(folder.c_str());
  }
  closedir(listing);
}

}  // namespace muster::agent
