#include "base/own_program.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

namespace muster {
namespace {

TEST(OwnProgramTest, IsTheFileThatRuns) {
  struct stat running, named;
  ASSERT_EQ(stat("/proc/self/exe", &running), 0);
  ASSERT_EQ(OwnProgram().substr(0, 1), "/");
  ASSERT_EQ(stat(OwnProgram().c_str(), &named), 0);
  EXPECT_EQ(named.st_ino, running.st_ino);
}

}  // namespace
}  // namespace muster
