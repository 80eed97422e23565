#include "agent/logs/console_fd.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <string>

namespace muster::agent {

int OpenConsoleCopy(int fd) {
  struct stat status;
  if (fstat(fd, &status) != 0) return -1;
  // A regular file never blocks for long, and opened anew it would have an
  // offset of its own and overwrite what others have written.
  if (S_ISFIFO(status.st_mode) || S_ISCHR(status.st_mode)) {
    std::string path = "/proc/self/fd/" + std::to_string(fd);
    int copy = open(path.c_str(), O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (copy >= 0) return copy;
  }
  // Kept away from 0 to 2, which may be closed here and taken for others.
  return fcntl(fd, F_DUPFD_CLOEXEC, 3);
}

bool IsSameConsole(int fd, int other) {
  struct stat a;
  struct stat b;
  return fstat(fd, &a) == 0 && fstat(other, &b) == 0 && a.st_dev == b.st_dev &&
         a.st_ino == b.st_ino && a.st_rdev == b.st_rdev;
}

}  // namespace muster::agent
