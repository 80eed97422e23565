#include "launcher/ssh/host_console.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "absl/strings/str_cat.h"
#include "agent/logs/console_fd.h"
#include "agent/logs/terminal_text.h"

namespace muster {
namespace {

constexpr std::string_view kOwnPrefix = "launch: ";
constexpr Duration kGoodbye = std::chrono::seconds(1);

}  // namespace

std::string ShownLine(std::string_view line, const std::string& host) {
  const std::string clean = WithoutControls(line, Colours::kKeep);
  if (clean.rfind("[", 0) == 0) return clean;
  if (clean.rfind(kOwnPrefix, 0) == 0) {
    return absl::StrCat("launch: ", host, ": ",
                        clean.substr(kOwnPrefix.size()));
  }
  return absl::StrCat("[", host, "] ", clean);
}

HostConsole::HostConsole()
    : errors_(STDERR_FILENO),
      own_output_(IsSameConsole(STDOUT_FILENO, STDERR_FILENO)
                      ? nullptr
                      : std::make_unique<ConsoleWriter>(STDOUT_FILENO)) {}

HostConsole::~HostConsole() {
  errors_.Flush(kGoodbye);
  if (own_output_ != nullptr) own_output_->Flush(kGoodbye);
}

void HostConsole::Show(const OutputCame& output, const std::string& host) {
  ConsoleWriter& console =
      output.stream == OutputStream::kStdout && own_output_ != nullptr
          ? *own_output_
          : errors_;
  std::string shown;
  const std::string_view lines = output.lines;
  size_t start = 0;
  while (start < lines.size()) {
    const size_t end = std::min(lines.find('\n', start), lines.size());
    shown += ShownLine(lines.substr(start, end - start), host);
    shown += '\n';
    start = end + 1;
  }
  if (!shown.empty()) console.Write(std::move(shown));
}

void HostConsole::Tell(std::string lines) { errors_.Write(std::move(lines)); }

}  // namespace muster
