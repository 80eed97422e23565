#include "rendezvous/journal/journal_copy.h"

#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <optional>
#include <string_view>

#include "absl/status/status.h"
#include "base/folder.h"
#include "base/owned_fd.h"
#include "base/write_all.h"

namespace muster::rendezvous {
namespace {

constexpr char kFile[] = "/copy";
// Suffixes of the files that SQLite keeps besides the main file. kLog: the
// write-ahead log. kUndo: the rollback journal, which SQLite uses before it
// switches to the log.
constexpr char kLog[] = "-wal";
constexpr char kUndo[] = "-journal";
constexpr int kMaxAttempts = 20;
// Size of the header of a write-ahead log. SQLite changes two random numbers in
// the header ("salts") whenever it begins the log anew. So if the header is
// unchanged, the log was not begun anew.
constexpr size_t kLogHeaderBytes = 32;

absl::Status CannotRead(const std::string& path, int error) {
  const absl::Status status = PathStatus("cannot read", path, error);
  const char* const remedy = absl::IsPermissionDenied(status)
                                 ? "; use the account that has written it"
                                 : "; name another folder";
  return absl::Status(status.code(), std::string(status.message()) + remedy);
}

// Opens the file at `path` for reading. Returns nullopt if there is no file.
// FailedPrecondition: it is not a regular file. ResourceExhausted: it is larger
// than JournalCopy::kMaxBytes.
absl::StatusOr<std::optional<OwnedFd>> OpenFile(const std::string& path) {
  OwnedFd fd(open(path.c_str(),
                  O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY));
  if (!fd.open()) {
    if (errno == ENOENT || errno == ENOTDIR) return std::optional<OwnedFd>();
    if (errno != ELOOP) return CannotRead(path, errno);
  }
  struct stat info;
  if (!fd.open() || fstat(fd.get(), &info) != 0 || !S_ISREG(info.st_mode)) {
    return absl::FailedPreconditionError(
        "cannot read " + path + ": it is " +
        (fd.open() ? "not a regular file" : "a symbolic link") +
        "; name another folder");
  }
  if (info.st_size > JournalCopy::kMaxBytes) {
    return absl::ResourceExhaustedError(
        "cannot read " + path + ": it has " + std::to_string(info.st_size) +
        " bytes; at most " + std::to_string(JournalCopy::kMaxBytes) +
        " are read");
  }
  return std::optional<OwnedFd>(std::move(fd));
}

// Reads at most `size` bytes at `offset`. Returns the number of bytes read, or
// -1 with errno.
ssize_t ReadAt(int fd, char* bytes, size_t size, int64_t offset) {
  ssize_t got;
  do {
    got = pread(fd, bytes, size, offset);
  } while (got < 0 && errno == EINTR);
  return got;
}

// Returns the first bytes of the log at `path`; empty: there is no log.
absl::StatusOr<std::string> LogHeader(const std::string& path) {
  absl::StatusOr<std::optional<OwnedFd>> fd = OpenFile(path);
  if (!fd.ok()) return fd.status();
  if (!fd->has_value()) return "";
  char bytes[kLogHeaderBytes];
  const ssize_t got = ReadAt((*fd)->get(), bytes, sizeof(bytes), 0);
  if (got < 0) return CannotRead(path, errno);
  return std::string(bytes, static_cast<size_t>(got));
}

// Copies the file at `from` to the new file at `to`. Returns the number of
// bytes; nullopt: there is no file at `from`.
absl::StatusOr<std::optional<int64_t>> CopyFile(const std::string& from,
                                                const std::string& to) {
  unlink(to.c_str());
  absl::StatusOr<std::optional<OwnedFd>> source = OpenFile(from);
  if (!source.ok()) return source.status();
  if (!source->has_value()) return std::optional<int64_t>();
  const auto cannot_write = [&] {
    const absl::Status status = PathStatus(
        "cannot read " + from + ": cannot write its copy", to, errno);
    return absl::Status(status.code(),
                        std::string(status.message()) +
                            "; let TMPDIR name a folder with room for it");
  };
  const OwnedFd target(
      open(to.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!target.open()) return cannot_write();
  std::string bytes(size_t{1} << 20, '\0');
  int64_t size = 0;
  // Without the limit of kMaxBytes, the copy of a file that grows faster than
  // it is read would never end.
  while (size < JournalCopy::kMaxBytes) {
    const ssize_t got =
        ReadAt((*source)->get(), bytes.data(), bytes.size(), size);
    if (got < 0) return CannotRead(from, errno);
    if (got == 0) break;
    const std::string_view part(bytes.data(), static_cast<size_t>(got));
    if (!WriteAll(target.get(), part)) return cannot_write();
    size += got;
  }
  return std::optional<int64_t>(size);
}

absl::StatusOr<std::string> MakeFolder() {
  const char* const named = std::getenv("TMPDIR");
  const std::string parent =
      named == nullptr || *named == '\0' ? "/tmp" : named;
  std::string folder = parent + "/muster_journal_XXXXXX";
  char resolved[PATH_MAX];
  if (mkdtemp(folder.data()) == nullptr ||
      realpath(folder.c_str(), resolved) == nullptr) {
    const absl::Status status =
        PathStatus("cannot create a folder in", parent, errno);
    return absl::Status(status.code(), std::string(status.message()) +
                                           "; let TMPDIR name another folder");
  }
  return std::string(resolved);
}

}  // namespace

absl::StatusOr<JournalCopy> JournalCopy::Of(const std::string& path) {
  absl::StatusOr<std::string> folder = MakeFolder();
  if (!folder.ok()) return folder.status();
  JournalCopy copy(*std::move(folder));
  // A coordinator may write the journal during the copy. It may move pages from
  // the log into the main file (a checkpoint), and then begin the log anew. So
  // the copied main file may have half-written pages. The log is copied after
  // the main file. If the log was not begun anew in between, it still has these
  // pages as a whole, and SQLite reads them from the log.
  for (int attempt = 0; attempt < kMaxAttempts; ++attempt) {
    const absl::StatusOr<std::string> before = LogHeader(path + kLog);
    if (!before.ok()) return before.status();
    const absl::Status filled = copy.Fill(path);
    if (!filled.ok()) return filled;
    const absl::StatusOr<std::string> copied = LogHeader(copy.path() + kLog);
    if (!copied.ok()) return copied.status();
    const absl::StatusOr<std::string> after = LogHeader(path + kLog);
    if (!after.ok()) return after.status();
    if (*before == *copied && *copied == *after) return copy;
  }
  return absl::UnavailableError("cannot read " + path + ": it changed during " +
                                std::to_string(kMaxAttempts) +
                                " attempts to read it; try again");
}

absl::Status JournalCopy::Fill(const std::string& from) {
  const auto main = CopyFile(from, path());
  if (!main.ok()) return main.status();
  const auto log = CopyFile(from + kLog, path() + kLog);
  if (!log.ok()) return log.status();
  const auto undo = CopyFile(from + kUndo, path() + kUndo);
  if (!undo.ok()) return undo.status();
  if (main->value_or(0) == 0 && log->value_or(0) > 0) {
    return absl::DataLossError(
        "cannot read " + from + ": it is " +
        (main->has_value() ? "empty" : "missing") + ", but " + from + kLog +
        ", which belongs to it, is there; restore the file");
  }
  if (!main->has_value()) {
    return absl::NotFoundError("there is no journal " + from +
                               "; name a folder of --state-dir");
  }
  return absl::OkStatus();
}

JournalCopy::~JournalCopy() {
  if (folder_.empty()) return;
  for (const char* const suffix : {"", kLog, kUndo}) {
    unlink((path() + suffix).c_str());
  }
  rmdir(folder_.c_str());
}

std::string JournalCopy::path() const { return folder_ + kFile; }

}  // namespace muster::rendezvous
