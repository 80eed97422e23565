#include "base/user_folder.h"

#include <dirent.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/log_folder.h"

namespace muster {
namespace {

constexpr char kPattern[] = "_XXXXXX";

std::string FirstName() { return "muster_" + std::to_string(geteuid()); }

bool IsOwn(const std::string& path) {
  struct stat info;
  return lstat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode) &&
         info.st_uid == geteuid() && (info.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

// Returns the sorted paths of this user's folders in `parent` whose names end
// with random characters.
std::vector<std::string> RandomlyNamed(const std::string& parent) {
  const std::string prefix = FirstName() + "_";
  const size_t size = FirstName().size() + sizeof(kPattern) - 1;
  std::vector<std::string> folders;
  DIR* const listing = opendir(parent.c_str());
  if (listing == nullptr) return folders;
  while (const dirent* const entry = readdir(listing)) {
    const std::string name = entry->d_name;
    if (name.size() != size || name.rfind(prefix, 0) != 0) continue;
    const std::string path = parent + "/" + name;
    if (IsOwn(path)) folders.push_back(path);
  }
  closedir(listing);
  std::sort(folders.begin(), folders.end());
  return folders;
}

}  // namespace

absl::StatusOr<std::string> MakeUserFolder(const std::string& parent) {
  const std::string first = parent + "/" + FirstName();
  if (mkdir(first.c_str(), 0700) == 0) return first;
  if (errno != EEXIST) return PathStatus("cannot create folder", first, errno);
  if (IsOwn(first)) return first;
  const std::vector<std::string> others = RandomlyNamed(parent);
  if (!others.empty()) return others.front();
  std::string made = first + kPattern;
  if (mkdtemp(made.data()) != nullptr) return made;
  return PathStatus("cannot create folder", first + kPattern, errno);
}

std::vector<std::string> UserFolders(const std::string& parent) {
  std::vector<std::string> folders = RandomlyNamed(parent);
  const std::string first = parent + "/" + FirstName();
  if (IsOwn(first)) folders.insert(folders.begin(), first);
  return folders;
}

}  // namespace muster
