#ifndef MUSTER_RENDEZVOUS_JOURNAL_JOURNAL_FILE_H_
#define MUSTER_RENDEZVOUS_JOURNAL_JOURNAL_FILE_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "rendezvous/journal/pending_records.h"
#include "rendezvous/journal/record_store.h"

struct sqlite3;
struct sqlite3_stmt;

namespace muster::rendezvous {

// The SQLite file of a journal: a table of records by run id, and the epoch.
//
// Each call blocks for as long as the file system does. Not thread-safe.
//
// With SQLite's write-ahead log (WAL), a commit is one write and one fsync.
// After a crash the file contains all commits up to some point. This process
// locks the file for as long as it is open (locking_mode=EXCLUSIVE): SQLite
// then needs no shared memory, which does not work on NFS. The lock is a POSIX
// lock of the whole process, so no other code of this process may open and
// close the file: the close would release the lock.
class JournalFile : public JournalBackend {
 public:
  // Maximum size of a record; SQLite refuses values of more than 10^9 bytes.
  static constexpr size_t kMaxRecordBytes = 256 << 20;

  // Returns the path of the journal in `folder`.
  static std::string PathIn(const std::string& folder);

  // Opens FOLDER/coordinator.journal and begins its next epoch: one more than
  // the last one, and at least `least_epoch`. Creates the folder (mode 0700)
  // and the file (mode 0600) if missing. An error is one sentence that names
  // the path and says what to do, and leaves the file unchanged.
  //   Unavailable         another process has the file open
  //   FailedPrecondition  the file belongs to another program or a newer Muster
  //   DataLoss            the file is damaged
  //   PermissionDenied    other users own the folder or file, or can write
  //                       there; or this user has no permission
  //   ResourceExhausted   no space is left
  //   Internal            another error of the file system
  static absl::StatusOr<std::unique_ptr<JournalFile>> Open(
      std::string folder, uint64_t least_epoch);
  // Reads the records of the journal in `folder` as they are after its newest
  // commit, by run id. Reads a JournalCopy, so the file is neither changed nor
  // locked, and a coordinator may have it open. The file need not belong to
  // this user, and is not trusted. The errors are those of JournalCopy::Of, and
  // FailedPrecondition and DataLoss as for Open.
  static absl::StatusOr<std::map<std::string, std::string>> RecordsIn(
      const std::string& folder);
  // Closes the file and moves the write-ahead log into it.
  ~JournalFile() override;

  JournalFile(const JournalFile&) = delete;
  JournalFile& operator=(const JournalFile&) = delete;

  // Writes `batch` in one transaction. OK: the changes are durable, except the
  // records in the result, which exceed kMaxRecordBytes. After an error the
  // file is unchanged; the message is a clause with the path: "cannot write …:
  // the disk is full".
  absl::StatusOr<PendingRecords::Refused> Write(
      const PendingRecords::Batch& batch) override;
  std::map<std::string, std::string> TakeRecords() override {
    return std::move(records_);
  }
  uint64_t epoch() const override { return epoch_; }

 private:
  explicit JournalFile(std::string path) : path_(std::move(path)) {}

  // Open calls the functions from Connect to ReadRecords in this order.
  //
  // Connects SQLite to the file. `resolved`: the path of the file without
  // symbolic links.
  absl::Status Connect(const std::string& resolved);
  // Refuses a file that is not a journal of this version. Also refuses a file
  // with views, triggers or virtual tables: reading from one of these runs SQL
  // statements of the file, which might never end. Does not change the file.
  absl::Status Inspect();
  absl::Status CreateTables();
  absl::Status Prepare();
  absl::Status DrawEpoch(uint64_t least_epoch);
  absl::Status ReadRecords();

  // The functions below return an SQLite code, SQLITE_OK on success.
  int Execute(const char* sql);
  // Reads the single value that the query `sql` returns.
  int Read(const char* sql, int64_t* number);
  int Read(const char* sql, std::string* text);
  // Runs a prepared statement that returns no rows.
  int Run(sqlite3_stmt* statement);
  int WriteChanges(const PendingRecords::Batch& batch);
  // Returns the records of `batch` that exceed kMaxRecordBytes, with the
  // reason.
  PendingRecords::Refused RefusedIn(const PendingRecords::Batch& batch) const;

  // Returns the cause of the SQLite error `code` as text, such as "the disk is
  // full".
  std::string Cause(int code) const;
  // Returns the status with which Open fails because of the SQLite error
  // `code`.
  absl::Status CannotOpen(int code) const;
  absl::Status Damaged(const std::string& what) const;

  const std::string path_;
  sqlite3* connection_ = nullptr;
  sqlite3_stmt* begin_ = nullptr;
  sqlite3_stmt* commit_ = nullptr;
  sqlite3_stmt* rollback_ = nullptr;
  sqlite3_stmt* put_ = nullptr;
  sqlite3_stmt* remove_ = nullptr;
  sqlite3_stmt* put_memory_ = nullptr;
  bool is_new_ = false;  // the file contains no tables yet
  uint64_t epoch_ = 0;
  std::map<std::string, std::string> records_;
};

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_JOURNAL_JOURNAL_FILE_H_
