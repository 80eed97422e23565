#include "agent/logs/console.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <string>

namespace muster::agent {
namespace {

using ::testing::ElementsAre;

constexpr std::chrono::seconds kLong(30);

class ConsoleTest : public ::testing::Test {
 protected:
  ConsoleTest() : full_(open("/dev/full", O_WRONLY | O_CLOEXEC)) {
    EXPECT_EQ(pipe2(ends_, O_CLOEXEC), 0);
  }
  ~ConsoleTest() override {
    for (int fd : {full_, ends_[0], ends_[1]}) close(fd);
  }
  std::string Read() const {
    char text[512];
    const ssize_t count = read(ends_[0], text, sizeof text);
    return std::string(text, count < 0 ? 0 : count);
  }

  const int full_;
  int ends_[2];
};

TEST_F(ConsoleTest, FullStreamIsReportedOnceOnTheOther) {
  Console console({.out = full_, .err = ends_[1]});
  console.out()->WriteOutput("one\n");
  EXPECT_TRUE(console.Flush(kLong));
  console.out()->WriteOutput("two\n");
  EXPECT_TRUE(console.Flush(kLong));
  EXPECT_EQ(Read(),
            "launch: stdout cannot be written: No space left on device\n");
  EXPECT_TRUE(console.Failed());
  EXPECT_EQ(console.missing(), 8);
  EXPECT_THAT(console.Losses("/logs"),
              ElementsAre("8 bytes could not be written to stdout: No space "
                          "left on device; the workers' output is in the files "
                          "of /logs"));
}

TEST_F(ConsoleTest, BothStreamsAreWaitedForAtTheSameTime) {
  int others[2];
  ASSERT_EQ(pipe2(others, O_CLOEXEC), 0);
  Console console({.out = ends_[1], .err = others[1]});
  // Writes more text than the pipes hold.
  console.out()->WriteOutput(std::string(1 << 20, 'x') + "\n");
  console.err()->WriteOutput(std::string(1 << 20, 'x') + "\n");
  // Waits until the pipes are full.
  for (int i = 0; i < 30000 && console.written() < 2 * (64 << 10); ++i) {
    console.Flush(std::chrono::milliseconds(1));
  }
  int asked = 0;
  int asked_for_out = 0;
  const auto given_up = [&] { return console.out()->loss().unread > 0; };
  console.Finish(
      {.without_progress = std::chrono::milliseconds(500), .end_signals = [&] {
         ++asked;
         if (!given_up()) asked_for_out = asked;
         return 0;
       }});
  EXPECT_TRUE(given_up());
  EXPECT_GT(console.err()->loss().unread, 0);
  // `asked` counts all calls of the callback end_signals. `asked_for_out`
  // counts those before the end of the wait for stdout. Both waits share one
  // time limit, and the wait for stdout has used it up. So the wait for stderr
  // ends after one call.
  EXPECT_EQ(asked - asked_for_out, 1);
  for (const int fd : others) close(fd);
}

TEST_F(ConsoleTest, WithoutTroubleThereIsNoLoss) {
  Console console({.out = ends_[1], .err = ends_[1]});
  EXPECT_EQ(console.out(), console.err());
  console.out()->WriteOutput("one\n");
  console.Finish({.without_progress = kLong});
  EXPECT_THAT(console.Losses(""), ElementsAre());
  EXPECT_EQ(console.missing(), 0);
  EXPECT_FALSE(console.Failed());
  EXPECT_FALSE(console.IsIncomplete());
}

}  // namespace
}  // namespace muster::agent
