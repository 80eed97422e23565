#include "agent/preemption/preemption_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <fstream>
#include <sstream>

namespace muster::agent {
namespace {

using ::testing::HasSubstr;

constexpr Duration kGrace = std::chrono::milliseconds(118'500);

std::string Read(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

TEST(PreemptionLine, IsOneLineOfJson) {
  EXPECT_EQ(PreemptionLine({.signal = 10, .host = "n1", .left = kGrace}),
            "{\"signal\":\"SIGUSR1\",\"host\":\"n1\",\"grace_s\":118.5}\n");
  EXPECT_THAT(PreemptionLine({.signal = 15, .host = "a\"\n\xff"}),
              HasSubstr("a\\\"\\n\xEF\xBF\xBD"));
}

TEST(PreemptionFile, IsThereOnceTheNoticeHasCome) {
  std::string folder = testing::TempDir() + "preemption-XXXXXX";
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  std::string path;
  {
    PreemptionFile file;
    file.PutInto(folder);
    path = file.path();
    EXPECT_NE(access(path.c_str(), F_OK), 0);
    ASSERT_TRUE(file.Write({.signal = 10, .host = "n1"}).ok());
    EXPECT_THAT(Read(path), HasSubstr("SIGUSR1"));
  }
  EXPECT_NE(access(path.c_str(), F_OK), 0);
  EXPECT_EQ(rmdir(folder.c_str()), 0) << "something was left";
}

TEST(PreemptionFile, SaysWhyItCannotBeWritten) {
  PreemptionFile file;
  file.PutInto("/nowhere/at/all");
  const absl::Status written = file.Write({.signal = 10, .host = "n1"});
  EXPECT_THAT(std::string(written.message()), HasSubstr("/nowhere/at/all"));
}

TEST(PreemptionFile, IsNowhereWithoutAFolder) {
  PreemptionFile file;
  file.PutInto("");
  EXPECT_EQ(file.path(), "");
  EXPECT_TRUE(file.Write({.signal = 10, .host = "n1"}).ok());
}

}  // namespace
}  // namespace muster::agent
