#include "agent/guardian/guardian.h"

#include <poll.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <optional>
#include <utility>

#include "agent/guardian/frame_channel.h"
#include "agent/guardian/guardian_loop.h"
#include "agent/guardian/living_guardians.h"
#include "agent/guardian/orphan_sweep.h"
#include "agent/guardian/owned_fd.h"
#include "agent/guardian/start_command.h"
#include "agent/guardian/wire.h"

namespace muster {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;
using std::chrono::nanoseconds;

// The guardian takes a command within microseconds. Beyond this it hangs or was
// stopped, and is of no use.
constexpr milliseconds kCommandDeadline{10000};
// After this long the guardian's own end-of-life sweep is left to this process.
constexpr milliseconds kFarewellDeadline{5000};

absl::Status ErrnoStatus(const std::string& what) {
  return absl::InternalError("the guardian cannot be made: " + what + ": " +
                             std::strerror(errno));
}

int RemainingMilliseconds(Clock::time_point end) {
  const auto left =
      std::chrono::duration_cast<milliseconds>(end - Clock::now()).count();
  return left > 0 ? static_cast<int>(left) : 0;
}

OwnedFd PidFd(pid_t pid) {
#ifdef SYS_pidfd_open
  return OwnedFd(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
#else
  return OwnedFd();
#endif
}

std::string DescribeEnd(int wait_status) {
  if (WIFSIGNALED(wait_status)) {
    return "was killed by signal " + std::to_string(WTERMSIG(wait_status));
  }
  return "ended with exit code " + std::to_string(WEXITSTATUS(wait_status));
}

}  // namespace

class Guardian::Impl {
 public:
  Impl(pid_t pid, OwnedFd socket, std::vector<ProcessEntry> older_children)
      : pid_(pid),
        channel_(std::move(socket), kMostMessageBytes),
        older_children_(std::move(older_children)) {
    LivingGuardians::OfThisProcess().Add(pid);
  }
  ~Impl();

  absl::Status Prepare(OwnedFd strangers);
  absl::Status Start(const WorkerSpec& spec);
  void SignalAll(int signal, Reach reach);
  std::vector<GuardianEvent> Next();
  int fd() const { return epoll_.get(); }
  pid_t pid() const { return pid_; }

 private:
  absl::Status Send();
  void TakeNotices();
  void Append(Notice notice);
  void ReapStrangers();
  void LoseGuardian();
  void Sweep();
  std::vector<ProcessEntry> Spared() const;
  void LookAgainAfter(nanoseconds wait);
  absl::Status Watch(const OwnedFd& fd);

  const pid_t pid_;
  FrameChannel channel_;
  OwnedFd pidfd_;
  OwnedFd epoll_;
  OwnedFd look_again_;  // timer: Next has something to do though nothing came
  OwnedFd strangers_;   // signalfd for SIGCHLD; only where we are PID 1
  const std::vector<ProcessEntry> older_children_;
  std::vector<GuardianEvent> events_;
  uint64_t starts_sent_ = 0;
  bool broken_ = false;  // a command could not be sent; soon lost
  bool lost_ = false;
  std::string loss_;
  std::optional<OrphanSweep> sweep_;  // while orphans may be left
};

absl::Status Guardian::Impl::Watch(const OwnedFd& fd) {
  epoll_event event = {};
  event.events = EPOLLIN;
  if (epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd.get(), &event) == 0) {
    return absl::OkStatus();
  }
  return ErrnoStatus("epoll_ctl");
}

absl::Status Guardian::Impl::Prepare(OwnedFd strangers) {
  strangers_ = std::move(strangers);
  // Kernels before 5.3 have none; the socket's end of file tells as well.
  pidfd_ = PidFd(pid_);
  epoll_ = OwnedFd(epoll_create1(EPOLL_CLOEXEC));
  if (!epoll_.open()) return ErrnoStatus("epoll_create1");
  look_again_ =
      OwnedFd(timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK));
  if (!look_again_.open()) return ErrnoStatus("timerfd_create");
  if (absl::Status s = Watch(look_again_); !s.ok()) return s;
  if (pidfd_.open()) {
    if (absl::Status s = Watch(pidfd_); !s.ok()) return s;
  }
  if (strangers_.open()) {
    if (absl::Status s = Watch(strangers_); !s.ok()) return s;
  }
  epoll_event event = {};
  event.events = EPOLLIN;
  if (epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, channel_.fd(), &event) != 0) {
    return ErrnoStatus("epoll_ctl");
  }
  return absl::OkStatus();
}

