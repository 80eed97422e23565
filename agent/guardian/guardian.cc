#include "agent/guardian/guardian.h"

#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "agent/guardian/descendants.h"
#include "agent/guardian/frame_channel.h"
#include "agent/guardian/guardian_loop.h"
#include "agent/guardian/wire.h"
#include "base/monotonic_clock.h"
#include "base/owned_fd.h"
#include "base/poll.h"
#include "base/subprocess.h"
#include "base/time.h"

namespace muster::agent {
namespace {

struct ForkedGuardian {
  pid_t pid = 0;
  OwnedFd socket;  // the agent's end of the socket between agent and guardian
  // A signalfd for SIGCHLD if the agent is PID 1: the kernel makes PID 1 the
  // parent of other programs' orphans, which the agent must then reap.
  // Otherwise closed.
  OwnedFd strangers;
  // The children that the agent had before it forked the guardian, with their
  // start times.
  std::vector<ProcessEntry> older_children;
};

absl::Status Failed(const char* call) {
  return absl::InternalError(std::string("the guardian cannot be made: ") +
                             call + ": " + std::strerror(errno));
}

OwnedFd ChildSignals() {
  sigset_t child_ended;
  sigemptyset(&child_ended);
  sigaddset(&child_ended, SIGCHLD);
  sigprocmask(SIG_BLOCK, &child_ended, nullptr);
  return OwnedFd(signalfd(-1, &child_ended, SFD_CLOEXEC | SFD_NONBLOCK));
}

// Forks with all signals blocked in the child, so that a Ctrl-C does not end
// the child before its set-up is complete.
pid_t ForkWithBlockedSignals() {
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, &before);
  const pid_t pid = fork();
  const int error = errno;
  if (pid != 0) sigprocmask(SIG_SETMASK, &before, nullptr);
  errno = error;
  return pid;
}

// Makes the agent a sub-reaper and forks the guardian, which continues in
// RunGuardian. Only for a process with one thread. Internal: names the step
// that failed.
absl::StatusOr<ForkedGuardian> ForkGuardian() {
  // Resets SIGCHLD to its default. If this process had inherited an ignored
  // SIGCHLD, the kernel itself would reap the children.
  struct sigaction by_default = {};
  by_default.sa_handler = SIG_DFL;
  sigaction(SIGCHLD, &by_default, nullptr);
  if (prctl(PR_SET_CHILD_SUBREAPER, 1) != 0) return Failed("prctl");

  ForkedGuardian forked;
  if (getpid() == 1) {
    forked.strangers = ChildSignals();
    if (!forked.strangers.open()) return Failed("signalfd");
  }
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0,
                 ends) != 0) {
    return Failed("socketpair");
  }
  forked.socket = OwnedFd(ends[0]);
  OwnedFd theirs(ends[1]);
  OwnedFd agent = OpenPidFd(getpid());
  forked.older_children = ChildrenOfThisProcess();
  forked.pid = ForkWithBlockedSignals();
  if (forked.pid < 0) return Failed("fork");
  if (forked.pid == 0) {
    // The guardian closes its copy of the agent's end of the connection.
    // Otherwise the guardian would see no end of file after the agent's death.
    forked.socket.Close();
    RunGuardian(std::move(theirs), std::move(agent));
  }
  return forked;
}

// The agent's end of its connection to the guardian. It sends whole commands
// and receives whole notices. Not thread-safe.
class GuardianLine {
 public:
  explicit GuardianLine(OwnedFd socket)
      : channel_(std::move(socket), kMaxMessageBytes) {}

  int fd() const { return channel_.fd(); }

  // Sends an encoded command with the descriptors that belong to it. Notices
  // that arrive during the call are kept for Receive: see has_unread. Returns
  // false if the guardian is gone or has not read the command within ten
  // seconds; the connection is unusable then.
  bool Send(const std::string& command, std::vector<int> descriptors);

  // Whether Send has read notices that Receive has not returned yet. A poll()
  // of fd() does not show these notices.
  bool has_unread() const { return has_unread_; }

