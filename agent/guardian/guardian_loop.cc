#include "agent/guardian/guardian_loop.h"

#include <dirent.h>
#include <fcntl.h>
#include <malloc.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "agent/gpus/job_files.h"
#include "agent/guardian/descendants.h"
#include "agent/guardian/exec_program.h"
#include "agent/guardian/frame_channel.h"
#include "agent/guardian/left_behind.h"
#include "agent/guardian/socket_folder.h"
#include "agent/guardian/spawn.h"
#include "agent/guardian/start_retry.h"
#include "agent/guardian/wire.h"
#include "agent/lifecycle/guardian_watch.h"
#include "agent/terminal/terminal.h"
#include "base/channel_key.h"
#include "base/monotonic_clock.h"
#include "base/subprocess.h"
#include "base/time.h"

namespace muster::agent {
namespace {

// Closes descriptors one by one, for kernels without close_range (before 5.9).
void CloseListed(const std::vector<int>& kept) {
  DIR* const listing = opendir("/proc/self/fd");
  if (listing == nullptr) return;
  std::vector<int> open_ones;
  while (const dirent* entry = readdir(listing)) {
    const int fd = std::atoi(entry->d_name);
    const bool keep = std::find(kept.begin(), kept.end(), fd) != kept.end();
    if (fd > STDERR_FILENO && !keep) open_ones.push_back(fd);
  }
  closedir(listing);
  for (const int fd : open_ones) close(fd);
}

void CloseAllBut(std::vector<int> kept) {
  std::sort(kept.begin(), kept.end());
#ifdef SYS_close_range
  unsigned first = STDERR_FILENO + 1;
  bool closed = true;
  for (const int fd : kept) {
    const auto keep = static_cast<unsigned>(fd);
    if (keep > first) {
      closed = closed && syscall(SYS_close_range, first, keep - 1, 0) == 0;
    }
    first = keep + 1;
  }
  if (closed && syscall(SYS_close_range, first, ~0u, 0) == 0) return;
#endif
  CloseListed(kept);
}

// Replaces the guardian's stdio by /dev/null. Otherwise the agent's stdio would
// stay open as long as the guardian lives, and `launch | cat` would not end
// with launch.
void ReplaceStdio() {
  const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
  if (null < 0) return;
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; ++fd) dup2(null, fd);
  if (null > STDERR_FILENO) close(null);
}

constexpr char kName[] = "muster-guardian";

// Sets the process's short name, and replaces the command line that the
// guardian inherits from the agent. Otherwise `pkill -9 -f NAME`, with the name
// of launch or of the script, would also kill the guardian, and no process
// would be left to kill the workers.
void SetProcessName() {
  prctl(PR_SET_NAME, kName);
  const OwnedFd file(open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC));
  std::string shown;
  char piece[4096];
  ssize_t got;
  while (file.open() && (got = read(file.get(), piece, sizeof piece)) > 0) {
    shown.append(piece, static_cast<size_t>(got));
  }
  // Normally program_invocation_name points to argv[0], and the arguments
  // follow argv[0] in memory. A program may have changed the pointer. So the
  // memory is overwritten only if its text equals the command line.
  char* const arguments = program_invocation_name;
  if (shown.size() < sizeof kName ||
      shown.compare(0, std::strlen(arguments) + 1, arguments,
                    std::strlen(arguments) + 1) != 0) {
    return;
  }
  std::memset(arguments, 0, shown.size());
  std::memcpy(arguments, kName, sizeof kName);
}

}  // namespace

OwnedFd BecomeGuardianProcess(std::initializer_list<int> kept) {
  // A new session, so that a terminal's Ctrl-C, or a SIGKILL to the agent's
  // process group, does not reach the guardian.
  setsid();
  SetProcessName();
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  // All signals stay blocked: SIGTERM to a whole cgroup (systemd, Slurm) must
  // not end the guardian, and a stop signal must not suspend it while the agent
  // dies. SIGCHLD gets its default handling. If the guardian had inherited an
  // ignored SIGCHLD, the kernel would reap the workers.
  struct sigaction by_default = {};
  by_default.sa_handler = SIG_DFL;
  sigaction(SIGCHLD, &by_default, nullptr);

  std::vector<int> kept_ones;
  for (const int fd : kept) {
    if (fd >= 0) kept_ones.push_back(fd);
  }
  ReplaceStdio();
  CloseAllBut(std::move(kept_ones));
  // Makes the allocator return the memory of a large environment to the system;
  // by default it keeps such memory.
  mallopt(M_MMAP_THRESHOLD, 64 << 10);
  mallopt(M_TRIM_THRESHOLD, 64 << 10);

  sigset_t child_ended;
  sigemptyset(&child_ended);
  sigaddset(&child_ended, SIGCHLD);
  return OwnedFd(signalfd(-1, &child_ended, SFD_CLOEXEC | SFD_NONBLOCK));
}

