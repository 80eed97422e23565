#include "agent/nccl_id/nccl_id_child.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "agent/guardian/living_guardians.h"
#include "agent/nccl_id/nccl_id_process.h"
#include "base/monotonic_clock.h"
#include "base/subprocess.h"
#include "base/time.h"
#include "rendezvous/protocol/signal_names.h"

namespace muster::agent {
namespace {

// The time limit for reaping a process that was killed or has closed its files.
constexpr Duration kReapPatience = std::chrono::seconds(2);

// Waits until the process is reaped; returns its wait status. nullopt: another
// part of this process has reaped it, or it does not end.
std::optional<int> Reap(pid_t pid) {
  if (AwaitSubprocess(pid, MonotonicNow() + kReapPatience)) {
    return ReapSubprocess(pid);
  }
  kill(pid, SIGKILL);  // not reaped, so the pid is still its own
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

absl::Status Failed(absl::string_view why) {
  return absl::InternalError(absl::StrCat(
      "the process that makes an NCCL id cannot be started: ", why));
}

absl::Status NoPipe() {
  return Failed(absl::StrCat("pipe: ", std::strerror(errno)));
}

}  // namespace

absl::StatusOr<std::unique_ptr<NcclIdChild>> NcclIdChild::Start(
    const std::string& program) {
  int life[2];
  if (pipe2(life, O_CLOEXEC) != 0) return NoPipe();
  OwnedFd life_read(life[0]);
  OwnedFd life_write(life[1]);
  int answer[2];
  if (pipe2(answer, O_CLOEXEC) != 0) return NoPipe();
  OwnedFd answer_read(answer[0]);
  OwnedFd answer_write(answer[1]);
  fcntl(answer_read.get(), F_SETFL, O_NONBLOCK);

  SubprocessPlan plan;
  plan.argv = {program, kNcclIdArgument};
  plan.environment = EnvironmentWith({});
  plan.descriptors = {life_read.get(), answer_write.get()};
  // A Ctrl-C at the terminal must not end it before the workers.
  plan.group = SubprocessPlan::Group::kOwnSession;
  const absl::StatusOr<pid_t> pid = StartSubprocess(plan);
  if (!pid.ok()) return Failed(pid.status().message());
  LivingGuardians::OfThisProcess().Add(*pid);
  return std::unique_ptr<NcclIdChild>(
      new NcclIdChild(*pid, std::move(life_write), std::move(answer_read)));
}

NcclIdChild::NcclIdChild(pid_t pid, OwnedFd life, OwnedFd answer)
    : pid_(pid), life_(std::move(life)), answer_(std::move(answer)) {}

NcclIdChild::~NcclIdChild() {
  if (!end_.empty()) return;  // the pid may belong to another process by now
  life_.Close();
  kill(pid_, SIGKILL);
  Reap(pid_);
  LivingGuardians::OfThisProcess().Remove(pid_);
}

std::optional<std::string> NcclIdChild::End() {
  if (!end_.empty()) return end_;
  char byte;
  ssize_t n;
  do {  // output after the answer is ignored
    n = read(answer_.get(), &byte, 1);
  } while (n > 0 || (n < 0 && errno == EINTR));
  if (n < 0) return std::nullopt;
  // A process closes its files just before it can be reaped.
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
