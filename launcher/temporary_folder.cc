#include "launcher/temporary_folder.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "absl/strings/str_cat.h"

namespace muster::launcher {
namespace {

std::string Around(const std::string& directory) {
  return directory.substr(0, directory.rfind('/'));
}

}  // namespace

absl::Status PrepareTemporaryFolder(const std::string& directory) {
  const std::string around = Around(directory);
  if (mkdir(around.c_str(), 0700) == 0) return absl::OkStatus();
  const int error = errno;
  struct stat info;
  if (error != EEXIST || lstat(around.c_str(), &info) != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat(around, ": cannot make the temporary folder (",
                     strerror(error), "); set TMPDIR or give --log-dir"));
  }
  if (!S_ISDIR(info.st_mode) || info.st_uid != getuid() ||
      (info.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat(around,
                     ": is not a folder that you alone can write; remove it, "
                     "set TMPDIR or give --log-dir"));
  }
  return absl::OkStatus();
}

void RemoveTemporaryFolder(const std::string& directory) {
  std::error_code ignored;
  std::filesystem::remove_all(directory, ignored);
  rmdir(Around(directory).c_str());
}

bool HoldsFile(const std::string& directory) {
  std::error_code error;
  for (auto at =
           std::filesystem::recursive_directory_iterator(directory, error);
       !error && at != std::filesystem::recursive_directory_iterator();
       at.increment(error)) {
    if (at->is_regular_file(error)) return true;
  }
  return false;
}

}  // namespace muster::launcher
