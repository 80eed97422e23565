#ifndef MUSTER_BASE_ROTATING_FILE_H_
#define MUSTER_BASE_ROTATING_FILE_H_

#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace muster {

// A file that is appended to and moved aside when it has grown: path -> path.1
// -> … -> path.<keep>, the oldest of which is dropped. That happens at the
// first end of a line beyond the limit, or 64 KiB beyond it if no line ends by
// then.
//
// Never fatal: what cannot be written (full disk, lost mount) is counted and
// told once; each later write tries again, opening the file anew. Once it
// works, a line in the file says how many bytes are missing there.
//
// Several processes may append to one path; each follows a rotation made by
// another. Thread-safe; blocks as long as the file system does.
class RotatingFile {
 public:
  // Whether the line about missing bytes is written into the file, or only told
  // (for files that programs read; an empty line is there then).
  enum class GapNote { kWritten, kLeftOut };
  struct Limits {
    int64_t rotate_bytes = 0;  // 0: never
    int keep = 0;              // files beside the current one
    GapNote gap_note = GapNote::kWritten;
  };
  // Told in whole sentences, from the thread that writes.
  using OnTrouble = std::function<void(const std::string& sentence)>;

  // Touches nothing until Open or Write.
  RotatingFile(std::string path, Limits limits, OnTrouble on_trouble);
  ~RotatingFile();

  RotatingFile(const RotatingFile&) = delete;
  RotatingFile& operator=(const RotatingFile&) = delete;

  // Makes the folders and the file, so that it is there even if nothing is
  // written. A failure is told as any other and counts no bytes.
  void Open();

  // Opens the path anew, after somebody has moved the file away. The status
  // says why that failed, and the old file is kept.
  absl::Status Reopen();

  // Appends `bytes`, all of them or as many as the file system takes.
  void Write(std::string_view bytes);

  const std::string& path() const { return path_; }

 private:
  absl::Status OpenFile();
  void Adopt(int fd);
  absl::Status WriteAll(std::string_view* bytes);
  absl::Status WriteRotating(std::string_view* bytes);
  absl::Status Rotate();
  absl::Status ShiftFiles();
  absl::Status EndTrouble();
  void OnFailure(const absl::Status& status, size_t bytes_lost);
  void CloseFile();

  const std::string path_;
  const Limits limits_;
  const OnTrouble on_trouble_;

  std::mutex mutex_;  // guards what follows
  int fd_ = -1;
  int64_t size_ = 0;
  bool rotation_due_ = false;
  bool rotation_failed_ = false;  // and was told
  bool failing_ = false;          // and was told
  int64_t lost_bytes_ = 0;        // since it began to fail
};

}  // namespace muster

#endif  // MUSTER_BASE_ROTATING_FILE_H_
