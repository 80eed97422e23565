#include "base/standard_descriptors.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>

namespace muster {
namespace {

// Runs `body` in a child process and returns its exit code.
int InChild(const std::function<int()>& body) {
  const pid_t child = fork();
  if (child == 0) _exit(body());
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

bool IsNull(int fd) {
  struct stat own = {};
  struct stat null = {};
  return fstat(fd, &own) == 0 && stat("/dev/null", &null) == 0 &&
         own.st_rdev == null.st_rdev;
}

TEST(OpenStandardDescriptors, AClosedDescriptorBecomesDevNull) {
  for (int fd = 0; fd <= 2; ++fd) {
    EXPECT_EQ(InChild([fd] {
                close(fd);
                OpenStandardDescriptors();
                return IsNull(fd) ? 0 : 1;
              }),
              0)
        << fd;
  }
}

TEST(OpenStandardDescriptors, AllThreeClosedBecomeDevNull) {
  EXPECT_EQ(InChild([] {
              for (int fd = 0; fd <= 2; ++fd) close(fd);
              OpenStandardDescriptors();
              for (int fd = 0; fd <= 2; ++fd) {
                if (!IsNull(fd)) return 1;
              }
              return 0;
            }),
            0);
}

TEST(OpenStandardDescriptors, OpenDescriptorsStayAsTheyAre) {
  EXPECT_EQ(InChild([] {
              const int zero = open("/dev/zero", O_RDWR);
              for (int fd = 0; fd <= 2; ++fd) dup2(zero, fd);
              OpenStandardDescriptors();
              for (int fd = 0; fd <= 2; ++fd) {
                if (IsNull(fd)) return 1;
              }
              return open("/dev/null", O_RDONLY) == zero + 1 ? 0 : 2;
            }),
            0);
}

}  // namespace
}  // namespace muster
