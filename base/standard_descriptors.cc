#include "base/standard_descriptors.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

namespace muster {

void OpenStandardDescriptors() {
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; ++fd) {
    if (fcntl(fd, F_GETFD) >= 0 || errno != EBADF) continue;
    // The kernel gives the lowest free number, and all below `fd` are taken.
    // Without close-on-exec: a child needs the three descriptors as well.
    if (open("/dev/null", O_RDWR) >= 0) continue;
    // Without /dev, a directory at least keeps the number from being reused.
    (void)!open("/", O_RDONLY | O_DIRECTORY);
  }
}

namespace {

// Before other constructors: those of libraries make descriptors (gRPC's makes
// an eventfd), which would take the numbers before main.
__attribute__((constructor(101))) void BeforeMain() {
  OpenStandardDescriptors();
}

}  // namespace
}  // namespace muster