  // Appends all notices that have arrived. Returns false if the guardian is
  // gone or a notice is malformed.
  bool Receive(std::vector<Notice>* notices);

  // Closes the sending side, so that the guardian kills all workers. Then waits
  // at most five seconds until the guardian has closed its side, which it does
  // after the workers are dead.
  void Close();

 private:
  FrameChannel channel_;
  bool has_unread_ = false;
};

// The maximum time in which the guardian reads a command, which normally takes
// microseconds. A guardian that needs more time hangs or was stopped, and is
// unusable.
constexpr std::chrono::seconds kCommandDeadline(10);
// The longest wait for the guardian to close its side of the connection. After
// this time the agent kills the remaining processes itself.
constexpr std::chrono::seconds kCloseDeadline(5);
// The longest wait for a guardian to die after SIGKILL.
constexpr std::chrono::seconds kDeathDeadline(2);

bool GuardianLine::Send(const std::string& command,
                        std::vector<int> descriptors) {
  channel_.Queue(command, std::move(descriptors));
  const Instant end = MonotonicNow() + kCommandDeadline;
  while (channel_.Flush()) {
    if (channel_.unsent() == 0) return true;
    pollfd fds[] = {{channel_.fd(), POLLIN | POLLOUT, 0}};
    if (PollUntil(fds, end) == 0) return false;
    // Reads notices while the command is being sent. If agent and guardian both
    // only wrote until their writes completed, both socket buffers could fill
    // up, and each process would wait for the other.
    if ((fds[0].revents & POLLIN) != 0) {
      has_unread_ = true;
      if (!channel_.Fill()) return false;
    }
  }
  return false;
}

bool GuardianLine::Receive(std::vector<Notice>* notices) {
  has_unread_ = false;
  const bool open = channel_.Fill();
  while (true) {
    const auto frame = channel_.TakeFrame();
    if (!frame.ok()) return false;
    if (!frame->has_value()) return open;
    absl::StatusOr<Notice> notice = DecodeNotice(**frame);
    if (!notice.ok()) return false;
    notices->push_back(*std::move(notice));
  }
}

void GuardianLine::Close() {
  shutdown(channel_.fd(), SHUT_WR);
  const Instant end = MonotonicNow() + kCloseDeadline;
  std::vector<Notice> unread;
  do {
    if (!PollUntil(channel_.fd(), POLLIN, end)) return;
    unread.clear();
  } while (Receive(&unread));
}

// A set of descriptors and one timer that poll() watches through a single
// descriptor.
class WakeSet {
 public:
  // Opens the epoll descriptor and the timer. Internal: the process has no free
  // descriptor.
  absl::Status Open();

  // A descriptor that is readable while a watched descriptor is readable, or
  // once the timer has expired.
  int fd() const { return epoll_.get(); }

  // Adds a descriptor to those that fd() watches; ignores a closed one (-1).
  absl::Status Watch(int fd);
  void Forget(int fd);

  // Starts the timer, and replaces its earlier setting.
  void RingAfter(std::chrono::nanoseconds wait);
  // Clears an expired timer, so that fd() is no longer readable because of it.
  void Silence();

 private:
  OwnedFd epoll_;
  OwnedFd timer_;
};

absl::Status CannotWatch(const char* call) {
  return absl::InternalError(std::string("the guardian cannot be watched: ") +
                             call + ": " + std::strerror(errno));
}

absl::Status WakeSet::Open() {
  epoll_ = OwnedFd(epoll_create1(EPOLL_CLOEXEC));
  if (!epoll_.open()) return CannotWatch("epoll_create1");
  timer_ = OwnedFd(timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK));
  if (!timer_.open()) return CannotWatch("timerfd_create");
  return Watch(timer_.get());
}

absl::Status WakeSet::Watch(int fd) {
  if (fd < 0) return absl::OkStatus();
  epoll_event event = {};
  event.events = EPOLLIN;
  if (epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event) == 0) {
    return absl::OkStatus();
  }
  return CannotWatch("epoll_ctl");
}

