#ifndef MUSTER_BASE_ROTATING_FILE_H_
#define MUSTER_BASE_ROTATING_FILE_H_

#include <cstdint>
#include <ctime>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/owned_fd.h"

namespace muster {

// A log file that is rotated when it has grown: path -> path.1 -> … ->
// path.<keep>; the oldest file is deleted. Rotates at the first end of a line
// beyond Limits::rotate_bytes, or 64 KiB beyond this size if no line has ended
// by then.
//
// Errors are never fatal: bytes that cannot be written (disk full, lost mount)
// are counted, and the error is reported once. Each later write opens the file
// again and retries. After a success, a line in the file says how many bytes
// are missing. A file that was removed while it was open is reported once and
// created again.
//
// Several processes may append to one path; each follows the rotations of the
// others. Thread-safe; blocks as long as the file system does.
class RotatingFile {
 public:
  // Whether a line in the file says how many bytes are missing. kLeftOut, for
  // files that programs read: the file gets an empty line instead, and only
  // OnTrouble reports the number of missing bytes.
  enum class GapNote { kWritten, kLeftOut };
  struct Limits {
    // Size in bytes at which the file is rotated; 0: never.
    int64_t rotate_bytes = 0;
    int keep = 0;  // number of rotated files to keep
    GapNote gap_note = GapNote::kWritten;
    // A folder given by the user, in which other users may write. The file lies
    // below this folder and is opened as base/file_below.h says. Empty: the
    // folder in which the file lies.
    std::string root;
  };
  // Receives whole sentences about errors, on the thread that writes.
  using OnTrouble = std::function<void(const std::string& sentence)>;

  // Numbers of bytes that are missing from the files: bytes that were passed to
  // Write and are in no file any more, and bytes passed to NoteMissing.
  struct Totals {
    // Bytes that could not be written, that the caller has dropped
    // (NoteMissing), or that were in a file which another program removed while
    // it was open.
    int64_t lost = 0;
    int64_t dropped = 0;  // bytes in files that a rotation deleted
  };
  // Called once, by the destructor, after the last call of OnTrouble.
  using OnEnd = std::function<void(const Totals& totals)>;

  // The constructor does not access the file system; Open and Write do.
  RotatingFile(std::string path, Limits limits, OnTrouble on_trouble,
               OnEnd on_end = nullptr);
  ~RotatingFile();

  RotatingFile(const RotatingFile&) = delete;
  RotatingFile& operator=(const RotatingFile&) = delete;

  // Creates the parent folders and the file, so that it exists even if nothing
  // is written. A failure is reported like a failure of Write, but counts no
  // lost bytes.
  void Open();

  // Opens the path again after another program has moved the file away. On
  // failure returns the reason and continues with the old file.
  absl::Status Reopen();

  // Appends `bytes`, or as many as the file system accepts.
  void Write(std::string_view bytes);

  // Counts bytes that the caller has dropped instead of passing them to Write,
  // and notes in the file that they are missing.
  void NoteMissing(int64_t bytes);

  Totals totals();
  const std::string& path() const { return path_; }

 private:
  absl::StatusOr<OwnedFd> OpenPath() const;
  absl::Status OpenFile();
  void Adopt(int fd);
  absl::Status WriteAll(std::string_view* bytes);
  absl::Status WriteRotating(std::string_view* bytes);
  absl::Status Rotate();
  absl::Status ShiftFiles();
  absl::Status EndTrouble();
  void OnFailure(const absl::Status& status, size_t bytes_lost);
  void CountLost(int64_t bytes);
  enum class RemovedBy { kOthers, kRotation };
  // Closes the file. `removed_by` says how to count the bytes of a file that
  // has been removed. kOthers: another program has removed the file, so its
  // bytes count as lost. kRotation: Rotate has removed the file and has already
  // counted its bytes.
  void CloseFile(RemovedBy removed_by = RemovedBy::kOthers);
  bool IsRemoved() const;

  const std::string path_;
  const Limits limits_;
  const OnTrouble on_trouble_;
  const OnEnd on_end_;

  std::mutex mutex_;  // guards the members below
  int fd_ = -1;
  int64_t size_ = 0;
  bool rotation_due_ = false;
  // whether a failed rotation was reported and no rotation has succeeded since
  bool rotation_failed_ = false;
  // Whether a write failed or bytes were dropped, and EndTrouble has not yet
  // noted in the file how many bytes are missing.
  bool failing_ = false;
  bool removal_told_ = false;
  // Number of lost bytes that are not yet noted in the file.
  int64_t lost_bytes_ = 0;
  // lost_from_, lost_until_: the times at which the first and the last of the
  // `lost_bytes_` bytes were lost.
  time_t lost_from_ = 0;
  time_t lost_until_ = 0;
  Totals totals_;
};

}  // namespace muster

#endif  // MUSTER_BASE_ROTATING_FILE_H_
