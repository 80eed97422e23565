#include "trainer_sdk/shared_memory/testing/forked_ranks.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/monotonic_clock.h"
#include "base/poll.h"
#include "base/subprocess.h"
#include "store/server/store_server.h"
#include "trainer_sdk/store/tcp_store.h"

namespace muster {
namespace {

// Writes a status to a pipe: one byte with the code, then the message. The text
// is cut to PIPE_BUF bytes, so that one write is atomic.
void Report(int fd, const absl::Status& status) {
  std::string text(1, static_cast<char>(status.code()));
  absl::StrAppend(&text, std::string(status.message()));
  if (write(fd, text.data(), std::min<size_t>(text.size(), PIPE_BUF)) < 0) {
    std::perror("cannot report");
  }
}

absl::Status Reported(int fd) {
  char text[PIPE_BUF];
  const ssize_t length = read(fd, text, sizeof(text));
  if (length < 1) return absl::CancelledError("killed");
  return absl::Status(static_cast<absl::StatusCode>(text[0]),
                      std::string(text + 1, length - 1));
}

// Forks this process. Returns true in the child, which the kernel kills when
// its parent ends.
bool Fork(pid_t* pid) {
  const pid_t parent = getpid();
  *pid = fork();
  MUSTER_CHECK(*pid >= 0) << std::strerror(errno);
  if (*pid > 0) return false;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(1);
  return true;
}

// The main function of the child that serves the ranks' store. The child
// reports its port and runs until it is killed. The store runs in a process of
// its own, because its server has threads, and a process with threads should
// not fork.
[[noreturn]] void Serve(int told) {
  const auto server = store::StoreServer::Start({.address = "127.0.0.1"});
  MUSTER_CHECK(server.ok()) << server.status();
  const int port = (*server)->port();
  MUSTER_CHECK(write(told, &port, sizeof(port)) == sizeof(port))
      << std::strerror(errno);
  for (;;) pause();
}

}  // namespace

ForkedRanks::ForkedRanks(
    int size, const std::function<absl::Status(const GroupPlace& place)>& body)
    : ranks_(size) {
  int told[2];
  MUSTER_CHECK(pipe2(told, O_CLOEXEC) == 0) << std::strerror(errno);
  if (Fork(&server_)) Serve(told[1]);
  close(told[1]);
  MUSTER_CHECK(read(told[0], &port_, sizeof(port_)) == sizeof(port_))
      << "the store's server has died";
  close(told[0]);
  for (int rank = 0; rank < size; ++rank) {
    int ends[2];
    // Make reads from the pipe non-blocking. A child of the rank may keep the
    // pipe open after the rank's death, and then a blocking read might never
    // end.
    MUSTER_CHECK(pipe2(ends, O_CLOEXEC | O_NONBLOCK) == 0)
        << std::strerror(errno);
    if (Fork(&ranks_[rank].pid)) {
      close(ends[0]);
      GroupPlace place;
      place.rank = rank;
      place.size = size;
      auto store = TcpStore::Connect(
          {.host = "127.0.0.1",
           .port = port_,
           .connect_deadline = MonotonicNow() + std::chrono::seconds(60)});
      MUSTER_CHECK(store.ok()) << store.status();
      place.store = *std::move(store);
      place.name = "world";
      Report(ends[1], body(place));
      std::fflush(nullptr);
      _exit(0);
    }
    close(ends[1]);
    ranks_[rank].life = OpenPidFd(ranks_[rank].pid);
    ranks_[rank].result = OwnedFd(ends[0]);
  }
}

ForkedRanks::~ForkedRanks() {
  for (size_t rank = 0; rank < ranks_.size(); ++rank) {
    Kill(static_cast<int>(rank));
  }
  for (const Rank& one : ranks_) waitpid(one.pid, nullptr, 0);
  // Killing the process of the store server by its pid is safe: the pid cannot
  // have been reused, because only the next waitpid reaps this process.
  kill(server_, SIGKILL);
  waitpid(server_, nullptr, 0);
}

void ForkedRanks::Kill(int rank) {
  // Use the pidfd and not the pid, because the pid may have been reused.
  syscall(SYS_pidfd_send_signal, ranks_[rank].life.get(), SIGKILL, nullptr, 0);
}

absl::Status ForkedRanks::WaitFor(int rank, Instant deadline) const {
  return PollUntil(ranks_[rank].life.get(), POLLIN, deadline)
             ? Reported(ranks_[rank].result.get())
             : absl::DeadlineExceededError("still runs");
}

std::vector<absl::Status> ForkedRanks::Wait(Instant deadline) const {
  std::vector<absl::Status> statuses;
  for (size_t rank = 0; rank < ranks_.size(); ++rank) {
    statuses.push_back(WaitFor(static_cast<int>(rank), deadline));
  }
  return statuses;
}

}  // namespace muster