namespace {

// The first and the longest interval, in milliseconds, between two searches for
// descendants while the guardian kills all descendants. If no SIGCHLD arrives,
// the guardian searches again after the interval, because a process may have
// forked during the last search.
constexpr int kSweepMilliseconds = 20;
constexpr int kLongestSweepMilliseconds = 1000;
// The guardian reads no commands while more than this number of bytes of
// notices is unsent.
constexpr size_t kMaxUnsentBytes = 1 << 20;
// The maximum number of workers that have been forked and have not executed
// their program. At this number the guardian reads no commands, because it
// holds one descriptor for each such worker.
constexpr int kMaxStarting = 32;

// Returns the interval between searches for descendants that follows an
// interval of `milliseconds`: twice as long, at most kLongestSweepMilliseconds.
// The intervals grow, because a process in an uninterruptible system call (a
// device, a dead file server) may take long to die.
int Longer(int milliseconds) {
  return std::min(2 * milliseconds, kLongestSweepMilliseconds);
}

// Whether the signal asks a process to end. A stopped process (SIGSTOP, Ctrl-Z)
// handles such a signal only after SIGCONT.
bool Ends(int signal) {
  return signal == SIGTERM || signal == SIGINT || signal == SIGHUP ||
         signal == SIGQUIT;
}

// The content of /proc/<pid>/<file>; empty if the file cannot be read.
std::string ReadProc(pid_t pid, const char* file) {
  std::ifstream in("/proc/" + std::to_string(pid) + "/" + file);
  return {std::istreambuf_iterator<char>(in), {}};
}

// The value of RANK in the process's initial environment; -1: not set.
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

  // Serves commands until the agent is gone.
  void ServeUntilAgentIsGone() {
    while (Turn()) {
    }
  }

  // Kills and reaps all descendants until none is left.
  void Sweep();

  // Removes the folder and the files that the agent has asked to remove after
  // its end.
  void RemoveRemains() {
    RemoveSocketFolder(folder_);
    RemoveJobFiles(job_files_);
  }

 private:
  struct Worker {
    pid_t pid = 0;
    // pipe on which the child reports a failed exec; open until the program has
    // been executed or has failed
    OwnedFd outcome;
    std::string program;  // the worker's program, argv[0]
    std::optional<StartFailure> failure;
    bool signalled = false;
  };

  // A worker whose start failed for a temporary reason (IsPassing) before the
  // worker was forked. The start will be retried.
  struct Postponed {
    SpawnRequest request;
    OwnedFd in, out, err, key;  // descriptors that belong to `request`
    int failed = 0;  // number of attempts to start this worker that have failed
    Instant again;   // time of the next attempt to start this worker
    StartFailure failure;
  };

  bool Turn();
  bool Listening() const {
    return starting_ < kMaxStarting && channel_.unsent() < kMaxUnsentBytes;
  }
  bool TakeCommands();
  void Handle(StartCommand start);
  // Tries to start the worker. If the worker cannot be forked for a temporary
  // reason (IsPassing), keeps the start in postponed_ for another attempt.
  void Attempt(int local_rank, Postponed start);
  void AttemptPostponed();
  // If the signal of `command` ends processes, cancels the postponed starts of
  // the workers that would get it, and reports to the agent that the signal has
  // killed these workers.
  void Withdraw(const SignalCommand& command);
  void Handle(const SignalCommand& command);
  void Handle(RemoveCommand command) { folder_ = std::move(command.folder); }
  void Handle(JobFilesCommand command) {
    job_files_ = std::move(command.files);
  }
  void Handle(const TerminalCommand& command);
  void RestoreTerminal();
  void Settle(int local_rank, Worker* worker);
  void Reap();
  // Queues a sign of life for the agent if one is due. Queues none if earlier
  // notices are still unsent.
  void GiveSign();
  int MillisecondsToWait() const;
  // Records `orphan`, a process that a worker left behind, before a terminating
  // signal is sent to it, so that AllGoneNotice can name the process. No effect
  // for other signals and for a process that has already ended.
  void RecordBeforeSignal(const ProcessEntry& orphan, int signal);
  void NoteOrphan(pid_t pid, int wait_status);
  void SendNotice(const Notice& notice) { channel_.Queue(Encode(notice)); }

