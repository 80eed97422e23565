#include "base/file_below.h"

#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/check.h"
#include "base/folder.h"

namespace muster {
namespace {

// mode of new folders; the umask removes bits
constexpr mode_t kFolderMode = 0777;
constexpr int kEnter = O_PATH | O_DIRECTORY | O_CLOEXEC;

absl::Status OfAnother(const std::string& path, const char* what, uid_t owner,
                       const std::string& root) {
  return absl::PermissionDeniedError(
      "cannot use " + path + ": it is a " + what + " of user " +
      std::to_string(owner) +
      ", who could redirect what is written; remove it " +
      "or name another folder than " + root);
}

// Returns the user who owns the files that this process creates in the folder
// `at`. On some network file systems the owner is not the user of the process.
uid_t OwnerOfNewFilesIn(int at) {
  const std::string probe = ".owner-" + std::to_string(getpid());
  struct stat info = {};
  info.st_uid = geteuid();
  if (mkdirat(at, probe.c_str(), 0700) == 0) {
    fstatat(at, probe.c_str(), &info, AT_SYMLINK_NOFOLLOW);
    unlinkat(at, probe.c_str(), AT_REMOVEDIR);
  }
  return info.st_uid;
}

// Walks from the root folder to a file or folder and opens one path component
// at a time.
class Walk {
 public:
  explicit Walk(const std::string& root) : root_(root), path_(root) {}

  absl::Status Begin() {
    OwnedFd at(open(root_.c_str(), kEnter));
    if (!at.open() && errno == ENOENT) {
      const absl::Status created = CreateFolder(root_);
      if (!created.ok()) return created;
      at = OwnedFd(open(root_.c_str(), kEnter));
    }
    struct stat info;
    if (!at.open() || fstat(at.get(), &info) != 0) {
      return PathStatus("cannot open folder", root_, errno);
    }
    root_owner_ = info.st_uid;
    at_ = std::move(at);
    return absl::OkStatus();
  }

  // Enters the folder `name`, and creates it if it is missing.
  absl::Status Enter(const std::string& name) {
    path_ += "/" + name;
    OwnedFd next = OpenItself(name);
    if (!next.open() && errno == ENOENT) {
      if (mkdirat(at_.get(), name.c_str(), kFolderMode) != 0 &&
          errno != EEXIST) {
        return PathStatus("cannot create folder", path_, errno);
      }
      next = OpenItself(name);
    }
    struct stat info;
    if (!next.open() || fstat(next.get(), &info) != 0) {
      return PathStatus("cannot open folder", path_, errno);
    }
    if (S_ISLNK(info.st_mode)) {
      const absl::StatusOr<std::string> target = Target(next.get(), info);
      if (!target.ok()) return target.status();
      next = OwnedFd(openat(at_.get(), target->c_str(), kEnter));
      if (!next.open()) return PathStatus("cannot open folder", path_, errno);
    } else if (!S_ISDIR(info.st_mode)) {
      return PathStatus("cannot open folder", path_, ENOTDIR);
    } else if (!IsTrusted(info.st_uid)) {
      return OfAnother(path_, "folder", info.st_uid, root_);
    }
    at_ = std::move(next);
    return absl::OkStatus();
  }

  absl::StatusOr<OwnedFd> OpenFile(const std::string& name, int flags,
                                   mode_t mode) {
    path_ += "/" + name;
    OwnedFd file(
        openat(at_.get(), name.c_str(), flags | O_NOFOLLOW | O_CLOEXEC, mode));
    if (!file.open() && errno == ELOOP) return Follow(name, flags, mode);
    struct stat info;
    if (!file.open() || fstat(file.get(), &info) != 0) {
      return PathStatus("cannot open", path_, errno);
    }
    if (!IsTrusted(info.st_uid)) {
      return OfAnother(path_, "file", info.st_uid, root_);
    }
    return file;
  }

  OwnedFd TakeFolder() { return std::move(at_); }

