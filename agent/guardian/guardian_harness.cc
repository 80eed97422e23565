#include "agent/guardian/guardian_harness.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>

#include "base/monotonic_clock.h"
#include "base/poll.h"

namespace muster::agent {
namespace {

constexpr std::chrono::seconds kReadTimeout(30);

}  // namespace

bool BecomesReadable(int fd) {
  return PollUntil(fd, POLLIN, MonotonicNow() + kReadTimeout);
}

OutputPipe::OutputPipe(const std::string& path) {
  EXPECT_EQ(mkfifo(path.c_str(), 0600), 0) << path;
  // O_NONBLOCK, because open would otherwise block until a writer opens the
  // pipe.
  read_ = OwnedFd(open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  write_ = OwnedFd(open(path.c_str(), O_WRONLY | O_CLOEXEC));
  EXPECT_TRUE(read_.open() && write_.open()) << path;
}

OutputPipe::OutputPipe() {
  int ends[2];
  EXPECT_EQ(pipe2(ends, O_CLOEXEC), 0);
  read_ = OwnedFd(ends[0]);
  write_ = OwnedFd(ends[1]);
}

std::string OutputPipe::Line() {
  size_t end;
  while ((end = buffer_.find('\n')) == std::string::npos) {
    char bytes[4096];
    if (!BecomesReadable(read_.get())) {
      ADD_FAILURE() << "no line came";
      return "";
    }
    const ssize_t got = read(read_.get(), bytes, sizeof bytes);
    if (got <= 0) {
      ADD_FAILURE() << "end of file instead of a line";
      return "";
    }
    buffer_.append(bytes, static_cast<size_t>(got));
  }
  std::string line = buffer_.substr(0, end);
  buffer_.erase(0, end + 1);
  return line;
}

bool OutputPipe::EveryHolderGone() {
  CloseWriteEnd();
  char bytes[4096];
  while (BecomesReadable(read_.get())) {
    if (read(read_.get(), bytes, sizeof bytes) <= 0) return true;
  }
  return false;
}

std::string StagedWorker() { return "agent/guardian/staged_worker"; }

WorkerSpec Staged(int local_rank, std::vector<std::string> acts,
                  const OutputPipe& out) {
  WorkerSpec spec;
  spec.local_rank = local_rank;
  spec.argv = std::move(acts);
  spec.argv.insert(spec.argv.begin(), StagedWorker());
  spec.stdout_fd = out.write_end();
  spec.stderr_fd = STDERR_FILENO;
  return spec;
}

GuardianEvent EventReader::Next() {
  while (events_.empty()) {
    if (!BecomesReadable(guardian_->fd())) {
      ADD_FAILURE() << "no event came";
      return GuardianLost{"no event came"};
    }
    events_ = guardian_->Next();
  }
  GuardianEvent event = events_.front();
  events_.erase(events_.begin());
  return event;
}

bool Ends(const OwnedFd& pidfd) { return BecomesReadable(pidfd.get()); }

}  // namespace muster::agent
