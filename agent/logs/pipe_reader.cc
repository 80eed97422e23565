#include "agent/logs/pipe_reader.h"

#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string_view>

#include "agent/terminal/terminal.h"
#include "base/folder.h"
#include "base/monotonic_clock.h"

namespace muster::agent {
namespace {

// An upper bound of the bytes of a terminal's output that the kernel buffers.
constexpr int kMaxTerminalBytes = 128 << 10;

}  // namespace

absl::StatusOr<PipeReader::Made> PipeReader::Make(int capacity_bytes,
                                                  WorkerStream stream) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) {
    return PathStatus("cannot make a pipe for", "a worker's output", errno);
  }
  // Only the read end is non-blocking, because workers expect a blocking
  // stdout. The ends of a pipe have separate flags.
  fcntl(ends[0], F_SETFL, O_NONBLOCK);
  // The kernel refuses a size beyond the user's limit of pipe memory, and the
  // pipe then keeps its default size.
  if (capacity_bytes > 0) fcntl(ends[0], F_SETPIPE_SZ, capacity_bytes);
  return Made{std::make_shared<PipeReader>(ends[0], std::move(stream)), ends[1],
              OwnedFd()};
}

std::optional<PipeReader::Made> PipeReader::MakeTerminal(int terminal,
                                                         Pass pass,
                                                         WorkerStream* stream) {
  std::optional<PtyPair> pty = OpenPty(terminal);
  OwnedFd again(pty ? fcntl(pty->master.get(), F_DUPFD_CLOEXEC, 3) : -1);
  if (!again.open()) {
    pass({});
    return std::nullopt;
  }
  return Made{std::make_shared<PipeReader>(pty->master.Release(),
                                           std::move(*stream), std::move(pass)),
              pty->slave.Release(), std::move(again)};
}

PipeReader::~PipeReader() {
  if (!ended_) EndLocked();
}

void PipeReader::EndLocked() {
  if (pass_ != nullptr) pass_({});
  stream_.End();
  ended_ = true;
  close(fd_);
}

bool PipeReader::Watch(int epoll, uint64_t id) {
  std::lock_guard<std::mutex> lock(mutex_);
  epoll_event event = {.events = EPOLLIN, .data = {.u64 = id}};
  return !ended_ && epoll_ctl(epoll, EPOLL_CTL_ADD, fd_, &event) == 0;
}

bool PipeReader::Unwatch(int epoll) {
  std::lock_guard<std::mutex> lock(mutex_);
  return !ended_ && epoll_ctl(epoll, EPOLL_CTL_DEL, fd_, nullptr) == 0;
}

size_t PipeReader::ReadLocked(std::span<char> buffer) {
  if (ended_) return 0;
  ssize_t count;
  do {
    count = read(fd_, buffer.data(), buffer.size());
  } while (count < 0 && errno == EINTR);
  if (count > 0) {
    const std::string_view bytes(buffer.data(), static_cast<size_t>(count));
    if (pass_ != nullptr) pass_(bytes);
    stream_.Take(bytes, MonotonicNow());
    return count;
  }
  if (count < 0 && errno == EAGAIN) return 0;
  EndLocked();
  return 0;
}

PipeReader::Outcome PipeReader::OutcomeLocked() const {
  return ended_ ? Outcome::kEnded : Outcome::kOpen;
}

PipeReader::Outcome PipeReader::ReadSome(std::span<char> buffer) {
  std::lock_guard<std::mutex> lock(mutex_);
  ReadLocked(buffer);
  return OutcomeLocked();
}

PipeReader::Outcome PipeReader::Drain(std::span<char> buffer) {
  std::lock_guard<std::mutex> lock(mutex_);
  int left = 0;
  if (ended_ || ioctl(fd_, FIONREAD, &left) != 0) return OutcomeLocked();
  // For a pseudo-terminal, FIONREAD may return too small a number: the kernel
  // moves some bytes to the read buffer only during a read. Therefore the loop
  // below reads until nothing comes, but at most kMaxTerminalBytes.
  if (pass_ != nullptr) left = kMaxTerminalBytes;
  while (left > 0) {
    size_t most = std::min(buffer.size(), static_cast<size_t>(left));
    size_t count = ReadLocked(buffer.first(most));
    if (count == 0) return OutcomeLocked();
    left -= static_cast<int>(count);
  }
  // All bytes that were in the pipe have been read. Read once more: if the
  // writers have closed the pipe, only this further read returns end of file.
  ReadLocked(buffer);
  return OutcomeLocked();
}

std::optional<Instant> PipeReader::NextDeadline() {
  std::lock_guard<std::mutex> lock(mutex_);
  return stream_.NextDeadline();
}

void PipeReader::TimePassed(Instant now) {
  std::lock_guard<std::mutex> lock(mutex_);
  // An unfinished line is shown after a delay. The delay begins anew (PutOff)
  // if the rest of the line may still be in the pipe: if the pipe holds bytes,
  // or if the pipe is not read because the console or the queue of file writes
  // is full.
  int waiting = 0;
  const bool has_more =
      !ended_ && ioctl(fd_, FIONREAD, &waiting) == 0 && waiting > 0;
  if (has_more || !HasRoom()) {
    stream_.PutOff(now);
  } else {
    stream_.TimePassed(now);
  }
}

std::vector<std::string> PipeReader::LastLines() {
  std::lock_guard<std::mutex> lock(mutex_);
  return stream_.LastLines();
}

}  // namespace muster::agent
