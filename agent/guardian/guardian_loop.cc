#include "agent/guardian/guardian_loop.h"

#include <poll.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "agent/guardian/descendants.h"
#include "agent/guardian/environment_merge.h"
#include "agent/guardian/frame_channel.h"
#include "agent/guardian/guardian_process.h"
#include "agent/guardian/left_behind.h"
#include "agent/guardian/socket_folder.h"
#include "agent/guardian/spawn.h"
#include "agent/guardian/wire.h"
#include "agent/terminal/terminal_modes.h"

namespace muster::agent {
namespace {

// How long a sweep waits for a SIGCHLD before it looks again: a process may
// have forked during the walk, or be a child of one that lives on.
constexpr int kSweepMilliseconds = 20;
constexpr int kLongestSweepMilliseconds = 1000;
// Commands wait while the agent does not take so many notices.
constexpr size_t kMaxUnsentBytes = 1 << 20;
// And while so many workers are on their way to their program: each of them
// keeps a descriptor open here.
constexpr int kMaxStarting = 32;

// A process in the kernel's hands (a device, a dead file server) may take long
// to die: look ever less often.
int Longer(int milliseconds) {
  return std::min(2 * milliseconds, kLongestSweepMilliseconds);
}

// A signal that asks a process to end. One that is stopped (SIGSTOP, Ctrl-Z)
// takes it only once SIGCONT lets it run.
bool Ends(int signal) {
  return signal == SIGTERM || signal == SIGINT || signal == SIGHUP ||
         signal == SIGQUIT;
}

std::vector<std::string> OwnEnvironment() {
  std::vector<std::string> environment;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    environment.emplace_back(*entry);
  }
  return environment;
}

// The file of /proc; empty if it cannot be read.
std::string ReadProc(pid_t pid, const char* file) {
  std::ifstream in("/proc/" + std::to_string(pid) + "/" + file);
  return {std::istreambuf_iterator<char>(in), {}};
}

// The worker's rank in the environment that the process began with; -1: none.
int RankOf(pid_t pid) {
  const std::string environment = '\0' + ReadProc(pid, "environ");
  constexpr std::string_view kName("\0RANK=", 6);
  const size_t found = environment.find(kName);
  int rank = -1;
  if (found != std::string::npos) {
    const char* const digits = environment.data() + found + kName.size();
    std::from_chars(digits, environment.data() + environment.size(), rank);
  }
  return rank;
}

std::string NameOf(pid_t pid) {
  std::string name = ReadProc(pid, "comm");
  if (!name.empty() && name.back() == '\n') name.pop_back();
  return name;
}

bool Catches(pid_t pid, int signal) {
  const std::string status = ReadProc(pid, "status");
  constexpr std::string_view kName = "\nSigCgt:\t";
  const size_t found = status.find(kName);
  uint64_t caught = 0;
  if (found != std::string::npos) {
    std::from_chars(status.data() + found + kName.size(),
                    status.data() + status.size(), caught, 16);
  }
  return (caught >> (signal - 1) & 1) != 0;
}

class GuardianLoop {
 public:
  GuardianLoop(OwnedFd socket, OwnedFd agent, OwnedFd child_ended)
      : channel_(std::move(socket), kMaxMessageBytes),
        agent_(std::move(agent)),
        child_ended_(std::move(child_ended)) {}

  // Until the agent is gone.
  void Serve() {
    while (Turn()) {
    }
  }

  // Until no descendant is left.
  void Sweep();

  // What the agent has asked to be removed after its end.
  void TidyUp() { RemoveSocketFolder(folder_); }

 private:
  struct Worker {
    pid_t pid = 0;
    OwnedFd outcome;  // open until it is known whether the program runs
    std::optional<StartFailure> failure;
    bool signalled = false;
  };

  bool Turn();
  bool Listening() const {
    return starting_ < kMaxStarting && channel_.unsent() < kMaxUnsentBytes;
  }
  bool TakeCommands();
  void Handle(StartCommand start);
  void Handle(const SignalCommand& command);
  void Handle(RemoveCommand command) { folder_ = std::move(command.folder); }
  void Handle(const TerminalCommand& command);
  void RestoreTerminal();
  void Settle(int local_rank, Worker* worker);
  void Reap();
  // An orphan gets a signal that ends it, or has ended.
  void Remember(const ProcessEntry& orphan, int signal);
  void NoteOrphan(pid_t pid, int wait_status);
  void Tell(const Notice& notice) { channel_.Queue(Encode(notice)); }

