// Tests with a terminal as the console.

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <stdlib.h>
#include <termios.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>

#include "agent/logs/log_relay.h"

namespace muster::agent {
namespace {

using ::testing::HasSubstr;

class LogTerminalTest : public ::testing::Test {
 protected:
  LogTerminalTest() : screen_(posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC)) {
    char path[128] = "";
    grantpt(screen_.get());
    unlockpt(screen_.get());
    ptsname_r(screen_.get(), path, sizeof path);
    console_ = OwnedFd(open(path, O_RDWR | O_NOCTTY | O_CLOEXEC));
    termios modes = {};
    tcgetattr(console_.get(), &modes);
    modes.c_oflag &= ~static_cast<tcflag_t>(OPOST);
    tcsetattr(console_.get(), TCSANOW, &modes);
    std::string name = ::testing::TempDir() + "/terminal-XXXXXX";
    plan_.directory = mkdtemp(name.data());
    plan_.run_name = "job";
    worker_.alone = true;
    worker_.prefix = "[n:0] ";
  }
  ~LogTerminalTest() override {
    relay_.reset();
    std::filesystem::remove_all(plan_.directory);
  }

  LogRelay::Pipes Open() {
    relay_ = std::make_unique<LogRelay>(
        plan_,
        std::make_shared<Console>(ConsoleFds{console_.get(), console_.get()}));
    absl::StatusOr<LogRelay::Pipes> pipes = relay_->Open(worker_);
    EXPECT_TRUE(pipes.ok()) << pipes.status();
    return pipes.ok() ? *std::move(pipes) : LogRelay::Pipes();
  }
  static void Put(int fd, const std::string& text) {
    EXPECT_EQ(write(fd, text.data(), text.size()),
              static_cast<ssize_t>(text.size()));
  }
  // Reads the terminal's output until it ends in `end`.
  std::string ShownUntil(const std::string& end) {
    pollfd one = {screen_.get(), POLLIN, 0};
    while (shown_.find(end) == std::string::npos && poll(&one, 1, 30000) == 1) {
      char bytes[4096];
      const ssize_t got = read(screen_.get(), bytes, sizeof bytes);
      if (got <= 0) break;
      shown_.append(bytes, static_cast<size_t>(got));
    }
    return shown_;
  }
  std::string Log(const std::string& name) const {
    std::ifstream file(plan_.directory + "/job/attempt_0/0/" + name);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  OwnedFd screen_;
  OwnedFd console_;
  LogPlan plan_;
  LogRelay::Worker worker_;
  std::unique_ptr<LogRelay> relay_;
  std::string shown_;
};

TEST_F(LogTerminalTest, TheOnlyWorkersBytesPassAsTheyAre) {
  const LogRelay::Pipes pipes = Open();
  EXPECT_EQ(isatty(pipes.stdout_fd), 1);
  EXPECT_EQ(isatty(pipes.stderr_fd), 1);
  EXPECT_TRUE(pipes.stdout_terminal.open());
  Put(pipes.stdout_fd, "half");
  EXPECT_EQ(ShownUntil("half"), "half");
  Put(pipes.stdout_fd, "\r\x1b[1m50%\x1b[0m\n");
  EXPECT_EQ(ShownUntil("\n"), "half\r\x1b[1m50%\x1b[0m\n");
  close(pipes.stdout_fd);
  close(pipes.stderr_fd);
}

TEST_F(LogTerminalTest, LogsAndLastWordsAreWholeWhenTheWorkerHasEnded) {
  const LogRelay::Pipes pipes = Open();
  std::string said;
  for (int i = 0; i < 2000; ++i) said += std::to_string(i) + "\n";
  Put(pipes.stderr_fd, said);
  Put(pipes.stdout_fd, "out");
  close(pipes.stdout_fd);
  close(pipes.stderr_fd);
  ASSERT_FALSE(relay_->StderrTail(0).empty());
  EXPECT_EQ(relay_->StderrTail(0).back(), "1999");
  relay_.reset();
  EXPECT_EQ(Log("stderr.log"), said);
  EXPECT_EQ(Log("stdout.log"), "out");
}

TEST_F(LogTerminalTest, WhatFollowsTheEndBeginsALine) {
  const LogRelay::Pipes pipes = Open();
  Put(pipes.stdout_fd, "no newline");
  close(pipes.stdout_fd);
  close(pipes.stderr_fd);
  EXPECT_EQ(ShownUntil("\n"), "no newline\n");
}

TEST_F(LogTerminalTest, OfSeveralWorkersLinesAreShown) {
  worker_.alone = false;
  const LogRelay::Pipes pipes = Open();
  EXPECT_EQ(isatty(pipes.stdout_fd), 0);
  EXPECT_FALSE(pipes.stdout_terminal.open());
  Put(pipes.stdout_fd, "line\n");
  EXPECT_THAT(ShownUntil("line"), HasSubstr("[n:0] line"));
  close(pipes.stdout_fd);
  close(pipes.stderr_fd);
}

TEST_F(LogTerminalTest, ATeedStreamIsShownAsLines) {
  plan_.tee.all = StreamSet::kOut;
  const LogRelay::Pipes pipes = Open();
  EXPECT_EQ(isatty(pipes.stdout_fd), 0);
  EXPECT_EQ(isatty(pipes.stderr_fd), 1);
  Put(pipes.stdout_fd, "line\n");
  EXPECT_THAT(ShownUntil("line"), HasSubstr("[n:0] line"));
  close(pipes.stdout_fd);
  close(pipes.stderr_fd);
}

TEST_F(LogTerminalTest, ARedirectedStreamIsNoTerminal) {
  plan_.redirects.all = StreamSet::kBoth;
  const LogRelay::Pipes pipes = Open();
  EXPECT_EQ(isatty(pipes.stdout_fd), 0);
  EXPECT_EQ(isatty(pipes.stderr_fd), 0);
  close(pipes.stdout_fd);
  close(pipes.stderr_fd);
}

}  // namespace
}  // namespace muster::agent
