#include "agent/nccl_id/nccl_id_child.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "agent/guardian/living_guardians.h"
#include "agent/nccl_id/nccl_id_process.h"
#include "rendezvous/protocol/signal_names.h"

extern char** environ;

namespace muster::agent {
namespace {

// In steps of a millisecond, for one that was killed or has closed its files.
constexpr int kMaxWaits = 2000;

// Waits until it is reaped: its wait status. Nothing: another part of this
// process has reaped it, or it does not end.
std::optional<int> Reap(pid_t pid) {
  int status = 0;
  for (int i = 0; i < kMaxWaits; ++i) {
    const pid_t reaped = waitpid(pid, &status, WNOHANG);
    if (reaped == pid) return status;
    if (reaped < 0) return std::nullopt;
    poll(nullptr, 0, 1);
  }
  kill(pid, SIGKILL);  // not reaped, so the number is still its
  return std::nullopt;
}

std::string InWords(std::optional<int> status) {
  if (!status.has_value()) return "ended";
  if (WIFSIGNALED(*status)) {
    return absl::StrCat("was killed by ",
                        rendezvous::SignalName(WTERMSIG(*status)));
  }
  return absl::StrCat("ended with exit code ", WEXITSTATUS(*status));
}

absl::Status Failed(const char* call, int error) {
  return absl::InternalError(absl::StrCat(
      "the process that makes an NCCL id cannot be started: ", call, ": ",
      std::strerror(error)));
}

// A session of its own, so that a Ctrl-C at the terminal does not end it before
// the workers; signals as at a program's start.
class SpawnSettings {
 public:
  SpawnSettings(int in, int out) {
    posix_spawn_file_actions_init(&actions_);
    posix_spawn_file_actions_adddup2(&actions_, in, STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions_, out, STDOUT_FILENO);
    posix_spawnattr_init(&attributes_);
    sigset_t none;
    sigset_t all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_setsigmask(&attributes_, &none);
    posix_spawnattr_setsigdefault(&attributes_, &all);
    posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSID |
                                               POSIX_SPAWN_SETSIGMASK |
                                               POSIX_SPAWN_SETSIGDEF);
  }
  ~SpawnSettings() {
    posix_spawn_file_actions_destroy(&actions_);
    posix_spawnattr_destroy(&attributes_);
  }
  SpawnSettings(const SpawnSettings&) = delete;
  SpawnSettings& operator=(const SpawnSettings&) = delete;

  posix_spawn_file_actions_t actions_;
  posix_spawnattr_t attributes_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<NcclIdChild>> NcclIdChild::Start(
    const std::string& program) {
  int life[2];
  if (pipe2(life, O_CLOEXEC) != 0) return Failed("pipe", errno);
  OwnedFd life_read(life[0]);
  OwnedFd life_write(life[1]);
  int answer[2];
  if (pipe2(answer, O_CLOEXEC) != 0) return Failed("pipe", errno);
  OwnedFd answer_read(answer[0]);
  OwnedFd answer_write(answer[1]);
  fcntl(answer_read.get(), F_SETFL, O_NONBLOCK);

  const SpawnSettings settings(life_read.get(), answer_write.get());
  std::string name = program;
  std::string argument = kNcclIdArgument;
  char* const argv[] = {name.data(), argument.data(), nullptr};
  pid_t pid = 0;
  const int error = posix_spawn(&pid, program.c_str(), &settings.actions_,
                                &settings.attributes_, argv, environ);
  if (error != 0) return Failed("posix_spawn", error);
  LivingGuardians::OfThisProcess().Add(pid);
  return std::unique_ptr<NcclIdChild>(
      new NcclIdChild(pid, std::move(life_write), std::move(answer_read)));
}

NcclIdChild::NcclIdChild(pid_t pid, OwnedFd life, OwnedFd answer)
    : pid_(pid), life_(std::move(life)), answer_(std::move(answer)) {}

NcclIdChild::~NcclIdChild() {
  if (!end_.empty()) return;  // its number may be another's by now
  life_.Close();
  kill(pid_, SIGKILL);
  Reap(pid_);
  LivingGuardians::OfThisProcess().Remove(pid_);
}

std::optional<std::string> NcclIdChild::End() {
  if (!end_.empty()) return end_;
  char byte;
  ssize_t n;
  do {  // what it says beyond its answer is of no interest
    n = read(answer_.get(), &byte, 1);
  } while (n > 0 || (n < 0 && errno == EINTR));
  if (n < 0) return std::nullopt;
  // A process closes its files a moment before it can be reaped.
  end_ = InWords(Reap(pid_));
  LivingGuardians::OfThisProcess().Remove(pid_);
  return end_;
}

const NcclIdChild::Answer& NcclIdChild::Read() {
  char buffer[512];
  while (!heard_.whole) {
    const ssize_t n = read(answer_.get(), buffer, sizeof buffer);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) break;
    if (n <= 0) {
      heard_.whole = true;
      break;
    }
    heard_.text.append(buffer, static_cast<size_t>(n));
    const size_t end = heard_.text.find('\n');
    if (end != std::string::npos) {
      heard_.text.resize(end);
      heard_.whole = true;
    } else if (heard_.text.size() > kMaxAnswer) {
      heard_.whole = true;
    }
  }
  return heard_;
}

}  // namespace muster::agent
