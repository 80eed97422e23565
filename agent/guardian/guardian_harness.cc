#include "agent/guardian/guardian_harness.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <chrono>

namespace muster {
namespace {

// Reached only by a broken guardian, or on a machine that stands still.
constexpr int kDeadlineMilliseconds = 30000;

bool Readable(int fd) {
  pollfd one = {fd, POLLIN, 0};
  return poll(&one, 1, kDeadlineMilliseconds) == 1;
}

}  // namespace

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
    if (!Readable(read_.get())) {
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
  while (Readable(read_.get())) {
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
    if (!Readable(guardian_->fd())) {
      ADD_FAILURE() << "no event came";
      return GuardianLost{"no event came"};
    }
    events_ = guardian_->Next();
  }
  GuardianEvent event = events_.front();
  events_.erase(events_.begin());
  return event;
}

OwnedFd OpenPidFd(pid_t pid) {
  return OwnedFd(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
}

bool Ends(const OwnedFd& pidfd) { return Readable(pidfd.get()); }

}  // namespace muster
