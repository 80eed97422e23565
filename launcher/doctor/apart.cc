#include "launcher/doctor/apart.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "base/monotonic_clock.h"
#include "base/owned_fd.h"
#include "base/poll.h"

namespace muster::launcher {
namespace {

[[noreturn]] void Work(const OwnedFd& answer,
                       const std::function<int()>& work) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  const int code = work();
  std::fflush(nullptr);
  const auto byte = static_cast<unsigned char>(code);
  (void)!write(answer.get(), &byte, 1);
  // Skip the destructors: they could wait for threads that are stuck in a
  // driver.
  _exit(code);
}

std::string EndOf(pid_t child) {
  int status = 0;
  if (waitpid(child, &status, 0) == child && WIFSIGNALED(status)) {
    return absl::StrCat("died of signal ", WTERMSIG(status), " (",
                        strsignal(WTERMSIG(status)), ")");
  }
  return "ended without an answer";
}

}  // namespace

absl::StatusOr<int> RunApart(Duration timeout,
                             const std::function<int()>& work) {
  int ends[2] = {-1, -1};
  if (pipe2(ends, O_CLOEXEC) != 0) {
    return absl::ResourceExhaustedError(
        absl::StrCat("no pipe: ", std::strerror(errno)));
  }
  const OwnedFd answer(ends[0]);
  OwnedFd answering(ends[1]);
  std::fflush(nullptr);
  // fork instead of StartSubprocess, because the child runs `work`, not another
  // program.
  const pid_t child = fork();
  if (child < 0) {
    return absl::ResourceExhaustedError(
        absl::StrCat("no process: ", std::strerror(errno)));
  }
  if (child == 0) Work(answering, work);
  answering.Close();
  if (!PollUntil(answer.get(), POLLIN, MonotonicNow() + timeout)) {
    kill(child, SIGKILL);
    return absl::DeadlineExceededError(
        absl::StrCat("it did not end within ", ToSeconds(timeout),
                     " s: a driver or a file system hangs"));
  }
  unsigned char code = 0;
  if (read(answer.get(), &code, 1) != 1) {
    return absl::InternalError(
        absl::StrCat("looking at this node ", EndOf(child)));
  }
  return static_cast<int>(code);
}

}  // namespace muster::launcher
