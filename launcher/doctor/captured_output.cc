#include "launcher/doctor/captured_output.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/bounded_file.h"

namespace muster::launcher {
namespace {

// Well above the page of a thousand nodes.
constexpr size_t kMaxBytes = 128 << 20;

}  // namespace

absl::StatusOr<CapturedOutput> CapturedOutput::Begin(
    const std::string& folder) {
  std::string path = folder + "/muster-doctor-XXXXXX";
  OwnedFd file(mkostemp(path.data(), O_CLOEXEC));
  if (!file.open()) {
    return absl::UnavailableError(absl::StrCat(
        "no file can be made in ", folder, ": ", std::strerror(errno),
        "; set TMPDIR to a folder that can be written"));
  }
  unlink(path.c_str());
  std::fflush(stdout);
  OwnedFd before(fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3));
  if (!before.open() || dup2(file.get(), STDOUT_FILENO) < 0) {
    return absl::UnavailableError(
        absl::StrCat("stdout cannot be used: ", std::strerror(errno)));
  }
  return CapturedOutput(std::move(file), std::move(before));
}

CapturedOutput::CapturedOutput(OwnedFd file, OwnedFd before)
    : file_(std::move(file)), before_(std::move(before)) {}

CapturedOutput::~CapturedOutput() {
  if (before_.open()) End();
}

std::string CapturedOutput::End() {
  std::fflush(stdout);
  dup2(before_.get(), STDOUT_FILENO);
  before_.Close();
  lseek(file_.get(), 0, SEEK_SET);
  return ReadBeginning(file_.get(), kMaxBytes).value_or("");
}

}  // namespace muster::launcher