  FrameChannel channel_;
  const OwnedFd agent_;
  const OwnedFd child_ended_;
  // workers that were forked and are not reaped yet, by local rank
  std::map<int, Worker> workers_;
  // starts of workers that will be retried, by local rank
  std::map<int, Postponed> postponed_;
  // argv[0] of the program that a worker of this guardian executed last
  std::string program_seen_;
  // Process groups of workers that have been reaped. A descendant of the worker
  // may still be in the group.
  std::set<pid_t> leaderless_groups_;
  // A process that a worker left behind, and to which a terminating signal was
  // sent since the last AllGoneNotice. If the signal ends the process, its
  // description `who` is added to left_behind_.
  struct Signalled {
    LeftBehind who;
    // whether this process has a handler for that terminating signal
    bool caught = false;
  };
  std::map<pid_t, Signalled> signalled_;
  std::vector<LeftBehind> left_behind_;
  // folder that RemoveRemains removes after the agent's end; may be empty
  std::string folder_;
  // job files that RemoveRemains removes after the agent's end
  JobFiles job_files_;
  // terminal whose modes are restored after the agent's end; closed: none
  OwnedFd terminal_;
  TerminalModes terminal_modes_;
  // number of workers whose program has not been executed yet
  int starting_ = 0;
  uint64_t starts_taken_ = 0;
  // whether a worker has been started since the last AllGoneNotice
  bool occupied_ = false;
  // Whether the agent has ordered SIGKILL for all processes, so that every new
  // descendant is killed at once. Reset when a worker is started, and when no
  // process is left.
  bool sweeping_ = false;
  int sweep_milliseconds_ = kSweepMilliseconds;
  Instant next_sign_ = MonotonicNow() + kGuardianSignEvery;
};

void GuardianLoop::GiveSign() {
  const Instant now = MonotonicNow();
  if (now < next_sign_) return;
  next_sign_ = now + kGuardianSignEvery;
  if (channel_.unsent() == 0) SendNotice(AliveNotice{});
}

int GuardianLoop::MillisecondsToWait() const {
  Instant next = next_sign_;
  for (const auto& [local_rank, postponed] : postponed_) {
    next = std::min(next, postponed.again);
  }
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(
      std::max(next - MonotonicNow(), Duration::zero()));
  const int until_next = static_cast<int>(left.count());
  return sweeping_ ? std::min(sweep_milliseconds_, until_next) : until_next;
}