void WakeSet::Forget(int fd) {
  if (fd >= 0) epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, fd, nullptr);
}

void WakeSet::RingAfter(std::chrono::nanoseconds wait) {
  // At least 1 ns, because zero would disable the kernel's timer.
  const itimerspec when = {.it_interval = {},
                           .it_value = ToTimespec(std::max(wait, Duration(1)))};
  timerfd_settime(timer_.get(), 0, &when, nullptr);
}

void WakeSet::Silence() {
  uint64_t rings;
  while (read(timer_.get(), &rings, sizeof rings) > 0) {
  }
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
  explicit Impl(ForkedGuardian forked)
      : pid_(forked.pid),
        line_(std::move(forked.socket)),
        pidfd_(OpenPidFd(pid_)),
        strangers_(std::move(forked.strangers)),
        older_children_(std::move(forked.older_children)) {
    SparedChildren::OfThisProcess().Add(pid_);
  }
  ~Impl();

  absl::Status Watch();
  absl::Status Start(const WorkerSpec& spec);
  void SignalAll(int signal, Reach reach);
  void SignalOne(int local_rank, int signal);
  void RemoveAfterwards(const std::string& folder);
  void RemoveAfterwards(const JobFiles& files);
  void RestoreAfterwards(int terminal, const TerminalModes* modes);
  std::vector<GuardianEvent> Next();
  uint64_t signs_of_life() const { return signs_of_life_; }
  void Abandon(const std::string& why);
  int fd() const { return wake_.fd(); }
  pid_t pid() const { return pid_; }

 private:
  enum class State {
    kServing,
    // the agent has killed the guardian; Next will notice the guardian's death
    kBroken,
    // the guardian is dead; the agent kills and reaps the workers' processes
    kSweeping,
    kLost,
  };

  absl::Status Send(const std::string& command, std::vector<int> descriptors);
  void Append(Notice notice);
  void ReapStrangers();
  void OnGuardianLost();
  void Sweep();
  std::vector<ProcessEntry> Spared() const;

  const pid_t pid_;
  GuardianLine line_;
  const OwnedFd pidfd_;
  const OwnedFd strangers_;
  const std::vector<ProcessEntry> older_children_;
  WakeSet wake_;
  State state_ = State::kServing;
  uint64_t starts_sent_ = 0;
  uint64_t signs_of_life_ = 0;
  // while state_ is kBroken: why the agent killed the guardian, such as "took
  // no command"
  std::string broken_;
  std::vector<GuardianEvent> events_;
  std::string loss_;
  // the clean-up of orphans; set while state_ is kSweeping
  std::optional<OrphanSweep> sweep_;
};

absl::Status Guardian::Impl::Watch() {
  absl::Status status = wake_.Open();
  // The socket is watched as well as the pidfd: on kernels without pidfd, only
  // the socket's end of file shows the guardian's death.
  for (const int fd : {line_.fd(), pidfd_.get(), strangers_.get()}) {
    if (status.ok()) status = wake_.Watch(fd);
  }
  return status;
}

absl::Status Guardian::Impl::Send(const std::string& command,
                                  std::vector<int> descriptors) {
  if (state_ != State::kServing) {
    return absl::UnavailableError(
        "the guardian, which starts workers, is gone");
  }
  if (!line_.Send(command, std::move(descriptors))) {
    // A partly sent command cannot be withdrawn, so the connection is unusable.
    // Kill the guardian.
    state_ = State::kBroken;
    broken_ = "took no command";
    kill(pid_, SIGKILL);
    return absl::UnavailableError("the guardian (pid " + std::to_string(pid_) +
                                  ") takes no command");
  }
  if (line_.has_unread()) wake_.RingAfter({});
  return absl::OkStatus();
}

