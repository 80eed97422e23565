#include "launcher/ssh/host_connection.h"

#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <utility>

#include "absl/strings/str_cat.h"

namespace muster::launcher {
namespace {

constexpr size_t kMaxWords = 8 << 10;
constexpr size_t kMaxPerTurn = 1 << 20;

uint32_t HostOf(const UpMessage& message) {
  return std::visit([](const auto& m) { return m.host; }, message);
}

}  // namespace

HostConnection::HostConnection(BeNode job, const std::string& ssh_program,
                               const std::vector<std::string>& environment,
                               Instant now)
    : settings_(job.ssh),
      hosts_(job.hosts),
      deadline_(now + std::chrono::milliseconds(job.ssh.timeout_ms)) {
  for (const RemoteHost& host : hosts_) open_.insert(host.index);
  PipedProcessPlan plan;
  plan.argv = SshCommand(ssh_program, settings_, hosts_[0].destination);
  plan.environment = environment;
  absl::StatusOr<PipedProcess> started = PipedProcess::Start(plan);
  if (started.ok()) {
    ssh_ = std::make_unique<PipedProcess>(*std::move(started));
    down_ = Encode(DownMessage(std::move(job)));
  } else {
    not_started_ =
        absl::StrCat("ssh cannot be started: ", started.status().message());
  }
}

void HostConnection::AppendPolls(Intake intake,
                                 std::vector<pollfd>& polls) const {
  if (closed_ || ssh_ == nullptr) return;
  const auto add = [&](int fd, short events) {
    if (fd >= 0) polls.push_back({.fd = fd, .events = events, .revents = 0});
  };
  if (!down_.empty()) add(ssh_->standard_input.get(), POLLOUT);
  add(ssh_->standard_error.get(), POLLIN);
  if (intake == Intake::kPaused) return;
  add(ssh_->standard_output.get(), POLLIN);
  if (!ssh_->standard_output.open()) add(ssh_->end_fd(), POLLIN);
}

std::vector<UpMessage> HostConnection::Serve(Instant now, Intake intake) {
  std::vector<UpMessage> came;
  if (closed_) return came;
  if (ssh_ == nullptr) {
    NotReached({.cause = SshEnd::Cause::kForeignAnswer,
                .exit_code = 0,
                .answer = not_started_,
                .said = "",
                .printed = ""},
               came);
    return came;
  }
  Write();
  ReadWords();
  if (intake == Intake::kOpen) ReadMessages(came);
  const std::string printed(reader_.before_greeting());
  if (!reader_.error().empty()) {
    if (answered_) {
      Lost(reader_.error(), came);
    } else {
      NotReached({SshEnd::Cause::kForeignAnswer, 0, reader_.error(), said_, ""},
                 came);
    }
    return came;
  }
  if (!ssh_->standard_output.open()) {
    if (const std::optional<int> code = ssh_->ExitCode()) {
      ReadWords();
      if (answered_) {
        const std::string words = LastWords(said_);
        Lost(words.empty()
                 ? "the connection to it broke"
                 : absl::StrCat("the connection to it broke: ", words),
             came);
      } else {
        NotReached({SshEnd::Cause::kExited, *code, "", said_, printed}, came);
      }
      return came;
    }
  }
  if (!answered_ && now >= deadline_) {
    NotReached({SshEnd::Cause::kTimedOut, 0, "", said_, ""}, came);
  }
  return came;
}

void HostConnection::Write() {
  while (!down_.empty() && ssh_->standard_input.open()) {
    const ssize_t written =
        write(ssh_->standard_input.get(), down_.data(), down_.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0 && errno == EAGAIN) return;
    if (written < 0) {
      // The write failed because ssh has closed its stdin and is about to exit.
      // So close the pipe. Once ssh has exited, its exit code and stderr tell
      // why the connection failed.
      ssh_->standard_input.Close();
      break;
    }
    down_.erase(0, static_cast<size_t>(written));
  }
  if (!ssh_->standard_input.open()) down_.clear();
  if (down_.empty() && hang_up_) ssh_->standard_input.Close();
}

void HostConnection::ReadWords() {
  std::array<char, 4096> buffer;
  while (ssh_->standard_error.open()) {
    const ssize_t got =
        read(ssh_->standard_error.get(), buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno == EAGAIN) return;
    if (got <= 0) {
      ssh_->standard_error.Close();
      return;
    }
    said_.append(buffer.data(), static_cast<size_t>(got));
    if (said_.size() > kMaxWords) said_.erase(0, said_.size() - kMaxWords);
  }
}

void HostConnection::ReadMessages(std::vector<UpMessage>& came) {
  std::array<char, 64 << 10> buffer;
  size_t taken = 0;
  while (ssh_->standard_output.open() && taken < kMaxPerTurn) {
    const ssize_t got =
        read(ssh_->standard_output.get(), buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno == EAGAIN) return;
    if (got <= 0) {
      ssh_->standard_output.Close();
      return;
    }
    taken += static_cast<size_t>(got);
    reader_.Append({buffer.data(), static_cast<size_t>(got)});
    while (const std::optional<std::string_view> frame = reader_.Next()) {
      // Ignore invalid messages, and messages about hosts of other connections.
      std::optional<UpMessage> message = DecodeUp(*frame);
      if (message) Take(*std::move(message), came);
    }
  }
}

void HostConnection::Take(UpMessage message, std::vector<UpMessage>& came) {
  const uint32_t host = HostOf(message);
  if (open_.count(host) == 0) return;
  if (host == hosts_[0].index) {
    if (!answered_ && std::holds_alternative<HostFailed>(message)) {
      failed_ = true;
    }
    answered_ = true;
  }
  const bool is_last = std::holds_alternative<HostFailed>(message) ||
                       std::holds_alternative<HostLost>(message) ||
                       std::holds_alternative<AgentEnded>(message);
  if (is_last) open_.erase(host);
  came.push_back(std::move(message));
}

void HostConnection::NotReached(const SshEnd& end,
                                std::vector<UpMessage>& came) {
  const int code =
      end.exit_code == 126 || end.exit_code == 127 ? end.exit_code : 1;
  Take(HostFailed{hosts_[0].index, WhyNotReached(end, settings_), code}, came);
  failed_ = true;
  Lost("", came);
}

void HostConnection::Lost(const std::string& why,
                          std::vector<UpMessage>& came) {
  for (size_t i = 0; i < hosts_.size(); ++i) {
    const RemoteHost& host = hosts_[i];
    if (open_.erase(host.index) == 0) continue;
    if (failed_) {
      unreached_.push_back(host);
    } else if (i == 0) {
      came.push_back(HostLost{host.index, why});
    } else {
      came.push_back(
          HostLost{host.index, absl::StrCat("its connection went through ",
                                            hosts_[0].name, ": ", why)});
    }
  }
  Close();
}

void HostConnection::Close() {
  closed_ = true;
  ssh_.reset();
}

void HostConnection::Send(const DownMessage& message) {
  if (closed_ || hang_up_ || ssh_ == nullptr) return;
  if (!ssh_->standard_input.open()) return;
  down_ += Encode(message);
  Write();
}

void HostConnection::HangUp() {
  if (closed_ || ssh_ == nullptr) return;
  hang_up_ = true;
  Write();
}

std::vector<RemoteHost> HostConnection::TakeUnreached() {
  return std::exchange(unreached_, {});
}

std::optional<Instant> HostConnection::NextDeadline() const {
  if (closed_) return std::nullopt;
  // If ssh could not be started, return a time in the past, so that Serve is
  // called at once: Serve reports the error.
  if (ssh_ == nullptr) return Instant();
  if (answered_) return std::nullopt;
  return deadline_;
}

}  // namespace muster::launcher
