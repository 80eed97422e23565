#include "agent/guardian/guardian.h"

#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <optional>
#include <utility>

#include "agent/guardian/guardian_fork.h"
#include "agent/guardian/guardian_line.h"
#include "agent/guardian/living_guardians.h"
#include "agent/guardian/orphan_sweep.h"
#include "agent/guardian/start_command.h"
#include "agent/guardian/wake_set.h"
#include "base/monotonic_clock.h"
#include "base/poll.h"
#include "base/subprocess.h"

namespace muster::agent {
namespace {

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
    LivingGuardians::OfThisProcess().Add(pid_);
  }
  ~Impl();

  absl::Status Watch();
  absl::Status Start(const WorkerSpec& spec);
  void SignalAll(int signal, Reach reach);
  void SignalOne(int local_rank, int signal);
  void RemoveAfterwards(const std::string& folder);
  void RestoreAfterwards(int terminal, const TerminalModes* modes);
  std::vector<GuardianEvent> Next();
  int fd() const { return wake_.fd(); }
  pid_t pid() const { return pid_; }

 private:
  enum class State {
    kServing,
    kBroken,    // a command could not be sent; Next will notice the death
    kSweeping,  // the guardian is dead; orphans may be left
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
  std::vector<GuardianEvent> events_;
  std::string loss_;
  std::optional<OrphanSweep> sweep_;  // set while state_ is kSweeping
};

absl::Status Guardian::Impl::Watch() {
  absl::Status status = wake_.Open();
  // Without a pidfd only the socket's end of file shows the guardian's death.
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
    // A partly sent command cannot be withdrawn.
    state_ = State::kBroken;
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
  // An error is ignored: the guardian is dead then, and the agent kills all
  // workers.
  Send(Encode(Command(command)), {}).IgnoreError();
}

void Guardian::Impl::RemoveAfterwards(const std::string& folder) {
  // An error is ignored: the guardian is dead then, and the agent removes the
  // folder itself.
  Send(Encode(Command(RemoveCommand{folder})), {}).IgnoreError();
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
  } else if (auto& gone = std::get<AllGoneNotice>(notice);
             gone.starts_taken == starts_sent_) {
    // Otherwise another start is in progress, and another AllGone follows.
    events_.emplace_back(AllGone{std::move(gone.left_behind)});
  }
}

// Called when the guardian is dead or unusable.
void Guardian::Impl::OnGuardianLost() {
  kill(pid_, SIGKILL);
  int status = 0;
  pid_t reaped;
  do {
    reaped = waitpid(pid_, &status, 0);
  } while (reaped < 0 && errno == EINTR);
  loss_ = "the guardian process (pid " + std::to_string(pid_) + ") ";
  if (state_ == State::kBroken) {
    loss_ += "took no command and was killed";
  } else {
    loss_ += reaped == pid_ ? DescribeEnd(status) : "vanished";
  }
  wake_.Forget(line_.fd());
  wake_.Forget(pidfd_.get());
  LivingGuardians::OfThisProcess().Remove(pid_);
  state_ = State::kSweeping;
  sweep_.emplace();
}

// The children of this process that are not workers: children that existed
// before the guardian, and other guardians.
std::vector<ProcessEntry> Guardian::Impl::Spared() const {
  std::vector<ProcessEntry> spared = LivingGuardians::OfThisProcess().List();
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
      return;  // OnGuardianLost reads how the guardian ended
    waitpid(ended.si_pid, nullptr, WNOHANG);
  }
}

std::vector<GuardianEvent> Guardian::Impl::Next() {
  wake_.Silence();
  if (state_ == State::kServing || state_ == State::kBroken) {
    std::vector<Notice> notices;
    const bool alive = line_.Receive(&notices);
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
void Guardian::RestoreAfterwards(int terminal, const TerminalModes* modes) {
  impl_->RestoreAfterwards(terminal, modes);
}
int Guardian::fd() const { return impl_->fd(); }
std::vector<GuardianEvent> Guardian::Next() { return impl_->Next(); }
pid_t Guardian::pid() const { return impl_->pid(); }

}  // namespace muster::agent