absl::Status Guardian::Impl::Start(const WorkerSpec& spec) {
  absl::StatusOr<std::string> command = EncodeStart(spec);
  if (!command.ok()) return command.status();
  std::vector<int> descriptors;
  if (spec.stdin_fd >= 0) descriptors.push_back(spec.stdin_fd);
  if (spec.stdout_fd >= 0) descriptors.push_back(spec.stdout_fd);
  if (spec.stderr_fd >= 0) descriptors.push_back(spec.stderr_fd);
  if (spec.key_fd >= 0) descriptors.push_back(spec.key_fd);
  ++starts_sent_;
  return Send(*command, std::move(descriptors));
}

void Guardian::Impl::SignalOne(int local_rank, int signal) {
  const SignalCommand command{.signal = signal, .local_rank = local_rank};
  Send(Encode(Command(command)), {}).IgnoreError();
}

void Guardian::Impl::SignalAll(int signal, Reach reach) {
  const SignalCommand command{.signal = signal,
                              .everything = reach == Reach::kEverything};
  // An error is ignored, because it means that the guardian is dead: then the
  // agent kills all workers itself.
  Send(Encode(Command(command)), {}).IgnoreError();
}

void Guardian::Impl::RemoveAfterwards(const std::string& folder) {
  // An error is ignored, because it means that the guardian is dead: then the
  // agent removes the folder itself.
  Send(Encode(Command(RemoveCommand{folder})), {}).IgnoreError();
}

void Guardian::Impl::RemoveAfterwards(const JobFiles& files) {
  // An error is ignored, because it means that the guardian is dead.
  Send(Encode(Command(JobFilesCommand{files})), {}).IgnoreError();
}

void Guardian::Impl::RestoreAfterwards(int terminal,
                                       const TerminalModes* modes) {
  TerminalCommand command;
  std::vector<int> descriptors;
  if (modes != nullptr) {
    command.modes = EncodeModes(*modes);
    descriptors.push_back(terminal);
  }
  Send(Encode(Command(std::move(command))), std::move(descriptors))
      .IgnoreError();
}

void Guardian::Impl::Append(Notice notice) {
  if (auto* started = std::get_if<StartedNotice>(&notice)) {
    events_.emplace_back(WorkerStarted{started->local_rank, started->pid});
  } else if (auto* failed = std::get_if<NotStartedNotice>(&notice)) {
    events_.emplace_back(WorkerNotStarted{failed->local_rank, failed->step,
                                          failed->path, failed->error});
  } else if (auto* ended = std::get_if<EndedNotice>(&notice)) {
    events_.emplace_back(WorkerEnded{ended->local_rank, ended->pid,
                                     ended->wait_status, ended->signalled});
  } else if (auto* gone = std::get_if<AllGoneNotice>(&notice);
             gone != nullptr && gone->starts_taken == starts_sent_) {
    // The notice is current: the guardian found no process left after receiving
    // all StartCommands of the agent. An outdated notice is ignored, because
    // the guardian sends another one later.
    events_.emplace_back(AllGone{std::move(gone->left_behind)});
  }
}

void Guardian::Impl::Abandon(const std::string& why) {
  if (state_ != State::kServing) return;
  const std::optional<ProcessEntry> guardian = ReadProcess(pid_);
  broken_ = why;
  if (guardian) {
    broken_ += std::string(" (its state is ") + guardian->state +
               (guardian->state == 'T' ? ", stopped)" : ")");
  }
  state_ = State::kBroken;
  kill(pid_, SIGKILL);
  wake_.RingAfter({});
}

// Handles a guardian that is dead or unusable.
void Guardian::Impl::OnGuardianLost() {
  kill(pid_, SIGKILL);
  // Waits only a limited time for the guardian's death, because a guardian that
  // hangs in the kernel may never die. The agent kills the workers in any case.
  const Instant end = MonotonicNow() + kDeathDeadline;
  int status = 0;
  pid_t reaped = 0;
  while (true) {
    reaped = waitpid(pid_, &status, WNOHANG);
    if (reaped == pid_ || (reaped < 0 && errno != EINTR)) break;
    if (MonotonicNow() >= end) break;
    PauseUntil(MonotonicNow() + std::chrono::milliseconds(1));
  }
  loss_ = "the guardian process (pid " + std::to_string(pid_) + ") ";
  if (state_ == State::kBroken) {
    loss_ += broken_ + " and was killed";
  } else {
    loss_ += reaped == pid_ ? DescribeEnd(status) : "vanished";
  }
  wake_.Forget(line_.fd());
  wake_.Forget(pidfd_.get());
  SparedChildren::OfThisProcess().Remove(pid_);
  state_ = State::kSweeping;
  sweep_.emplace();
}