bool GuardianLoop::Turn() {
  pollfd line = {channel_.fd(), 0, 0};
  if (Listening()) line.events |= POLLIN;
  if (channel_.unsent() > 0) line.events |= POLLOUT;
  std::vector<pollfd> fds = {
      line, {child_ended_.get(), POLLIN, 0}, {agent_.get(), POLLIN, 0}};
  // The local ranks of the workers that, as far as the guardian knows, have not
  // executed their program yet. poll() watches their pipes: the pipe of worker
  // starting[i] is fds[3 + i].
  std::vector<int> starting;
  for (const auto& [local_rank, worker] : workers_) {
    if (!worker.outcome.open()) continue;
    fds.push_back({worker.outcome.get(), POLLIN, 0});
    starting.push_back(local_rank);
  }
  const int woken = poll(fds.data(), fds.size(), MillisecondsToWait());
  if (woken < 0) return errno == EINTR;
  if (woken == 0 && sweeping_) {
    sweep_milliseconds_ = Longer(sweep_milliseconds_);
  }
  AttemptPostponed();
  for (size_t i = 0; i < starting.size(); ++i) {
    const auto worker = workers_.find(starting[i]);
    if (fds[3 + i].revents != 0) Settle(worker->first, &worker->second);
  }
  signalfd_siginfo info;
  while (read(child_ended_.get(), &info, sizeof info) > 0) {
  }
  // While sweeping_ is true, all processes must die. So first kill the
  // descendants that are new, so that the following Reap can collect them. Reap
  // resets sweeping_ once no process is left.
  if (sweeping_) KillDescendants({});
  Reap();
  if (fds[2].revents != 0) return false;
  if ((fds[0].revents & ~POLLOUT) != 0 && !channel_.Fill()) return false;
  // Handle commands even if poll has reported no input. Commands that an
  // earlier call of Turn has received may be waiting in channel_, because
  // commands are not handled while Listening() is false.
  if (!TakeCommands()) return false;
  GiveSign();
  return channel_.Flush();
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
  OwnedFd key = start.has_key ? channel_.TakeDescriptor() : OwnedFd();
  ++starts_taken_;
  occupied_ = true;
  sweeping_ = false;
  const int local_rank = start.local_rank;
  if (workers_.count(local_rank) + postponed_.count(local_rank) != 0) {
    SendNotice(NotStartedNotice{local_rank, "local rank in use", "", EBUSY});
    return;
  }
  struct stat pipe = {};
  if (start.has_key && fstat(key.get(), &pipe) != 0) {
    SendNotice(NotStartedNotice{local_rank, "key", "", errno});
    return;
  }
  Postponed attempt;
  attempt.in = std::move(in);
  attempt.out = std::move(out);
  attempt.err = std::move(err);
  attempt.key = std::move(key);
  SpawnRequest& request = attempt.request;
  request.argv = std::move(start.argv);
  request.seen =
      request.argv[0] == program_seen_ ? SeenBefore::kYes : SeenBefore::kNo;
  std::vector<std::string> changes;
  for (const auto& [name, value] : start.environment) {
    changes.push_back(name + "=" + value);
  }
  if (attempt.key.open()) {
    changes.push_back(std::string(kChannelKeyVariable) + "=" +
                      std::to_string(attempt.key.get()) + ":" +
                      std::to_string(pipe.st_ino));
  }
  request.environment = EnvironmentWith(changes, start.unset);
  request.working_directory = std::move(start.working_directory);
  request.cpus = std::move(start.cpus);
  request.memory_node = start.memory_node;
  request.ignored_signals = start.ignored_signals;
  request.stdin_fd = attempt.in.get();
  request.stdout_fd = attempt.out.get();
  request.stderr_fd = attempt.err.get();
  request.key_fd = attempt.key.get();
  request.controls_terminal = start.controls_terminal && attempt.in.open();
  Attempt(local_rank, std::move(attempt));
}

void GuardianLoop::Attempt(int local_rank, Postponed start) {
  auto outcome = Spawn(start.request);
  if (auto* spawned = std::get_if<Spawned>(&outcome)) {
    workers_[local_rank] = Worker{spawned->pid, std::move(spawned->outcome),
                                  start.request.argv[0], std::nullopt, false};
    ++starting_;
    return;
  }
  start.failure = std::get<StartFailure>(std::move(outcome));
  const std::optional<Duration> delay = DelayOfRetry(++start.failed);
  if (IsPassing(start.failure, start.request.seen) && delay.has_value()) {
    start.again = MonotonicNow() + *delay;
    postponed_[local_rank] = std::move(start);
    return;
  }
  SendNotice(NotStartedNotice{local_rank, start.failure.step,
                              start.failure.path, start.failure.error});
  Reap();
}

void GuardianLoop::AttemptPostponed() {
  const Instant now = MonotonicNow();
  std::vector<int> due;
  for (const auto& [local_rank, postponed] : postponed_) {
    if (now >= postponed.again) due.push_back(local_rank);
  }
  for (const int local_rank : due) {
    Postponed start = std::move(postponed_.at(local_rank));
    postponed_.erase(local_rank);
    Attempt(local_rank, std::move(start));
  }
}

void GuardianLoop::Withdraw(const SignalCommand& command) {
  if (!Ends(command.signal) && command.signal != SIGKILL) return;
  for (auto it = postponed_.begin(); it != postponed_.end();) {
    if (command.local_rank.value_or(it->first) != it->first) {
      ++it;
      continue;
    }
    // Reports the worker as killed: the wait status of a process that a signal
    // killed is the signal's number.
    SendNotice(EndedNotice{it->first, 0, command.signal, true});
    it = postponed_.erase(it);
  }
}

