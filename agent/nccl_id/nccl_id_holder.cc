#include "agent/nccl_id/nccl_id_holder.h"

#include <unistd.h>

#include <chrono>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "agent/nccl_id/nccl_id_process.h"
#include "base/environment_value.h"
#include "base/subprocess.h"
#include "base/time.h"
#include "nccl/nccl_library.h"

namespace muster::agent {
namespace {

constexpr char kId[] = "id ";
constexpr char kNone[] = "none ";

bool StartsWith(const std::string& text, const std::string& start) {
  return text.rfind(start, 0) == 0;
}

}  // namespace

std::string GpuProgram(const std::map<std::string, std::string>& environment) {
  const auto visible = EnvironmentValue(environment, "CUDA_VISIBLE_DEVICES");
  if (visible && (visible->empty() || *visible == "-1")) return "";
  // The driver is absent if neither its device file exists nor the device file
  // of the Windows Subsystem for Linux.
  if (access("/dev/nvidiactl", F_OK) != 0 && access("/dev/dxg", F_OK) != 0) {
    return "";
  }
  return "/proc/self/exe";
}

std::string NcclIdProgram(
    const std::map<std::string, std::string>& environment) {
  if (NonEmptyEnvironmentValue(environment, "NCCL_COMM_ID")) return "";
  return GpuProgram(environment);
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
  auto child =
      ChildProgram::Start(program_, kNcclIdArgument, EnvironmentWith({}));
  if (!child.ok()) {
    return Fail(
        absl::StrCat("the process that makes an NCCL id cannot be started: ",
                     child.status().message()));
  }
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
  const ChildProgram::Line& answer = next_->Read();
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
