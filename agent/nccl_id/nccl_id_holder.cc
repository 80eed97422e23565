#include "agent/nccl_id/nccl_id_holder.h"

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
#include "agent/guardian/descendants.h"
#include "agent/nccl_id/nccl_id_process.h"
#include "base/environment_value.h"
#include "base/monotonic_clock.h"
#include "base/subprocess.h"
#include "base/time.h"
#include "nccl/unique_id.h"
#include "rendezvous/protocol/signal_names.h"

namespace muster::agent {
namespace {

// The longest wait for the exit of a process that was killed or has closed its
// files.
constexpr Duration kReapTimeout = std::chrono::seconds(2);

// Waits until the process exits, reaps it and returns its wait status. nullopt:
// another part of the agent has reaped the process, or the process has not
// exited within kReapTimeout and was killed.
std::optional<int> Reap(pid_t pid) {
  if (AwaitSubprocess(pid, MonotonicNow() + kReapTimeout)) {
    return ReapSubprocess(pid);
  }
  // The signal cannot hit another process: this pid is not free before the
  // process is reaped.
  kill(pid, SIGKILL);
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
  // The NCCL id process gets its own session, so that a Ctrl-C at the terminal
  // does not end the process before the workers.
  plan.group = SubprocessPlan::Group::kOwnSession;
  const absl::StatusOr<pid_t> pid = StartSubprocess(plan);
  if (!pid.ok()) return Failed(pid.status().message());
  SparedChildren::OfThisProcess().Add(*pid);
  return std::unique_ptr<NcclIdChild>(
      new NcclIdChild(*pid, std::move(life_write), std::move(answer_read)));
}

NcclIdChild::NcclIdChild(pid_t pid, OwnedFd life, OwnedFd answer)
    : pid_(pid), life_(std::move(life)), answer_(std::move(answer)) {}

NcclIdChild::~NcclIdChild() {
  // A process whose end is known (end_) has been reaped. It must not be killed
  // again, because another process may have its pid now.
  if (!end_.empty()) return;
  life_.Close();
  kill(pid_, SIGKILL);
  Reap(pid_);
  SparedChildren::OfThisProcess().Remove(pid_);
}

std::optional<std::string> NcclIdChild::End() {
  if (!end_.empty()) return end_;
  char byte;
  ssize_t n;
  // Reads until end of file; only the first line is used, so the bytes read
  // here are ignored.
  do {
    n = read(answer_.get(), &byte, 1);
  } while (n > 0 || (n < 0 && errno == EINTR));
  if (n < 0) return std::nullopt;
  // The process has closed its files and will exit soon: waits until it can be
  // reaped.
  end_ = InWords(Reap(pid_));
  SparedChildren::OfThisProcess().Remove(pid_);
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

namespace {

constexpr char kId[] = "id ";
constexpr char kNone[] = "none ";

bool StartsWith(const std::string& text, const std::string& start) {
  return text.rfind(start, 0) == 0;
}

}  // namespace

std::string NcclIdProgram(
    const std::map<std::string, std::string>& environment) {
  const auto visible = EnvironmentValue(environment, "CUDA_VISIBLE_DEVICES");
  if (visible && (visible->empty() || *visible == "-1")) return "";
  if (NonEmptyEnvironmentValue(environment, "NCCL_COMM_ID")) return "";
  // Without NVIDIA's driver an NCCL id is of no use. The driver is absent if
  // neither its device file exists nor the device file of the Windows Subsystem
  // for Linux.
  if (access("/dev/nvidiactl", F_OK) != 0 && access("/dev/dxg", F_OK) != 0) {
    return "";
  }
  return "/proc/self/exe";
}

NcclIdHolder::NcclIdHolder(std::string program)
    : program_(std::move(program)) {}
NcclIdHolder::~NcclIdHolder() = default;

NcclIdHolder::Outcome NcclIdHolder::Fail(std::string why) {
  failed_ = true;
  Discard();
  if (!why.empty()) {
    why = absl::StrCat("no NCCL id for this node's workers (", why,
                       "); they find theirs through the store");
  }
  return {.why = std::move(why)};
}

std::optional<NcclIdHolder::Outcome> NcclIdHolder::Make(Instant now) {
  if (program_.empty() || failed_ || next_ != nullptr) return std::nullopt;
  auto child = NcclIdChild::Start(program_);
  if (!child.ok()) return Fail(std::string(child.status().message()));
  next_ = *std::move(child);
  next_id_.clear();
  deadline_ = now + kCreationTimeout;
  return std::nullopt;
}

int NcclIdHolder::fd() const { return next_ != nullptr ? next_->fd() : -1; }

std::optional<Instant> NcclIdHolder::NextDeadline() const {
  if (next_ == nullptr || !next_id_.empty()) return std::nullopt;
  return deadline_;
}

std::optional<NcclIdHolder::Outcome> NcclIdHolder::Look(Instant now) {
  if (next_ == nullptr) return std::nullopt;
  if (!next_id_.empty()) return LookAtHeld(now);
  const NcclIdChild::Answer& answer = next_->Read();
  if (!answer.whole) {
    if (now < deadline_) return std::nullopt;
    return Fail(absl::StrCat("NCCL took longer than ",
                             ToSeconds(kCreationTimeout), " s to make one"));
  }
  if (StartsWith(answer.text, kNone)) {
    return Fail(answer.text.substr(sizeof kNone - 1));
  }
  const std::string id =
      StartsWith(answer.text, kId) ? answer.text.substr(sizeof kId - 1) : "";
  if (!nccl::NcclUniqueIdOf(id).ok()) {
    return Fail("the process that should make one ended, or spoke nonsense");
  }
  next_id_ = id;
  return Outcome{.id = id};
}

std::optional<NcclIdHolder::Outcome> NcclIdHolder::LookAtHeld(Instant now) {
  const std::optional<std::string> end = next_->End();
  if (!end.has_value()) return std::nullopt;
  std::string lost = absl::StrCat(
      "the process that hosts the root of the next round's NCCL id (pid ",
      next_->pid(), ") ", *end);
  if (++losses_ >= kMaxLosses) {
    return Fail(absl::StrCat(lost, ", as did ", losses_ - 1, " before it"));
  }
  Discard();
  std::optional<Outcome> failed = Make(now);
  if (failed.has_value()) return failed;
  return Outcome{.why = absl::StrCat(lost, "; another one is started")};
}

bool NcclIdHolder::BeginRound(const std::string& id) {
  in_use_.reset();
  if (id.empty() || id != next_id_) return false;
  in_use_ = std::move(next_);
  next_id_.clear();
  losses_ = 0;
  return true;
}

int NcclIdHolder::root_fd() const {
  return in_use_ != nullptr ? in_use_->fd() : -1;
}

std::optional<std::string> NcclIdHolder::LookAtRoot() {
  if (in_use_ == nullptr) return std::nullopt;
  const std::optional<std::string> end = in_use_->End();
  if (!end.has_value()) return std::nullopt;
  std::string lost = absl::StrCat(
      "the process that hosts the root of this round's NCCL id (pid ",
      in_use_->pid(), ") ", *end);
  in_use_.reset();
  return lost;
}

void NcclIdHolder::Discard() {
  next_.reset();
  next_id_.clear();
}

}  // namespace muster::agent
