#include "launcher/ssh/host_console.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "absl/strings/str_cat.h"
#include "agent/logs/terminal_text.h"
#include "base/owned_fd.h"

namespace muster::launcher {
namespace {

constexpr Duration kGoodbye = std::chrono::seconds(1);

agent::ConsoleWriter::Limits LimitsOf(const agent::ConsolePolicy& policy) {
  agent::ConsoleWriter::Limits limits;
  if (policy.drops) limits.when_full = agent::ConsoleWriter::WhenFull::kDrop;
  return limits;
}

}  // namespace

std::string ShownLine(std::string_view line, const std::string& host,
                      const std::string& prefix) {
  const std::string clean = agent::WithoutControls(line, agent::Colours::kKeep);
  if (clean.rfind("[", 0) == 0) return clean;
  if (clean.rfind(prefix, 0) == 0) {
    return absl::StrCat(prefix, host, ": ", clean.substr(prefix.size()));
  }
  return absl::StrCat("[", host, "] ", clean);
}

// An eventfd that becomes readable when the console has room again.
class HostConsole::RoomFd {
 public:
  RoomFd() : fd_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}
  int get() const { return fd_.get(); }
  void Raise() const {
    const uint64_t one = 1;
    [[maybe_unused]] const ssize_t written = write(get(), &one, sizeof one);
  }
  void Clear() const {
    uint64_t count;
    [[maybe_unused]] const ssize_t got = read(get(), &count, sizeof count);
  }

 private:
  const OwnedFd fd_;
};

HostConsole::HostConsole(const agent::ConsolePolicy& policy, std::string prefix)
    : prefix_(std::move(prefix)),
      room_(std::make_shared<RoomFd>()),
      console_({}, LimitsOf(policy)),
      timeout_(policy.timeout) {
  console_.SetOnRoom([room = room_] { room->Raise(); });
}

HostConsole::~HostConsole() = default;

int HostConsole::room_fd() const { return room_->get(); }

void HostConsole::ExpectEnd() {
  ends_ = true;
  timeout_ = std::min(timeout_, agent::ConsoleWriter::WaitLimits::kAfterSignal);
}

bool HostConsole::HasRoom(Instant now) {
  room_->Clear();
  if (console_.HasRoom()) {
    full_since_.reset();
    return true;
  }
  const int64_t taken = console_.written();
  if (!full_since_ || taken != taken_) {
    full_since_ = now;
    taken_ = taken;
  }
  if (now - *full_since_ < timeout_) return false;
  if (ends_) console_.GiveUp();
  return ends_ || console_.HasSpareRoom();
}

std::optional<Instant> HostConsole::NextDeadline() const {
  if (!full_since_) return std::nullopt;
  return *full_since_ + timeout_;
}

bool HostConsole::Finish(const std::function<int()>& end_signals) {
  console_.Finish({.without_progress = timeout_,
                   .end_signals = [&, earlier = ends_ ? 1 : 0] {
                     return earlier + end_signals();
                   }});
  for (const std::string& loss : console_.Losses("")) {
    console_.Tell(absl::StrCat(prefix_, loss, "\n"));
  }
  console_.Flush(kGoodbye);
  return !console_.Failed();
}

void HostConsole::Show(const OutputCame& output, const std::string& host) {
  agent::ConsoleWriter& console = output.stream == OutputStream::kStdout
                                      ? *console_.out()
                                      : *console_.err();
  std::string shown;
  const std::string_view lines = output.lines;
  size_t start = 0;
  while (start < lines.size()) {
    const size_t end = std::min(lines.find('\n', start), lines.size());
    shown += ShownLine(lines.substr(start, end - start), host, prefix_);
    shown += '\n';
    start = end + 1;
  }
  if (!shown.empty()) console.WriteOutput(std::move(shown));
}

void HostConsole::Tell(std::string lines) {
  console_.err()->Write(std::move(lines));
}

}  // namespace muster::launcher
