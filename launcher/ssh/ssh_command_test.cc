#include "launcher/ssh/ssh_command.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::launcher {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

SshSettings Settings() { return {{"-p", "2222"}, 1'500, 32, "/opt/it's"}; }

TEST(SshCommand, GivenArgumentsComeFirstAndTheHostIsNoOption) {
  const std::vector<std::string> argv =
      SshCommand("/usr/bin/ssh", Settings(), "me@a");
  EXPECT_EQ(argv[0], "/usr/bin/ssh");
  EXPECT_EQ(argv[1], "-p");
  EXPECT_EQ(argv[2], "2222");
  EXPECT_THAT(argv, testing::Contains("BatchMode=yes"));
  EXPECT_THAT(argv, testing::Contains("ConnectTimeout=2"));
  const size_t end = argv.size();
  EXPECT_EQ(argv[end - 3], "--");
  EXPECT_EQ(argv[end - 2], "me@a");
  EXPECT_THAT(argv[end - 1], HasSubstr("'/opt/it'\\''s'"));
}

TEST(WhyNotReached, SshsMessageIsTheReason) {
  SshEnd end{.exit_code = 255,
             .said =
                 "Warning: Permanently added 'a'\r\n"
                 "\x1b[1mssh: connect: refused\r\n"};
  EXPECT_EQ(WhyNotReached(end, Settings()), "ssh: connect: refused");
}

TEST(WhyNotReached, AMissingLaunchIsNamed) {
  EXPECT_THAT(WhyNotReached({.exit_code = 127}, Settings()),
              HasSubstr("no launch at /opt/it's"));
  EXPECT_THAT(
      WhyNotReached({.exit_code = 126, .said = "bad format"}, Settings()),
      HasSubstr("cannot be executed there: bad format"));
}

TEST(WhyNotReached, TimeoutsAndForeignAnswersAreNamed) {
  EXPECT_EQ(WhyNotReached({.cause = SshEnd::Cause::kTimedOut, .said = "hm"},
                          Settings()),
            "did not answer within 2 s (--ssh-timeout): hm");
  EXPECT_EQ(WhyNotReached({.cause = SshEnd::Cause::kForeignAnswer,
                           .answer = "another version"},
                          Settings()),
            "another version");
  EXPECT_EQ(WhyNotReached({.exit_code = 1, .printed = "This account is closed"},
                          Settings()),
            "ssh ended with status 1 before launch answered: This account is "
            "closed");
}

TEST(LastWords, AtMostAFewShortLinesAreKept) {
  EXPECT_EQ(LastWords("1\n2\n3\n4\n"), "2; 3; 4");
  EXPECT_EQ(LastWords("@@@@@\n\n  \n"), "");
  EXPECT_LE(LastWords(std::string(5000, 'x')).size(), 403u);
}

TEST(LastWords, AFullStopAtTheEndOfALineIsLeftOut) {
  EXPECT_EQ(LastWords("closed by a.b.\nBye.\nstill trying...\n"),
            "closed by a.b; Bye; still trying...");
}

}  // namespace
}  // namespace muster::launcher
