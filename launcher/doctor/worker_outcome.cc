#include "launcher/doctor/worker_outcome.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/bounded_file.h"
#include "base/owned_fd.h"
#include "base/write_all.h"

namespace muster::launcher {
namespace {

// Limit for a result file, in bytes; far above the page of a thousand nodes.
constexpr size_t kMaxBytes = 64 << 20;

}  // namespace

absl::StatusOr<OutcomeFile> OutcomeFile::Make(const std::string& folder) {
  std::string path = folder + "/muster-doctor-XXXXXX";
  const OwnedFd fd(mkostemp(path.data(), O_CLOEXEC));
  if (!fd.open()) {
    return absl::UnavailableError(absl::StrCat(
        "no file can be made in ", folder, ": ", std::strerror(errno),
        "; set TMPDIR to a folder that can be written"));
  }
  return OutcomeFile(std::move(path));
}

OutcomeFile::OutcomeFile(OutcomeFile&& other) noexcept
    : path_(std::exchange(other.path_, "")) {}

OutcomeFile::~OutcomeFile() {
  if (!path_.empty()) unlink(path_.c_str());
}

std::optional<DoctorResult> OutcomeFile::Read() const {
  const std::string text = ReadBeginning(path_, kMaxBytes).value_or("");
  const size_t line = text.find('\n');
  DoctorResult outcome;
  if (line == std::string::npos ||
      !absl::SimpleAtoi(text.substr(0, line), &outcome.exit_code)) {
    return std::nullopt;
  }
  outcome.page = text.substr(line + 1);
  return outcome;
}

bool LeavePage(const std::string& path, const DoctorResult& outcome) {
  // Opened without O_CREAT, because the `launch doctor` that waits for this
  // result has created the file. If there is no file, no process on this node
  // waits for the result.
  const OwnedFd fd(open(path.c_str(), O_WRONLY | O_TRUNC | O_CLOEXEC));
  return fd.open() && WriteAll(fd.get(), absl::StrCat(outcome.exit_code, "\n",
                                                      outcome.page));
}

bool LeaveExitCode(const std::string& path, int exit_code) {
  const OwnedFd fd(open(path.c_str(), O_WRONLY | O_CLOEXEC));
  struct stat status = {};
  if (!fd.open() || fstat(fd.get(), &status) != 0) return false;
  return status.st_size > 0 ||
         WriteAll(fd.get(), absl::StrCat(exit_code, "\n"));
}

namespace {

constexpr std::string_view kMark = "muster-doctor:";
// Number of bytes encoded in one line. Encoded in base 64, these bytes are far
// below the length limit of a console line.
constexpr size_t kPiece = 24 << 10;

// Parses `part`, which has the form "INDEX/COUNT:BASE64". Appends the decoded
// data to `text` and increments `next`, the expected INDEX. `count`: COUNT of
// the previous part; 0: there is none. Returns false if `part` does not have
// this form, INDEX is not `next`, or COUNT differs from that of the previous
// part.
bool Append(const std::string& part, int& next, int& count, std::string& text) {
  const size_t slash = part.find('/');
  const size_t colon = part.find(':');
  if (slash == std::string::npos || colon == std::string::npos ||
      colon < slash) {
    return false;
  }
  int index = 0, all = 0;
  std::string piece;
  if (!absl::SimpleAtoi(part.substr(0, slash), &index) ||
      !absl::SimpleAtoi(part.substr(slash + 1, colon - slash - 1), &all) ||
      index != next || (count != 0 && all != count) ||
      !absl::Base64Unescape(part.substr(colon + 1), &piece)) {
    return false;
  }
  count = all;
  ++next;
  text += piece;
  return true;
}

}  // namespace

std::string OutcomeLines(const std::string& text) {
  const size_t count = std::max<size_t>((text.size() + kPiece - 1) / kPiece, 1);
  std::string lines;
  for (size_t i = 0; i < count; ++i) {
    absl::StrAppend(&lines, std::string(kMark), i, "/", count, ":",
                    absl::Base64Escape(text.substr(i * kPiece, kPiece)), "\n");
  }
  return lines;
}

ReadOutcome ReadOutcomeLines(const std::string& output) {
  ReadOutcome outcome;
  std::string text;
  int next = 0, count = 0;
  bool sound = true;
  for (size_t start = 0; start < output.size();) {
    const size_t end = std::min(output.find('\n', start), output.size());
    const std::string line = output.substr(start, end - start);
    start = end + 1;
    const size_t mark = line.find(kMark);
    if (mark == std::string::npos) {
      absl::StrAppend(&outcome.rest, line, "\n");
    } else if (!Append(line.substr(mark + kMark.size()), next, count, text)) {
      sound = false;
    }
  }
  if (sound && count > 0 && next == count) outcome.text = std::move(text);
  return outcome;
}

}  // namespace muster::launcher