 private:
  // Opens `name` itself: if it is a symbolic link, the link is opened, not its
  // target.
  OwnedFd OpenItself(const std::string& name) const {
    return OwnedFd(
        openat(at_.get(), name.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
  }

  // Returns the target of the open link `link`. PermissionDenied: the link's
  // owner is neither this user nor root.
  absl::StatusOr<std::string> Target(int link, const struct stat& info) const {
    if (info.st_uid != geteuid() && info.st_uid != 0) {
      return OfAnother(path_, "symbolic link", info.st_uid, root_);
    }
    std::string target(PATH_MAX, '\0');
    const ssize_t size = readlinkat(link, "", target.data(), target.size());
    if (size < 0) return PathStatus("cannot read link", path_, errno);
    target.resize(static_cast<size_t>(size));
    return target;
  }

  absl::StatusOr<OwnedFd> Follow(const std::string& name, int flags,
                                 mode_t mode) const {
    struct statfs system;
    if (fstatfs(at_.get(), &system) == 0 && system.f_type == PROC_SUPER_MAGIC) {
      // The link is in /proc, where only the kernel makes links (such as
      // /proc/self/fd/3), so its owner is not checked. The link may lead to a
      // file that has no path, so the kernel must follow it.
      return Followed(name, flags, mode);
    }
    const OwnedFd link = OpenItself(name);
    struct stat info;
    if (!link.open() || fstat(link.get(), &info) != 0 ||
        !S_ISLNK(info.st_mode)) {
      return PathStatus("cannot open", path_, link.open() ? ELOOP : errno);
    }
    const absl::StatusOr<std::string> target = Target(link.get(), info);
    if (!target.ok()) return target.status();
    return Followed(*target, flags, mode);
  }

  absl::StatusOr<OwnedFd> Followed(const std::string& target, int flags,
                                   mode_t mode) const {
    OwnedFd file(openat(at_.get(), target.c_str(), flags | O_CLOEXEC, mode));
    if (!file.open()) return PathStatus("cannot open", path_, errno);
    return file;
  }

  bool IsTrusted(uid_t owner) const {
    return owner == geteuid() || owner == root_owner_ ||
           owner == OwnerOfNewFilesIn(at_.get());
  }

  const std::string root_;
  std::string path_;  // the whole path, for error messages
  OwnedFd at_;
  uid_t root_owner_ = 0;
};

// Enters the parent folders of `path` below `root`. Returns the last component
// of `path`, which is not entered; empty if `path` is `root`.
absl::StatusOr<std::string> EnterParents(const std::string& root,
                                         const std::string& path, Walk& walk) {
  MUSTER_CHECK(path.compare(0, root.size(), root) == 0 &&
               (path.size() == root.size() || root.back() == '/' ||
                path[root.size()] == '/'))
      << path;
  const absl::Status begun = walk.Begin();
  if (!begun.ok()) return begun;
  std::string last;
  for (size_t at = root.size(); at < path.size();) {
    const size_t end = std::min(path.find('/', at), path.size());
    const std::string name = path.substr(at, end - at);
    at = end + 1;
    if (name.empty() || name == ".") continue;
    MUSTER_CHECK(name != "..") << path;
    if (!last.empty()) {
      const absl::Status entered = walk.Enter(last);
      if (!entered.ok()) return entered;
    }
    last = name;
  }
  return last;
}

}  // namespace

absl::StatusOr<OwnedFd> OpenFolderBelow(const std::string& root,
                                        const std::string& path) {
  Walk walk(root);
  const absl::StatusOr<std::string> last = EnterParents(root, path, walk);
  if (!last.ok()) return last.status();
  if (!last->empty()) {
    const absl::Status entered = walk.Enter(*last);
    if (!entered.ok()) return entered;
  }
  return walk.TakeFolder();
}

absl::StatusOr<OwnedFd> OpenFileBelow(const std::string& root,
                                      const std::string& path, int flags,
                                      mode_t mode) {
  Walk walk(root);
  const absl::StatusOr<std::string> last = EnterParents(root, path, walk);
  if (!last.ok()) return last.status();
  if (last->empty()) return PathStatus("cannot open", path, EISDIR);
  return walk.OpenFile(*last, flags, mode);
}

}  // namespace muster
