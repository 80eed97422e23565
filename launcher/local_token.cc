#include "launcher/local_token.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/bounded_file.h"
#include "base/folder.h"
#include "base/monotonic_clock.h"
#include "base/net/resolve.h"
#include "base/net/socket_address.h"
#include "base/poll.h"
#include "base/write_all.h"

namespace muster::launcher {
namespace {

// Name of the folder for tokens inside a user's folder (base/folder.h).
// The folder for tokens is separate because the user's folder may hold the logs
// of many jobs.
constexpr char kFolder[] = "/tokens";
constexpr size_t kMaxTokenBytes = 4096;
constexpr Duration kResolveTimeout = std::chrono::seconds(5);
// Number of attempts to open a token file. Another process of this user may
// remove or lock the file at the same moment.
constexpr int kTries = 20;
constexpr Duration kPause = std::chrono::milliseconds(5);

// The first part of the names of token files; equal for all token files in this
// network namespace.
std::string Prefix() {
  struct stat network = {};
  stat("/proc/self/ns/net", &network);
  return absl::StrCat("token-", network.st_ino, "-");
}

std::string Suffix(int port) { return absl::StrCat("-", port); }

std::string FileName(const std::string& address, int port) {
  return absl::StrCat(Prefix(), address, Suffix(port));
}

struct flock WholeFile(short type) {
  struct flock lock = {};
  lock.l_type = type;
  lock.l_whence = SEEK_SET;
  return lock;
}

bool Lock(int fd) {
  struct flock lock = WholeFile(F_WRLCK);
  return fcntl(fd, F_OFD_SETLK, &lock) == 0;
}

bool IsLockedByOther(int fd) {
  struct flock lock = WholeFile(F_WRLCK);
  return fcntl(fd, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

// Whether `fd` is a regular file that belongs to this user and that no other
// user can open.
bool IsPrivateFile(int fd) {
  struct stat info;
  return fstat(fd, &info) == 0 && S_ISREG(info.st_mode) &&
         info.st_uid == geteuid() && (info.st_mode & 077) == 0;
}

// Whether the file at `path` is still the file that `fd` has opened.
bool IsStillThere(int fd, const std::string& path) {
  struct stat opened;
  struct stat named;
  return fstat(fd, &opened) == 0 && lstat(path.c_str(), &named) == 0 &&
         opened.st_dev == named.st_dev && opened.st_ino == named.st_ino;
}

OwnedFd Open(const std::string& path, int flags) {
  return OwnedFd(open(path.c_str(),
                      flags | O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK,
                      0600));
}

std::vector<std::string> TokenFiles(const std::string& folder) {
  std::vector<std::string> names;
  DIR* const listing = opendir(folder.c_str());
  if (listing == nullptr) return names;
  while (const dirent* const entry = readdir(listing)) {
    if (absl::StartsWith(entry->d_name, "token-")) {
      names.emplace_back(entry->d_name);
    }
  }
  closedir(listing);
  return names;
}

void RemoveLeftFiles(const std::string& folder) {
  for (const std::string& name : TokenFiles(folder)) {
    const std::string path = absl::StrCat(folder, "/", name);
    const OwnedFd file = Open(path, 0);
    if (file.open() && Lock(file.get()) && IsStillThere(file.get(), path)) {
      unlink(path.c_str());
    }
  }
}

// Creates or opens the file at `path` and locks it. AlreadyExists: another
// process has locked it. NotFound: its folder does not exist.
absl::StatusOr<OwnedFd> OpenLocked(const std::string& path) {
  for (int i = 0; i < kTries; ++i) {
    if (i > 0) PauseUntil(MonotonicNow() + kPause);
    OwnedFd file = Open(path, O_CREAT);
    if (!file.open()) {
      if (errno == ENOENT) return absl::NotFoundError(path);
      return PathStatus("cannot create", path, errno);
    }
    if (!Lock(file.get())) {
      if (errno == EAGAIN || errno == EACCES) continue;
      return PathStatus("cannot lock", path, errno);
    }
    if (!IsStillThere(file.get(), path)) continue;
    if (!IsPrivateFile(file.get()))
      return PathStatus("cannot use", path, EPERM);
    return file;
  }
  return absl::AlreadyExistsError(
      absl::StrCat(path, " belongs to another job of yours"));
}

absl::StatusOr<std::string> KeepIn(const std::string& parent,
                                   const std::string& name,
                                   const std::string& token, OwnedFd* file) {
  for (int i = 0;; ++i) {
    const absl::StatusOr<std::string> own = MakeUserFolder(parent);
    if (!own.ok()) return own.status();
    const std::string folder = absl::StrCat(*own, kFolder);
    mkdir(folder.c_str(), 0700);
    RemoveLeftFiles(folder);
    std::string path = absl::StrCat(folder, "/", name);
    absl::StatusOr<OwnedFd> opened = OpenLocked(path);
    // Retry if the folder does not exist: a job that ended after mkdir above
    // may have removed the empty folder.
    if (absl::IsNotFound(opened.status()) && i < kTries) continue;
    if (!opened.ok()) return opened.status();
    if (ftruncate(opened->get(), 0) != 0 || !WriteAll(opened->get(), token)) {
      const int error = errno;
      unlink(path.c_str());
      return PathStatus("cannot write", path, error);
    }
    *file = *std::move(opened);
    return path;
  }
}

std::optional<std::string> ReadLive(const std::string& path) {
  const OwnedFd file = Open(path, 0);
  if (!file.open() || !IsPrivateFile(file.get()) ||
      !IsLockedByOther(file.get())) {
    return std::nullopt;
  }
  const absl::StatusOr<std::string> token =
      ReadAtMost(file.get(), kMaxTokenBytes);
  if (!token.ok() || token->empty()) return std::nullopt;
  return *token;
}

bool IsOfThisMachine(const SocketAddress& address) {
  const OwnedFd fd(socket(address.family(), SOCK_DGRAM | SOCK_CLOEXEC, 0));
  const std::optional<SocketAddress> any_port = NumericAddress(address.Ip(), 0);
  return fd.open() && any_port &&
         bind(fd.get(), any_port->get(), any_port->size) == 0;
}

}  // namespace

std::vector<std::string> LocalTokenParents() {
  const auto value = [](const char* name) {
    const char* const text = getenv(name);
    return std::string(text == nullptr ? "" : text);
  };
  std::vector<std::string> parents;
  for (const std::string& parent :
       {std::string("/tmp"), absl::StrCat("/run/user/", geteuid()),
        value("XDG_RUNTIME_DIR"), value("TMPDIR"),
        std::string(kMemoryFolder)}) {
    if (!parent.empty()) parents.push_back(parent);
  }
  return parents;
}

absl::StatusOr<std::unique_ptr<LocalToken>> LocalToken::Keep(
    const rendezvous::Endpoint& listen, const std::string& token,
    const std::vector<std::string>& parents) {
  const std::string name = FileName(listen.host, listen.port);
  absl::Status why = absl::NotFoundError("there is no folder for tokens");
  for (const std::string& parent : parents) {
    OwnedFd file;
    absl::StatusOr<std::string> path = KeepIn(parent, name, token, &file);
    if (path.ok()) {
      return std::unique_ptr<LocalToken>(
          new LocalToken(*std::move(path), std::move(file)));
    }
    if (absl::IsAlreadyExists(path.status())) return path.status();
    if (parent == parents.front()) why = path.status();
  }
  return why;
}

LocalToken::LocalToken(std::string path, OwnedFd file)
    : path_(std::move(path)), file_(std::move(file)) {}

LocalToken::~LocalToken() {
  unlink(path_.c_str());
  // Remove the folder for tokens and the user's folder if they are empty now.
  const std::string folder = path_.substr(0, path_.rfind('/'));
  rmdir(folder.c_str());
  rmdir(folder.substr(0, folder.rfind('/')).c_str());
}

std::optional<LocalCoordinator> FindLocalCoordinator(
    const rendezvous::Endpoint& endpoint,
    const std::vector<std::string>& parents) {
  std::vector<std::string> folders;
  for (const std::string& parent : parents) {
    for (const std::string& own : UserFolders(parent)) {
      const std::string folder = absl::StrCat(own, kFolder);
      for (const std::string& name : TokenFiles(folder)) {
        if (!absl::StartsWith(name, Prefix())) continue;
        if (!absl::EndsWith(name, Suffix(endpoint.port))) continue;
        folders.push_back(folder);
        break;
      }
    }
  }
  if (folders.empty()) return std::nullopt;
  const auto addresses =
      Resolve(endpoint.host, endpoint.port, {.timeout = kResolveTimeout});
  if (!addresses.ok()) return std::nullopt;
  for (const SocketAddress& address : *addresses) {
    std::vector<std::string> bound = {address.Ip()};
    if (IsOfThisMachine(address)) {
      bound.insert(bound.end(), {"::", "0.0.0.0"});
    }
    for (const std::string& folder : folders) {
      for (const std::string& one : bound) {
        std::optional<std::string> token =
            ReadLive(absl::StrCat(folder, "/", FileName(one, endpoint.port)));
        if (!token) continue;
        return LocalCoordinator{{address.Ip(), endpoint.port},
                                *std::move(token)};
      }
    }
  }
  return std::nullopt;
}

}  // namespace muster::launcher