  FrameChannel channel_;
  const OwnedFd agent_;
  const OwnedFd child_ended_;
  std::map<int, Worker> workers_;  // by local rank; until reaped
  // Groups whose leader has been reaped; a descendant may still be in one.
  std::set<pid_t> leaderless_groups_;
  // Orphans that got a signal, and those of them that it has ended, since the
  // last AllGone.
  struct Signalled {
    LeftBehind who;
    bool caught = false;  // it has a handler of the signal
  };
  std::map<pid_t, Signalled> signalled_;
  std::vector<LeftBehind> left_behind_;
  std::string folder_;  // of sockets, to be removed at the end
  OwnedFd terminal_;    // to be given its modes back; open: there is one
  TerminalModes terminal_modes_;
  int starting_ = 0;  // workers whose outcome is open
  uint64_t starts_taken_ = 0;
  bool occupied_ = false;  // something was started since the last AllGone
  bool sweeping_ = false;  // whatever appears is killed, until AllGone
  int sweep_milliseconds_ = kSweepMilliseconds;
};

bool GuardianLoop::Turn() {
  pollfd line = {channel_.fd(), 0, 0};
  if (Listening()) line.events |= POLLIN;
  if (channel_.unsent() > 0) line.events |= POLLOUT;
  std::vector<pollfd> fds = {
      line, {child_ended_.get(), POLLIN, 0}, {agent_.get(), POLLIN, 0}};
  std::vector<int> starting;  // local ranks, for fds[3], fds[4], …
  for (const auto& [local_rank, worker] : workers_) {
    if (!worker.outcome.open()) continue;
    fds.push_back({worker.outcome.get(), POLLIN, 0});
    starting.push_back(local_rank);
  }
  const int woken =
      poll(fds.data(), fds.size(), sweeping_ ? sweep_milliseconds_ : -1);
  if (woken < 0) return errno == EINTR;
  if (woken == 0) sweep_milliseconds_ = Longer(sweep_milliseconds_);
  for (size_t i = 0; i < starting.size(); ++i) {
    const auto worker = workers_.find(starting[i]);
    if (fds[3 + i].revents != 0) Settle(worker->first, &worker->second);
  }
  signalfd_siginfo info;
  while (read(child_ended_.get(), &info, sizeof info) > 0) {
  }
  // Before Reap, which may find that nothing is left.
  if (sweeping_) KillDescendants({});
  Reap();
  if (fds[2].revents != 0) return false;
  if ((fds[0].revents & ~POLLOUT) != 0 && !channel_.Fill()) return false;
  // Even if none came now: some may have been left while not listening.
  return TakeCommands() && channel_.Flush();
}

bool GuardianLoop::TakeCommands() {
  while (Listening()) {
    const auto frame = channel_.TakeFrame();
    if (!frame.ok()) return false;
    if (!frame->has_value()) return true;
    absl::StatusOr<Command> command = DecodeCommand(**frame);
    if (!command.ok()) return false;
    std::visit([this](auto& one) { Handle(std::move(one)); }, *command);
  }
  return true;
}

void GuardianLoop::Handle(StartCommand start) {
  OwnedFd in = start.has_stdin ? channel_.TakeDescriptor() : OwnedFd();
  OwnedFd out = start.has_stdout ? channel_.TakeDescriptor() : OwnedFd();
  OwnedFd err = start.has_stderr ? channel_.TakeDescriptor() : OwnedFd();
  ++starts_taken_;
  occupied_ = true;
  sweeping_ = false;
  const int local_rank = start.local_rank;
  if (workers_.count(local_rank) != 0) {
    Tell(NotStartedNotice{local_rank, "local rank in use", "", EBUSY});
    return;
  }
  SpawnRequest request;
  request.argv = std::move(start.argv);
  request.environment =
      MergeEnvironment(OwnEnvironment(), start.environment, start.unset);
  request.working_directory = std::move(start.working_directory);
  request.cpus = std::move(start.cpus);
  request.memory_node = start.memory_node;
  request.ignored_signals = start.ignored_signals;
  request.stdin_fd = in.get();
  request.stdout_fd = out.get();
  request.stderr_fd = err.get();
  request.controls_terminal = start.controls_terminal && in.open();
  auto outcome = Spawn(request);
  if (auto* spawned = std::get_if<Spawned>(&outcome)) {
    workers_[local_rank] =
        Worker{spawned->pid, std::move(spawned->outcome), std::nullopt, false};
    ++starting_;
    return;
  }
  auto& failure = std::get<StartFailure>(outcome);
  Tell(NotStartedNotice{local_rank, failure.step, failure.path, failure.error});
  Reap();
}

void GuardianLoop::Handle(const SignalCommand& command) {
  Reap();  // Those that have ended already did so by themselves.
  if (!occupied_) return;  // AllGone has been told: there is nobody
  for (auto& [local_rank, worker] : workers_) {
    if (command.local_rank.value_or(local_rank) != local_rank) continue;
    worker.signalled = true;
    SignalGroup(worker.pid, worker.outcome, command.signal);
    if (Ends(command.signal)) kill(-worker.pid, SIGCONT);
  }
  if (command.local_rank) return;
  // Never by number to a group without a leader: once it is empty the number
  // may be another's.
  if (command.everything || !leaderless_groups_.empty()) {
    for (const ProcessEntry& process : Descendants(getpid())) {
      const bool told = std::any_of(
          workers_.begin(), workers_.end(),
          [&](const auto& one) { return one.second.pid == process.group; });
      if (told) continue;
      if (command.everything || leaderless_groups_.count(process.group) != 0) {
        Remember(process, command.signal);
        SignalProcess(process, command.signal);
        if (Ends(command.signal)) SignalProcess(process, SIGCONT);
      }
    }
  }
  if (command.everything && command.signal == SIGKILL) {
    sweeping_ = occupied_;
    sweep_milliseconds_ = kSweepMilliseconds;
  }
}

void GuardianLoop::Handle(const TerminalCommand& command) {
  terminal_ = command.modes.empty() ? OwnedFd() : channel_.TakeDescriptor();
  const auto modes = DecodeModes(command.modes);
  if (modes) {
    terminal_modes_ = *modes;
  } else {
    terminal_.Close();
  }
}

// Not if a shell has set modes of its own: it may show its prompt by now.
void GuardianLoop::RestoreTerminal() {
  if (terminal_.open() &&
      HasModes(terminal_.get(), terminal_modes_.forwarding)) {
    SetModes(terminal_.get(), terminal_modes_.before);
  }
  terminal_.Close();
}

// Learns once whether the worker's program came to run. That it did is told at
// once; that it did not, when the child has been reaped and its local rank can
// be taken again.
void GuardianLoop::Settle(int local_rank, Worker* worker) {
  if (!worker->outcome.open()) return;
  worker->failure = ReadStartFailure(worker->outcome);
  worker->outcome.Close();
  --starting_;
  if (!worker->failure) Tell(StartedNotice{local_rank, worker->pid});
}

void GuardianLoop::Reap() {
  int status = 0;
  pid_t pid;
  while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
    const auto ended =
        std::find_if(workers_.begin(), workers_.end(),
                     [pid](const auto& one) { return one.second.pid == pid; });
    if (ended == workers_.end()) {  // an orphan of a worker's
      NoteOrphan(pid, status);
      continue;
    }
    const int local_rank = ended->first;
    Worker& worker = ended->second;
    Settle(local_rank, &worker);
    if (worker.failure) {
      Tell(NotStartedNotice{local_rank, worker.failure->step,
                            worker.failure->path, worker.failure->error});
    } else {
      Tell(EndedNotice{local_rank, pid, status, worker.signalled});
    }
    leaderless_groups_.insert(pid);
    workers_.erase(ended);
  }
  if (pid == 0 || !occupied_) return;
  // ECHILD. Orphans come to this process, so no child means no descendant.
  Tell(AllGoneNotice{starts_taken_, std::move(left_behind_)});
  left_behind_.clear();
  signalled_.clear();
  leaderless_groups_.clear();
  occupied_ = false;
  sweeping_ = false;
}