void GuardianLoop::Handle(const SignalCommand& command) {
  // A terminating signal also cancels the postponed starts. Before the signal
  // is sent, reap the processes that have already ended, so that their exits
  // are not reported as caused by the signal.
  Withdraw(command);
  Reap();
  // No worker was started since the guardian last reported that no process is
  // left, so there is no process to signal.
  if (!occupied_) return;
  for (auto& [local_rank, worker] : workers_) {
    if (command.local_rank.value_or(local_rank) != local_rank) continue;
    worker.signalled = true;
    SignalGroup(worker.pid, worker.outcome, command.signal);
    if (Ends(command.signal)) kill(-worker.pid, SIGCONT);
    // SignalGroup may have waited up to a second for a worker that is starting,
    // so a sign of life to the agent may be due.
    GiveSign();
    channel_.Flush();
  }
  if (command.local_rank) return;
  // The running workers' process groups have got the signal. Now signal the
  // guardian's other descendants: with `everything` all of them, else only
  // those in process groups of workers that have ended. Each process is
  // signalled by its pid, because the number of an empty group may be reused
  // for another group.
  if (command.everything || !leaderless_groups_.empty()) {
    for (const ProcessEntry& process : Descendants(getpid())) {
      const bool told = std::any_of(
          workers_.begin(), workers_.end(),
          [&](const auto& one) { return one.second.pid == process.group; });
      if (told) continue;
      if (command.everything || leaderless_groups_.count(process.group) != 0) {
        RecordBeforeSignal(process, command.signal);
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

// Restores the modes that the terminal had before the agent changed them. If
// another program, such as the shell, has set other modes meanwhile, does
// nothing.
void GuardianLoop::RestoreTerminal() {
  if (terminal_.open() &&
      HasModes(terminal_.get(), terminal_modes_.forwarding)) {
    SetModes(terminal_.get(), terminal_modes_.before);
  }
  terminal_.Close();
}

// Reads from the worker's pipe whether its program was executed, and closes the
// pipe. Does nothing if the pipe is already closed. If the program was
// executed, reports this to the agent. Otherwise Reap reports the failure after
// reaping the child: only then is the local rank free again.
void GuardianLoop::Settle(int local_rank, Worker* worker) {
  if (!worker->outcome.open()) return;
  worker->failure = ReadStartFailure(worker->outcome);
  worker->outcome.Close();
  --starting_;
  if (worker->failure) return;
  program_seen_ = worker->program;
  SendNotice(StartedNotice{local_rank, worker->pid});
}

void GuardianLoop::Reap() {
  int status = 0;
  pid_t pid;
  while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
    const auto ended =
        std::find_if(workers_.begin(), workers_.end(),
                     [pid](const auto& one) { return one.second.pid == pid; });
    // the process is no worker, but a process that a worker left behind
    if (ended == workers_.end()) {
      NoteOrphan(pid, status);
      continue;
    }
    const int local_rank = ended->first;
    Worker& worker = ended->second;
    Settle(local_rank, &worker);
    if (worker.failure) {
      SendNotice(NotStartedNotice{local_rank, worker.failure->step,
                                  worker.failure->path, worker.failure->error});
    } else {
      SendNotice(EndedNotice{local_rank, pid, status, worker.signalled});
    }
    leaderless_groups_.insert(pid);
    workers_.erase(ended);
  }
  if (pid == 0 || !occupied_ || !postponed_.empty()) return;
  // waitpid failed with ECHILD: the guardian has no child left, and therefore
  // no descendant, because its descendants' orphans become its children.
  SendNotice(AllGoneNotice{starts_taken_, std::move(left_behind_)});
  left_behind_.clear();
  signalled_.clear();
  leaderless_groups_.clear();
  occupied_ = false;
  sweeping_ = false;
}

void GuardianLoop::RecordBeforeSignal(const ProcessEntry& orphan, int signal) {
  const bool ends = Ends(signal) || signal == SIGKILL;
  if (!ends || orphan.state == 'Z' || signalled_.count(orphan.pid) != 0) return;
  signalled_[orphan.pid] = {{RankOf(orphan.pid), NameOf(orphan.pid)},
                            Catches(orphan.pid, signal)};
}

// Adds to left_behind_ a process that a worker left behind and that Muster's
// signal ended. A process that ignored the signal and later ended by itself,
// such as Python's resource tracker, is not added.
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
    loop.ServeUntilAgentIsGone();
    loop.Sweep();
    loop.RemoveRemains();
  }
  // _exit instead of exit: the agent's atexit handlers must not run here.
  _exit(0);
}

}  // namespace muster::agent
