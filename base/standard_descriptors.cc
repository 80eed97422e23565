#include "base/standard_descriptors.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

namespace muster {

void OpenStandardDescriptors() {
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; ++fd) {
    if (fcntl(fd, F_GETFD) >= 0 || errno != EBADF) continue;
    // open returns the lowest free number. This is `fd`, because all lower
    // numbers are in use. O_CLOEXEC is not set: child processes need the three
    // descriptors too.
    if (open("/dev/null", O_RDWR) >= 0) continue;
    // If /dev/null cannot be opened, opens a directory, so that no later file
    // gets the number `fd`.
    (void)!open("/", O_RDONLY | O_DIRECTORY);
  }
}

namespace {

// A constructor of priority 101 runs before the constructors of libraries. Some
// libraries' constructors open descriptors (gRPC's an eventfd), which would
// take the numbers 0 to 2.
__attribute__((constructor(101))) void BeforeMain() {
  OpenStandardDescriptors();
}

}  // namespace
}  // namespace muster