void Guardian::Impl::LookAgainAfter(nanoseconds wait) {
  itimerspec when = {};
  when.it_value.tv_sec = wait.count() / 1000000000;
  when.it_value.tv_nsec = wait.count() % 1000000000;
  timerfd_settime(look_again_.get(), 0, &when, nullptr);
}

// Sends all that is queued. Notices that come meanwhile are taken, for two ends
// that each wait for the other to read would wait for ever.
absl::Status Guardian::Impl::Send() {
  const auto end = Clock::now() + kCommandDeadline;
  while (true) {
    if (!channel_.Flush()) break;
    if (channel_.unsent() == 0) return absl::OkStatus();
    pollfd fd = {channel_.fd(), POLLIN | POLLOUT, 0};
    if (poll(&fd, 1, RemainingMilliseconds(end)) == 0) break;
    if ((fd.revents & POLLIN) != 0) {
      if (!channel_.Fill()) break;
      LookAgainAfter(nanoseconds(1));
    }
  }
  // A half-sent command cannot be taken back. Next notices the death.
  broken_ = true;
  kill(pid_, SIGKILL);
  return absl::UnavailableError("the guardian (pid " + std::to_string(pid_) +
                                ") takes no command");
}

absl::Status Guardian::Impl::Start(const WorkerSpec& spec) {
  absl::StatusOr<std::string> command = EncodeStart(spec);
  if (!command.ok()) return command.status();
  if (lost_ || broken_) {
    return absl::UnavailableError(
        "the guardian, which starts workers, is gone");
  }
  std::vector<int> descriptors;
  if (spec.stdout_fd >= 0) descriptors.push_back(spec.stdout_fd);
  if (spec.stderr_fd >= 0) descriptors.push_back(spec.stderr_fd);
  ++starts_sent_;
  channel_.Queue(*command, std::move(descriptors));
  return Send();
}

void Guardian::Impl::SignalAll(int signal, Reach reach) {
  if (lost_ || broken_) return;
  channel_.Queue(
      Encode(Command(SignalCommand{signal, reach == Reach::kEverything})));
  // If it fails the guardian is dead, and everything dies in its stead.
  Send().IgnoreError();
}

void Guardian::Impl::Append(Notice notice) {
  if (auto* started = std::get_if<StartedNotice>(&notice)) {
    events_.push_back(WorkerStarted{started->local_rank, started->pid});
  } else if (auto* failed = std::get_if<NotStartedNotice>(&notice)) {
    events_.push_back(WorkerNotStarted{failed->local_rank, failed->step,
                                       failed->path, failed->error});
  } else if (auto* ended = std::get_if<EndedNotice>(&notice)) {
    events_.push_back(
        WorkerEnded{ended->local_rank, ended->pid, ended->wait_status});
  } else if (std::get<AllGoneNotice>(notice).starts_taken == starts_sent_) {
    // Otherwise another start is under way, and another AllGone will come.
    events_.push_back(AllGone{});
  }
}

void Guardian::Impl::TakeNotices() {
  const bool open = channel_.Fill();
  bool good = true;
  while (good) {
    const auto frame = channel_.TakeFrame();
    good = frame.ok();
    if (!good || !frame->has_value()) break;
    absl::StatusOr<Notice> notice = DecodeNotice(**frame);
    good = notice.ok();
    if (good) Append(*std::move(notice));
  }
  if (!open || !good) LoseGuardian();
}

void Guardian::Impl::LoseGuardian() {
  lost_ = true;
  // It is dead already, or it speaks nonsense.
  kill(pid_, SIGKILL);
  int status = 0;
  pid_t reaped;
  do {
    reaped = waitpid(pid_, &status, 0);
  } while (reaped < 0 && errno == EINTR);
  loss_ = "the guardian process (pid " + std::to_string(pid_) + ") " +
          (broken_          ? "took no command and was killed"
           : reaped == pid_ ? DescribeEnd(status)
                            : "vanished");
  epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, channel_.fd(), nullptr);
  if (pidfd_.open()) {
    epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, pidfd_.get(), nullptr);
  }
  LivingGuardians::OfThisProcess().Remove(pid_);
  sweep_.emplace();
}

// Children of this process that are none of the guardian's: those that were
// there before it, and other guardians.
std::vector<ProcessEntry> Guardian::Impl::Spared() const {
  std::vector<ProcessEntry> spared = LivingGuardians::OfThisProcess().List();
  spared.insert(spared.end(), older_children_.begin(), older_children_.end());
  return spared;
}

