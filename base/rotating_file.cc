#include "base/rotating_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include "base/file_below.h"
#include "base/folder.h"

namespace muster {
namespace {

constexpr int kOpenFlags = O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY;
constexpr mode_t kFileMode = 0666;  // mode of new files; the umask removes bits
constexpr int64_t kMaxOverrunBytes = 64 << 10;

// Returns how many of `bytes` are appended to a file of `size` bytes before the
// file is rotated. The file is rotated at the first end of a line after it has
// reached `limit` bytes. If no line has ended after kMaxOverrunBytes more, it
// is rotated within a line.
size_t BytesBeforeRotation(std::string_view bytes, int64_t size,
                           int64_t limit) {
  int64_t room = std::max<int64_t>(limit - size, 1);
  if (static_cast<int64_t>(bytes.size()) < room) return bytes.size();
  size_t newline = bytes.find('\n', room - 1);
  int64_t end = newline == std::string_view::npos
                    ? static_cast<int64_t>(bytes.size())
                    : static_cast<int64_t>(newline) + 1;
  int64_t latest = std::max<int64_t>(limit + kMaxOverrunBytes - size, 1);
  return std::min(end, latest);
}

// Formats the period in which bytes were lost: "between 2026-03-01 14:05:09 and
// 2026-03-01 14:06:00 UTC".
std::string LostWhen(time_t from, time_t until) {
  char text[96];
  tm first = {};
  tm last = {};
  gmtime_r(&from, &first);
  gmtime_r(&until, &last);
  size_t length =
      strftime(text, sizeof text, "between %Y-%m-%d %H:%M:%S", &first);
  length += strftime(text + length, sizeof text - length,
                     " and %Y-%m-%d %H:%M:%S UTC", &last);
  return std::string(text, length);
}

// Whether `path` still names the file that is open as `fd`.
bool IsSameFile(int fd, const std::string& path) {
  struct stat open_file;
  struct stat named_file;
  return fstat(fd, &open_file) == 0 && stat(path.c_str(), &named_file) == 0 &&
         open_file.st_dev == named_file.st_dev &&
         open_file.st_ino == named_file.st_ino;
}

// Returns the folder that contains the file at `path`.
std::string FolderOf(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == 0 ? "/" : path.substr(0, slash);
}

RotatingFile::Limits WithRoot(RotatingFile::Limits limits,
                              const std::string& path) {
  if (limits.root.empty()) limits.root = FolderOf(path);
  return limits;
}

}  // namespace

RotatingFile::RotatingFile(std::string path, Limits limits,
                           OnTrouble on_trouble, OnEnd on_end)
    : path_(path.find('/') == std::string::npos ? "./" + path
                                                : std::move(path)),
      limits_(WithRoot(std::move(limits), path_)),
      on_trouble_(std::move(on_trouble)),
      on_end_(std::move(on_end)) {}

RotatingFile::~RotatingFile() {
  CloseFile();
  if (lost_bytes_ > 0) {
    on_trouble_(std::to_string(lost_bytes_) + " bytes are missing at the end " +
                "of " + path_);
  }
  if (on_end_) on_end_(totals_);
}

void RotatingFile::Open() {
  std::lock_guard<std::mutex> lock(mutex_);
  absl::Status opened = OpenFile();
  if (!opened.ok()) OnFailure(opened, 0);
}

absl::Status RotatingFile::Reopen() {
  std::lock_guard<std::mutex> lock(mutex_);
  if (access(FolderOf(path_).c_str(), F_OK) != 0) {
    return PathStatus("cannot open", path_, errno);
  }
  absl::StatusOr<OwnedFd> file = OpenPath();
  if (!file.ok()) return file.status();
  CloseFile();
  Adopt(file->Release());
  return absl::OkStatus();
}

void RotatingFile::Write(std::string_view bytes) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (bytes.empty()) return;
  if (IsRemoved()) CloseFile();
  absl::Status status = OpenFile();
  if (status.ok() && failing_) status = EndTrouble();
  if (status.ok()) status = WriteRotating(&bytes);
  if (!status.ok()) OnFailure(status, bytes.size());
}

absl::StatusOr<OwnedFd> RotatingFile::OpenPath() const {
  return OpenFileBelow(limits_.root, path_, kOpenFlags, kFileMode);
}

void RotatingFile::NoteMissing(int64_t bytes) {
  std::lock_guard<std::mutex> lock(mutex_);
  CountLost(bytes);
  failing_ = true;
  absl::Status status = OpenFile();
  if (status.ok()) status = EndTrouble();
  if (!status.ok()) OnFailure(status, 0);
}

RotatingFile::Totals RotatingFile::totals() {
  std::lock_guard<std::mutex> lock(mutex_);
  return totals_;
}

absl::Status RotatingFile::OpenFile() {
  if (fd_ >= 0) return absl::OkStatus();
  absl::StatusOr<OwnedFd> file = OpenPath();
  if (!file.ok()) return file.status();
  Adopt(file->Release());
  return absl::OkStatus();
}

void RotatingFile::Adopt(int fd) {
  fd_ = fd;
  struct stat status;
  size_ = fstat(fd_, &status) == 0 ? status.st_size : 0;
  rotation_due_ = limits_.rotate_bytes > 0 && size_ >= limits_.rotate_bytes;
}

// Writes all of `*bytes`. Each write shortens `*bytes` by the bytes that it
// wrote, so after an error `*bytes` has the rest.
absl::Status RotatingFile::WriteAll(std::string_view* bytes) {
  while (!bytes->empty()) {
    ssize_t written = write(fd_, bytes->data(), bytes->size());
    if (written < 0) {
      if (errno == EINTR) continue;
      return PathStatus("cannot write", path_, errno);
    }
    size_ += written;
    bytes->remove_prefix(written);
  }
  return absl::OkStatus();
}

