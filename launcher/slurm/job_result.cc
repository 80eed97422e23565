#include "launcher/slurm/job_result.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>

#include "absl/strings/str_cat.h"
#include "base/environment_value.h"
#include "launcher/options/option_values.h"

namespace muster::launcher {
namespace {

constexpr char kVariable[] = "MUSTER_SLURM_RESULT";

}  // namespace

JobResult::JobResult() {
  std::string path = EnvironmentVariable("TMPDIR");
  if (path.empty()) path = "/tmp";
  path += "/muster-result-XXXXXX";
  const int fd = mkostemp(path.data(), O_CLOEXEC);
  // If the result file cannot be created, the job's exit code is unknown, and
  // SlurmCommand returns srun's exit code.
  if (fd < 0) return;
  close(fd);
  path_ = path;
}

JobResult::~JobResult() {
  if (!path_.empty()) unlink(path_.c_str());
}

std::string JobResult::Variable() const {
  return path_.empty() ? "" : absl::StrCat(kVariable, "=", path_);
}

std::optional<int> JobResult::Read() const {
  std::ifstream file(path_);
  std::string line;
  if (path_.empty() || !std::getline(file, line)) return std::nullopt;
  const absl::StatusOr<int64_t> code = ReadNumber(line, 0, 255);
  if (!code.ok()) return std::nullopt;
  return static_cast<int>(*code);
}

std::string TakeResultPath() {
  const std::string path = EnvironmentVariable(kVariable);
  unsetenv(kVariable);
  return path;
}

void TellResult(const std::string& path, int exit_code) {
  if (path.empty() || EnvironmentVariable("SLURM_PROCID") != "0") return;
  // The result file exists only on the machine where `launch --slurm` runs.
  // Without O_CREAT, it is not created on other machines.
  const int fd = open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOFOLLOW);
  if (fd < 0) return;
  const std::string line = absl::StrCat(exit_code, "\n");
  [[maybe_unused]] const ssize_t written = write(fd, line.data(), line.size());
  close(fd);
}

}  // namespace muster::launcher
