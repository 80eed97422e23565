#include "launcher/temporary_folder.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "absl/strings/str_cat.h"
#include "base/folder.h"

namespace muster::launcher {
namespace {

std::string Around(const std::string& directory) {
  return directory.substr(0, directory.rfind('/'));
}

// Creates the folder `name` in the folder of this user below `parent`
// (MakeUserFolder).
absl::StatusOr<std::string> MakeIn(const std::string& parent,
                                   const std::string& name) {
  constexpr int kTries = 100;
  for (int i = 0;; ++i) {
    const absl::StatusOr<std::string> around = MakeUserFolder(parent);
    if (!around.ok()) return around.status();
    const std::string directory = absl::StrCat(*around, "/", name);
    if (mkdir(directory.c_str(), 0700) == 0) return directory;
    // Retry on ENOENT: another job of this user may have removed the user's
    // folder at its end, because the folder was empty.
    if (errno != ENOENT || i == kTries) {
      return PathStatus("cannot create folder", directory, errno);
    }
  }
}

}  // namespace

absl::StatusOr<std::string> MakeTemporaryFolder(const std::string& directory) {
  const size_t slash = directory.rfind('/');
  absl::StatusOr<std::string> made =
      MakeIn(Around(Around(directory)), directory.substr(slash + 1));
  if (made.ok()) return made;
  return absl::InvalidArgumentError(
      absl::StrCat(made.status().message(), "; set TMPDIR or give --log-dir"));
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
