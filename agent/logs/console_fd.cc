#include "agent/logs/console_fd.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <string>

namespace muster::agent {

int OpenConsoleCopy(int fd) {
  struct stat status;
  if (fstat(fd, &status) != 0) return -1;
  // A regular file does not block for long. Opened again it would have an
  // offset of its own and overwrite other programs' output.
  if (S_ISFIFO(status.st_mode) || S_ISCHR(status.st_mode)) {
    std::string path = "/proc/self/fd/" + std::to_string(fd);
    int copy = open(path.c_str(), O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (copy >= 0) return copy;
  }
  // Descriptors 0 to 2 are avoided: they may be closed here, and would be taken
  // for stdin, stdout or stderr.
  return fcntl(fd, F_DUPFD_CLOEXEC, 3);
}

bool IsSameConsole(int fd, int other) {
  struct stat a;
  struct stat b;
  return fstat(fd, &a) == 0 && fstat(other, &b) == 0 && a.st_dev == b.st_dev &&
         a.st_ino == b.st_ino && a.st_rdev == b.st_rdev;
}

}  // namespace muster::agent