void Guardian::Impl::Sweep() {
  if (!sweep_->Pass(Spared())) {
    LookAgainAfter(sweep_->wait());
    return;
  }
  if (!sweep_->left().empty()) {
    loss_ += "; these processes of its would not die: " + sweep_->left();
  }
  sweep_.reset();
  events_.push_back(GuardianLost{loss_});
}

// Orphans of a pod that are none of ours come to PID 1 and would stay zombies.
void Guardian::Impl::ReapStrangers() {
  signalfd_siginfo signal;
  while (read(strangers_.get(), &signal, sizeof signal) > 0) {
  }
  while (true) {
    siginfo_t ended = {};
    const int options = WEXITED | WNOHANG | WNOWAIT;
    if (waitid(P_ALL, 0, &ended, options) != 0 || ended.si_pid == 0) return;
    if (ended.si_pid == pid_) return;  // LoseGuardian asks how it ended
    waitpid(ended.si_pid, nullptr, WNOHANG);
  }
}

std::vector<GuardianEvent> Guardian::Impl::Next() {
  uint64_t expirations;
  while (read(look_again_.get(), &expirations, sizeof expirations) > 0) {
  }
  if (!lost_) TakeNotices();
  if (sweep_) Sweep();
  if (strangers_.open()) ReapStrangers();
  return std::exchange(events_, {});
}

Guardian::Impl::~Impl() {
  if (!lost_) {
    // End of file makes the guardian kill everything and end; its own end of
    // the socket says when it has.
    shutdown(channel_.fd(), SHUT_WR);
    const auto end = Clock::now() + kFarewellDeadline;
    bool open = true;
    while (open && RemainingMilliseconds(end) > 0) {
      pollfd fd = {channel_.fd(), POLLIN, 0};
      if (poll(&fd, 1, RemainingMilliseconds(end)) <= 0) continue;
      open = channel_.Fill();
      while (open && channel_.TakeFrame().value_or(std::nullopt)) {
      }
    }
    LoseGuardian();
  }
  while (sweep_ && !sweep_->Pass(Spared())) {
    poll(nullptr, 0, static_cast<int>(sweep_->wait().count()));
  }
}

absl::StatusOr<std::unique_ptr<Guardian>> Guardian::Fork() {
  // An inherited "ignore" would make the kernel reap unasked.
  struct sigaction by_default = {};
  by_default.sa_handler = SIG_DFL;
  sigaction(SIGCHLD, &by_default, nullptr);
  if (prctl(PR_SET_CHILD_SUBREAPER, 1) != 0) return ErrnoStatus("prctl");

  OwnedFd strangers;
  if (getpid() == 1) {
    sigset_t child_ended;
    sigemptyset(&child_ended);
    sigaddset(&child_ended, SIGCHLD);
    sigprocmask(SIG_BLOCK, &child_ended, nullptr);
    strangers = OwnedFd(signalfd(-1, &child_ended, SFD_CLOEXEC | SFD_NONBLOCK));
    if (!strangers.open()) return ErrnoStatus("signalfd");
  }

  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0,
                 ends) != 0) {
    return ErrnoStatus("socketpair");
  }
  OwnedFd ours(ends[0]);
  OwnedFd theirs(ends[1]);
  OwnedFd agent = PidFd(getpid());
  std::vector<ProcessEntry> older_children = ChildrenOfThisProcess();
  // A Ctrl-C right now must not end the child before it is deaf to it.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, &before);
  const pid_t pid = fork();
  const int fork_error = errno;
  if (pid != 0) sigprocmask(SIG_SETMASK, &before, nullptr);
  if (pid < 0) {
    errno = fork_error;
    return ErrnoStatus("fork");
  }
  if (pid == 0) {
    // Its own end must be the agent's alone, or end of file never comes.
    ours.Close();
    RunGuardian(std::move(theirs), std::move(agent));
  }
  theirs.Close();
  auto impl =
      std::make_unique<Impl>(pid, std::move(ours), std::move(older_children));
  if (absl::Status s = impl->Prepare(std::move(strangers)); !s.ok()) return s;
  return std::unique_ptr<Guardian>(new Guardian(std::move(impl)));
}

Guardian::Guardian(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Guardian::~Guardian() = default;

absl::Status Guardian::Start(const WorkerSpec& spec) {
  return impl_->Start(spec);
}
void Guardian::SignalAll(int signal, Reach reach) {
  impl_->SignalAll(signal, reach);
}
int Guardian::fd() const { return impl_->fd(); }
std::vector<GuardianEvent> Guardian::Next() { return impl_->Next(); }
pid_t Guardian::pid() const { return impl_->pid(); }

}  // namespace muster