void GuardianLoop::Remember(const ProcessEntry& orphan, int signal) {
  const bool ends = Ends(signal) || signal == SIGKILL;
  if (!ends || orphan.state == 'Z' || signalled_.count(orphan.pid) != 0) return;
  signalled_[orphan.pid] = {{RankOf(orphan.pid), NameOf(orphan.pid)},
                            Catches(orphan.pid, signal)};
}

// One that ended by itself meanwhile, such as Python's resource tracker, which
// ignores the signal, was not stopped.
void GuardianLoop::NoteOrphan(pid_t pid, int wait_status) {
  const auto found = signalled_.find(pid);
  if (found == signalled_.end()) return;
  if ((WIFSIGNALED(wait_status) || found->second.caught) &&
      left_behind_.size() < kMaxLeftBehind) {
    left_behind_.push_back(std::move(found->second.who));
  }
  signalled_.erase(found);
}

void GuardianLoop::Sweep() {
  RestoreTerminal();
  int wait = kSweepMilliseconds;
  for (const auto& [local_rank, worker] : workers_) kill(-worker.pid, SIGKILL);
  while (true) {
    KillDescendants({});
    pid_t pid;
    while ((pid = waitpid(-1, nullptr, WNOHANG)) > 0) {
    }
    if (pid < 0 && errno == ECHILD) return;
    pollfd fd = {child_ended_.get(), POLLIN, 0};
    if (poll(&fd, 1, wait) == 0) wait = Longer(wait);
    signalfd_siginfo info;
    while (read(child_ended_.get(), &info, sizeof info) > 0) {
    }
  }
}

}  // namespace

void RunGuardian(OwnedFd socket, OwnedFd agent) {
  OwnedFd child_ended = BecomeGuardianProcess({socket.get(), agent.get()});
  if (child_ended.open()) {
    GuardianLoop loop(std::move(socket), std::move(agent),
                      std::move(child_ended));
    loop.Serve();
    loop.Sweep();
    loop.TidyUp();
  }
  // Not exit: what the agent registered to run at its own end is not ours.
  _exit(0);
}

}  // namespace muster::agent