absl::Status RotatingFile::WriteRotating(std::string_view* bytes) {
  if (limits_.rotate_bytes <= 0) return WriteAll(bytes);
  while (!bytes->empty()) {
    if (rotation_due_) {
      absl::Status rotated = Rotate();
      if (!rotated.ok()) return rotated;
    }
    size_t count = BytesBeforeRotation(*bytes, size_, limits_.rotate_bytes);
    std::string_view piece = bytes->substr(0, count);
    bool line_ended = piece.back() == '\n';
    absl::Status status = WriteAll(&piece);
    bytes->remove_prefix(count - piece.size());
    if (!status.ok()) return status;
    int64_t beyond = size_ - limits_.rotate_bytes;
    rotation_due_ = beyond >= kMaxOverrunBytes || (beyond >= 0 && line_ended);
  }
  return absl::OkStatus();
}

absl::Status RotatingFile::Rotate() {
  rotation_due_ = false;
  // Rotate only if no other process that writes to this path has rotated the
  // file already.
  if (IsSameFile(fd_, path_)) {
    absl::Status shifted = ShiftFiles();
    if (!shifted.ok()) {
      // If the file cannot be rotated, writing continues in the same file: one
      // long file is better than lost bytes. Counting from 0 makes Write retry
      // the rotation after another rotate_bytes.
      size_ = 0;
      if (!rotation_failed_) on_trouble_(std::string(shifted.message()));
      rotation_failed_ = true;
      return absl::OkStatus();
    }
    rotation_failed_ = false;
  }
  CloseFile(limits_.keep <= 0 ? RemovedBy::kRotation : RemovedBy::kOthers);
  return OpenFile();
}

absl::Status RotatingFile::ShiftFiles() {
  const absl::StatusOr<OwnedFd> folder =
      OpenFolderBelow(limits_.root, FolderOf(path_));
  if (!folder.ok()) return folder.status();
  const int at = folder->get();
  const std::string name = path_.substr(path_.rfind('/') + 1);
  const std::string oldest =
      limits_.keep <= 0 ? name : name + "." + std::to_string(limits_.keep);
  struct stat status;
  const int64_t oldest_bytes =
      fstatat(at, oldest.c_str(), &status, 0) == 0 ? status.st_size : 0;
  if (limits_.keep <= 0) {
    if (unlinkat(at, name.c_str(), 0) != 0 && errno != ENOENT) {
      return PathStatus("cannot rotate", path_, errno);
    }
    totals_.dropped += oldest_bytes;
    return absl::OkStatus();
  }
  for (int i = limits_.keep - 1; i >= 0; --i) {
    std::string from = i == 0 ? name : name + "." + std::to_string(i);
    std::string to = name + "." + std::to_string(i + 1);
    const bool renamed = renameat(at, from.c_str(), at, to.c_str()) == 0;
    if (!renamed && errno != ENOENT) {
      return PathStatus("cannot rotate", FolderOf(path_) + "/" + from, errno);
    }
    if (renamed && to == oldest) totals_.dropped += oldest_bytes;
  }
  return absl::OkStatus();
}

// Called when writing works again: notes the number of missing bytes in the
// file.
absl::Status RotatingFile::EndTrouble() {
  if (lost_bytes_ > 0) {
    // Begin a new line: the line before may be incomplete.
    std::string note = "\n";
    if (limits_.gap_note == GapNote::kWritten) {
      note += "[" + std::to_string(lost_bytes_) +
              " bytes are missing here: they could not be written " +
              LostWhen(lost_from_, lost_until_) + "]\n";
    }
    std::string_view rest = note;
    absl::Status written = WriteAll(&rest);
    if (!written.ok()) return written;
    on_trouble_(path_ + " can be written again; " +
                std::to_string(lost_bytes_) + " bytes are missing in it");
  }
  failing_ = false;
  lost_bytes_ = 0;
  return absl::OkStatus();
}

void RotatingFile::CountLost(int64_t bytes) {
  const time_t now = time(nullptr);
  if (lost_bytes_ == 0) lost_from_ = now;
  lost_until_ = now;
  lost_bytes_ += bytes;
  totals_.lost += bytes;
}

void RotatingFile::OnFailure(const absl::Status& status, size_t bytes_lost) {
  CountLost(static_cast<int64_t>(bytes_lost));
  if (!failing_) {
    on_trouble_(std::string(status.message()) +
                "; the job goes on, and what is written is missing from the "
                "file until that is mended");
  }
  failing_ = true;
  // Close the file, so that the next write opens the path again. By then the
  // file's folder may have been mounted or created again.
  CloseFile();
}

bool RotatingFile::IsRemoved() const {
  struct stat status;
  return fd_ >= 0 && fstat(fd_, &status) == 0 && status.st_nlink == 0;
}

void RotatingFile::CloseFile(RemovedBy removed_by) {
  if (fd_ < 0) return;
  struct stat status;
  if (removed_by == RemovedBy::kOthers && IsRemoved() &&
      fstat(fd_, &status) == 0 && status.st_size > 0) {
    totals_.lost += status.st_size;
    if (!removal_told_) {
      on_trouble_(path_ + " was removed while it was written: " +
                  std::to_string(status.st_size) + " bytes are lost");
    }
    removal_told_ = true;
  }
  int result = close(fd_);
  fd_ = -1;
  // Report a failed close, because network file systems report failures of
  // earlier writes at close.
  if (result != 0 && errno != EINTR && !failing_) {
    on_trouble_(
        std::string(PathStatus("cannot finish", path_, errno).message()));
  }
}

}  // namespace muster