// The children of the agent that are not workers: children that existed before
// the guardian, and other guardians.
std::vector<ProcessEntry> Guardian::Impl::Spared() const {
  std::vector<ProcessEntry> spared = SparedChildren::OfThisProcess().List();
  spared.insert(spared.end(), older_children_.begin(), older_children_.end());
  return spared;
}

void Guardian::Impl::Sweep() {
  if (!sweep_->Pass(Spared())) {
    wake_.RingAfter(sweep_->wait());
    return;
  }
  if (!sweep_->left().empty()) {
    loss_ += "; these processes of its would not die: " + sweep_->left();
  }
  sweep_.reset();
  state_ = State::kLost;
  events_.emplace_back(GuardianLost{loss_});
}

// Orphans of other programs in a container become children of PID 1 and must be
// reaped, or they stay zombies.
void Guardian::Impl::ReapStrangers() {
  signalfd_siginfo signal;
  while (read(strangers_.get(), &signal, sizeof signal) > 0) {
  }
  while (true) {
    siginfo_t ended = {};
    const int options = WEXITED | WNOHANG | WNOWAIT;
    if (waitid(P_ALL, 0, &ended, options) != 0 || ended.si_pid == 0) return;
    if (ended.si_pid == pid_)
      return;  // the guardian has ended: OnGuardianLost will reap it
    waitpid(ended.si_pid, nullptr, WNOHANG);
  }
}

std::vector<GuardianEvent> Guardian::Impl::Next() {
  wake_.Silence();
  if (state_ == State::kServing || state_ == State::kBroken) {
    std::vector<Notice> notices;
    const bool alive = line_.Receive(&notices);
    signs_of_life_ += notices.size();
    for (Notice& notice : notices) Append(std::move(notice));
    if (!alive || state_ == State::kBroken) OnGuardianLost();
  }
  if (state_ == State::kSweeping) Sweep();
  if (strangers_.open()) ReapStrangers();
  return std::exchange(events_, {});
}

Guardian::Impl::~Impl() {
  if (state_ == State::kServing) line_.Close();
  if (state_ == State::kServing || state_ == State::kBroken) OnGuardianLost();
  while (sweep_ && !sweep_->Pass(Spared())) {
    PauseUntil(MonotonicNow() + sweep_->wait());
  }
}

absl::StatusOr<std::unique_ptr<Guardian>> Guardian::Fork() {
  absl::StatusOr<ForkedGuardian> forked = ForkGuardian();
  if (!forked.ok()) return forked.status();
  auto impl = std::make_unique<Impl>(*std::move(forked));
  if (absl::Status watched = impl->Watch(); !watched.ok()) return watched;
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
void Guardian::SignalOne(int local_rank, int signal) {
  impl_->SignalOne(local_rank, signal);
}
void Guardian::RemoveAfterwards(const std::string& folder) {
  impl_->RemoveAfterwards(folder);
}
void Guardian::RemoveAfterwards(const JobFiles& files) {
  impl_->RemoveAfterwards(files);
}

void Guardian::RestoreAfterwards(int terminal, const TerminalModes* modes) {
  impl_->RestoreAfterwards(terminal, modes);
}
uint64_t Guardian::signs_of_life() const { return impl_->signs_of_life(); }
void Guardian::Abandon(const std::string& why) { impl_->Abandon(why); }
int Guardian::fd() const { return impl_->fd(); }
std::vector<GuardianEvent> Guardian::Next() { return impl_->Next(); }
pid_t Guardian::pid() const { return impl_->pid(); }

}  // namespace muster::agent
