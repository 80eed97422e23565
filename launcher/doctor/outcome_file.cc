#include "launcher/doctor/outcome_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/bounded_file.h"
#include "base/owned_fd.h"
#include "base/write_all.h"

namespace muster::launcher {
namespace {

// Well above the page of a thousand nodes.
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
  // Opened without O_CREAT: the `launch` that waits for the page has created
  // the file, and without a file nobody on this node waits.
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

}  // namespace muster::launcher
