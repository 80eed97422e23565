#ifndef MUSTER_RENDEZVOUS_JOURNAL_JOURNAL_COPY_H_
#define MUSTER_RENDEZVOUS_JOURNAL_JOURNAL_COPY_H_

#include <string>
#include <utility>

#include "absl/status/statusor.h"

namespace muster::rendezvous {

// A copy of a journal's file, with its write-ahead log, in a new folder (mode
// 0700) below $TMPDIR or /tmp. The destructor removes the folder.
//
// The copy shows the journal after one of its commits, even if a coordinator
// writes the journal while it is copied. The original is only read, and not
// locked, so a coordinator that has the journal open is not disturbed.
class JournalCopy {
 public:
  // Copies the journal at `path`. An error is one sentence that names the path
  // and says what to do.
  //   NotFound            there is no journal
  //   FailedPrecondition  not a regular file
  //   DataLoss            the file is missing or empty, but its log is there
  //   PermissionDenied    this user has no permission to read it
  //   ResourceExhausted   the file is larger than kMaxBytes, or the folder of
  //                       the copy has no space left
  //   Unavailable         SQLite began the log anew during every attempt
  //   Internal            another error of the file system
  static absl::StatusOr<JournalCopy> Of(const std::string& path);
  ~JournalCopy();
  JournalCopy(JournalCopy&& other) noexcept
      : folder_(std::exchange(other.folder_, "")) {}
  JournalCopy& operator=(JournalCopy&&) = delete;

  // The path of the copied file, without symbolic links.
  std::string path() const;

  // Maximum size in bytes of a journal's main file, and of its write-ahead log.
  static constexpr int64_t kMaxBytes = int64_t{4} << 30;

 private:
  explicit JournalCopy(std::string folder) : folder_(std::move(folder)) {}

  // Copies the files of the journal at `from` into the folder `folder_`, and
  // replaces the files that an earlier attempt has copied.
  absl::Status Fill(const std::string& from);

  std::string folder_;  // path of the folder with the copy; empty after a move
};

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_JOURNAL_JOURNAL_COPY_H_
