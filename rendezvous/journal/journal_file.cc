#include "rendezvous/journal/journal_file.h"

#include <fcntl.h>
#include <limits.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <optional>
#include <sstream>
#include <vector>

#include "base/check.h"
#include "base/folder.h"
#include "base/owned_fd.h"
#include "rendezvous/journal/journal_copy.h"

namespace muster::rendezvous {
namespace {

// SQLite's application_id of a journal of Muster: "Mstr" in ASCII.
constexpr int64_t kApplicationId = 0x4d737472;
// The version of the table layout (user_version).
constexpr int64_t kVersion = 1;
constexpr char kCreateTables[] =
    "BEGIN IMMEDIATE;"
    "PRAGMA application_id = 1299412082;"  // the value of kApplicationId
    "PRAGMA user_version = 1;"             // the value of kVersion
    "CREATE TABLE run (epoch INTEGER NOT NULL);"
    "INSERT INTO run VALUES (0);"
    "CREATE TABLE job (run_id TEXT PRIMARY KEY, record BLOB NOT NULL)"
    " WITHOUT ROWID;"
    "CREATE TABLE memory (name TEXT PRIMARY KEY, record BLOB NOT NULL)"
    " WITHOUT ROWID;"
    "COMMIT";
// The table for the record kNodeMemoryKey. Files of older versions lack it.
// Older versions of Muster ignore this table, so it did not need a new
// kVersion.
constexpr char kCreateMemoryTable[] =
    "CREATE TABLE IF NOT EXISTS memory"
    " (name TEXT PRIMARY KEY, record BLOB NOT NULL) WITHOUT ROWID";
static_assert(kApplicationId == 1299412082 && kVersion == 1);

// The first byte of the range in the file that SQLite locks.
constexpr int64_t kFirstLockedByte = 0x40000000;

std::string Octal(mode_t mode) {
  std::ostringstream text;
  text << "0" << std::oct << (mode & 07777);
  return text.str();
}

absl::Status WithRemedy(const absl::Status& error, const std::string& remedy) {
  return absl::Status(error.code(), std::string(error.message()) + remedy);
}

// Checks the owner and the mode of a file or folder. PermissionDenied: other
// users can replace, read or change `path`.
absl::Status CheckOwner(const std::string& path, const struct stat& info) {
  if (info.st_uid != geteuid()) {
    return absl::PermissionDeniedError(
        "cannot use " + path + ": it belongs to user " +
        std::to_string(info.st_uid) + ", and this process runs as user " +
        std::to_string(geteuid()) +
        "; name a folder that this user has created");
  }
  if ((info.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
    return absl::PermissionDeniedError(
        "cannot use " + path + ": other users can write to it (mode " +
        Octal(info.st_mode) + "); run chmod go-w " + path);
  }
  return absl::OkStatus();
}

// Creates `folder` if it is missing. The new folder survives a power loss.
absl::Status MakeFolder(const std::string& folder) {
  const auto make = [&] {
    return mkdir(folder.c_str(), 0700) == 0 ? 0 : errno;
  };
  int error = make();
  const size_t slash = folder.find_last_of('/');
  if (error == ENOENT && slash != std::string::npos && slash > 0) {
    absl::Status above = CreateFolder(folder.substr(0, slash));
    if (!above.ok()) return above;
    error = make();
  }
  if (error == EEXIST) return absl::OkStatus();
  if (error != 0) return PathStatus("cannot create folder", folder, error);
  const OwnedFd parent(
      open((folder + "/..").c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  // Ignore an error, because some file systems cannot sync a folder.
  if (parent.open()) fsync(parent.get());
  return absl::OkStatus();
}

absl::Status CheckFolder(const std::string& folder) {
  const absl::Status made = MakeFolder(folder);
  if (!made.ok()) return WithRemedy(made, "; name another folder");
  struct stat info;
  if (stat(folder.c_str(), &info) != 0) {
    return WithRemedy(PathStatus("cannot use folder", folder, errno),
                      "; name another folder");
  }
  if (!S_ISDIR(info.st_mode)) {
    return absl::InvalidArgumentError("cannot use " + folder +
                                      ": it is not a folder; name another one");
  }
  return CheckOwner(folder, info);
}

// Checks the file at `path` and returns its size in bytes; nullopt: it does not
// exist. FailedPrecondition: not a regular file. PermissionDenied: other users
// can change the file.
absl::StatusOr<std::optional<int64_t>> CheckFile(const std::string& path) {
  struct stat info;
  if (lstat(path.c_str(), &info) != 0) {
    if (errno == ENOENT) return std::optional<int64_t>();
    return WithRemedy(PathStatus("cannot use", path, errno),
                      "; name another folder");
  }
  if (!S_ISREG(info.st_mode)) {
    return absl::FailedPreconditionError(
        "cannot use " + path + ": it is " +
        (S_ISLNK(info.st_mode) ? "a symbolic link" : "not a regular file") +
        "; remove it, or name another folder");
  }
  const absl::Status owned = CheckOwner(path, info);
  if (!owned.ok()) return owned;
  return std::optional<int64_t>(info.st_size);
}

// Creates the file at `path` if it is missing. Does not open an existing file:
// if this process already has it open as a journal, the close of a second
// descriptor would release the journal's lock.
absl::Status CheckOrCreateFile(const std::string& path) {
  const auto main = CheckFile(path);
  if (!main.ok()) return main.status();
  const auto log = CheckFile(path + "-wal");
  if (!log.ok()) return log.status();
  const auto undo = CheckFile(path + "-journal");
  if (!undo.ok()) return undo.status();
  // SQLite would delete the write-ahead log, with its commits, if the main file
  // is missing or empty. So refuse this case.
  if (main->value_or(0) == 0 && log->value_or(0) > 0) {
    return absl::DataLossError("cannot use " + path + ": it is " +
                               (main->has_value() ? "empty" : "missing") +
                               ", but " + path +
                               "-wal, which belongs to it, is there; restore "
                               "the file, or name another folder");
  }
  if (!main->has_value() && mknod(path.c_str(), S_IFREG | 0600, 0) != 0 &&
      errno != EEXIST) {
    return WithRemedy(PathStatus("cannot create", path, errno),
                      "; name another folder");
  }
  return absl::OkStatus();
}

// Returns the process on this host that has locked the file for SQLite,
// according to /proc/locks; 0: unknown. Ignores the device number, because on
// overlayfs and Btrfs it differs from the one that stat returns.
int64_t LockHolder(const std::string& path) {
  struct stat info;
  if (stat(path.c_str(), &info) != 0) return 0;
  std::ifstream locks("/proc/locks");
  for (std::string line; std::getline(locks, line);) {
    // Example of a line of /proc/locks: "5: POSIX ADVISORY WRITE 4711
    // 08:01:131075 1073741824 1073742335". 4711 is the pid, 131075 the inode;
    // the last two numbers are the first and last locked byte.
    std::istringstream words(line);
    std::string number, kind, advisory, access, place;
    int64_t pid = 0;
    int64_t first = 0;
    words >> number >> kind >> advisory >> access >> pid >> place >> first;
    const std::string inode = place.substr(place.find_last_of(':') + 1);
    if (words && kind == "POSIX" && inode == std::to_string(info.st_ino) &&
        first >= kFirstLockedByte) {
      return pid;
    }
  }
  return 0;
}

}  // namespace

std::string JournalFile::PathIn(const std::string& folder) {
  return folder + (folder.ends_with('/') ? "" : "/") + "coordinator.journal";
}

absl::StatusOr<std::unique_ptr<JournalFile>> JournalFile::Open(
    std::string folder, uint64_t least_epoch) {
  while (folder.size() > 1 && folder.back() == '/') folder.pop_back();
  absl::Status status = CheckFolder(folder);
  if (!status.ok()) return status;
  // Symbolic links may occur in the folder's path, but the files must not be
  // links.
  char resolved[PATH_MAX];
  if (realpath(folder.c_str(), resolved) == nullptr) {
    return WithRemedy(PathStatus("cannot use folder", folder, errno),
                      "; name another folder");
  }
  std::unique_ptr<JournalFile> file(new JournalFile(PathIn(folder)));
  status = CheckOrCreateFile(file->path_);
  if (status.ok()) status = file->Connect(PathIn(resolved));
  if (status.ok()) status = file->Inspect();
  if (status.ok()) status = file->CreateTables();
  if (status.ok()) status = file->Prepare();
  if (status.ok()) status = file->DrawEpoch(least_epoch);
  if (status.ok()) status = file->ReadRecords();
  if (!status.ok()) return status;
  return file;
}

absl::StatusOr<std::map<std::string, std::string>> JournalFile::RecordsIn(
    const std::string& folder) {
  const std::string path = PathIn(folder);
  const absl::StatusOr<JournalCopy> copy = JournalCopy::Of(path);
  if (!copy.ok()) return copy.status();
  JournalFile file(path);
  absl::Status status = file.Connect(copy->path());
  if (status.ok()) status = file.Inspect();
  if (status.ok()) status = file.CreateTables();
  if (status.ok()) status = file.ReadRecords();
  if (!status.ok()) return status;
  return file.TakeRecords();
}

JournalFile::~JournalFile() {
  for (sqlite3_stmt* const statement :
       {begin_, commit_, rollback_, put_, remove_, put_memory_}) {
    sqlite3_finalize(statement);
  }
  sqlite3_close(connection_);
}

absl::Status JournalFile::Connect(const std::string& resolved) {
  const int code = sqlite3_open_v2(
      resolved.c_str(), &connection_,
      SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_NOFOLLOW,
      nullptr);
  if (code != SQLITE_OK) return CannotOpen(code);
  if (sqlite3_db_readonly(connection_, "main") == 1) {
    return CannotOpen(SQLITE_READONLY);
  }
  // The file may belong to another program. So a close of the file must leave
  // its write-ahead log unchanged. DrawEpoch ends this setting, because the
  // file is then known to be a journal.
  sqlite3_db_config(connection_, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
  // The locking mode must be set before the file is accessed for the first
  // time.
  const int set = Execute(
      "PRAGMA locking_mode = EXCLUSIVE;"
      "PRAGMA synchronous = FULL;"
      "PRAGMA temp_store = MEMORY;"
      "PRAGMA journal_size_limit = 4194304");
  return set == SQLITE_OK ? absl::OkStatus() : CannotOpen(set);
}

absl::Status JournalFile::Inspect() {
  int64_t application = 0;
  int64_t version = 0;
  int64_t tables = 0;
  int code = Read("PRAGMA application_id", &application);
  if (code == SQLITE_OK) code = Read("PRAGMA user_version", &version);
  if (code == SQLITE_OK) {
    code = Read("SELECT count(*) FROM sqlite_schema", &tables);
  }
  if (code != SQLITE_OK) return CannotOpen(code);
  if (application == 0 && version == 0 && tables == 0) {
    is_new_ = true;
    return absl::OkStatus();
  }
  if (application != kApplicationId) {
    return absl::FailedPreconditionError(
        "cannot use " + path_ +
        ": it is an SQLite database of another program; name another folder");
  }
  if (version > kVersion) {
    return absl::FailedPreconditionError(
        "cannot use " + path_ + ": a newer Muster has written it (version " +
        std::to_string(version) + ", and this one knows " +
        std::to_string(kVersion) +
        "); use the newer Muster, or name another folder");
  }
  if (version != kVersion) {
    return Damaged("its version is " + std::to_string(version));
  }
  int64_t queries = 0;
  code =
      Read("SELECT count(*) FROM sqlite_schema WHERE rootpage = 0", &queries);
  if (code != SQLITE_OK) return CannotOpen(code);
  if (queries > 0) return Damaged("it has views, triggers or virtual tables");
  std::string verdict;
  code = Read("PRAGMA quick_check(1)", &verdict);
  if (code != SQLITE_OK) return CannotOpen(code);
  if (verdict != "ok") {
    // quick_check returns a heading and one line with the problem. Take only
    // the last line, the problem.
    return Damaged(verdict.substr(verdict.find_last_of('\n') + 1));
  }
  return absl::OkStatus();
}

absl::Status JournalFile::CreateTables() {
  if (is_new_) {
    const int code = Execute(kCreateTables);
    if (code != SQLITE_OK) return CannotOpen(code);
  }
  // The switch to the write-ahead log changes the file, so the file must have
  // passed all checks before.
  std::string mode;
  const int code = Read("PRAGMA journal_mode = WAL", &mode);
  if (code != SQLITE_OK) return CannotOpen(code);
  MUSTER_CHECK(mode == "wal") << mode;
  const int created = Execute(kCreateMemoryTable);
  return created == SQLITE_OK ? absl::OkStatus() : CannotOpen(created);
}

absl::Status JournalFile::Prepare() {
  const std::pair<sqlite3_stmt**, const char*> statements[] = {
      {&begin_, "BEGIN IMMEDIATE"},
      {&commit_, "COMMIT"},
      {&rollback_, "ROLLBACK"},
      {&put_, "REPLACE INTO job (run_id, record) VALUES (?1, ?2)"},
      {&remove_, "DELETE FROM job WHERE run_id = ?1"},
      {&put_memory_, "REPLACE INTO memory (name, record) VALUES (?1, ?2)"},
  };
  for (const auto& [statement, sql] : statements) {
    const int code = sqlite3_prepare_v3(
        connection_, sql, -1, SQLITE_PREPARE_PERSISTENT, statement, nullptr);
    if (code != SQLITE_OK) return CannotOpen(code);
  }
  return absl::OkStatus();
}

absl::Status JournalFile::DrawEpoch(uint64_t least_epoch) {
  int64_t last = 0;
  int code = Run(begin_);
  if (code == SQLITE_OK) code = Read("SELECT epoch FROM run", &last);
  if (code != SQLITE_OK) return CannotOpen(code);
  epoch_ = std::max(static_cast<uint64_t>(last) + 1, least_epoch);
  sqlite3_stmt* update = nullptr;
  code = sqlite3_prepare_v2(connection_, "UPDATE run SET epoch = ?1", -1,
                            &update, nullptr);
  if (code == SQLITE_OK) {
    sqlite3_bind_int64(update, 1, static_cast<int64_t>(epoch_));
    code = Run(update);
  }
  sqlite3_finalize(update);
  if (code == SQLITE_OK) code = Run(commit_);
  if (code != SQLITE_OK) return CannotOpen(code);
  sqlite3_db_config(connection_, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0, nullptr);
  return absl::OkStatus();
}

absl::Status JournalFile::ReadRecords() {
  sqlite3_stmt* query = nullptr;
  int code = sqlite3_prepare_v2(connection_,
                                "SELECT run_id, record FROM job UNION ALL "
                                "SELECT name, record FROM memory",
                                -1, &query, nullptr);
  const auto column = [&](int index) {
    const void* const bytes = sqlite3_column_blob(query, index);
    const int size = sqlite3_column_bytes(query, index);
    return std::string(static_cast<const char*>(bytes),
                       static_cast<size_t>(size));
  };
  if (code == SQLITE_OK) {
    while ((code = sqlite3_step(query)) == SQLITE_ROW) {
      records_.emplace(column(0), column(1));
    }
    if (code == SQLITE_DONE) code = SQLITE_OK;
  }
  sqlite3_finalize(query);
  return code == SQLITE_OK ? absl::OkStatus() : CannotOpen(code);
}

PendingRecords::Refused JournalFile::RefusedIn(
    const PendingRecords::Batch& batch) const {
  PendingRecords::Refused refused;
  for (const auto& [run_id, record] : batch) {
    if (!record || record->size() <= kMaxRecordBytes) continue;
    refused[run_id] = "cannot write " + path_ + ": the job's record has " +
                      std::to_string(record->size()) + " bytes; at most " +
                      std::to_string(kMaxRecordBytes) + " are kept";
  }
  return refused;
}

absl::StatusOr<PendingRecords::Refused> JournalFile::Write(
    const PendingRecords::Batch& batch) {
  int moved = 0;
  sqlite3_file_control(connection_, "main", SQLITE_FCNTL_HAS_MOVED, &moved);
  if (moved != 0) {
    return absl::DataLossError("cannot write " + path_ +
                               ": it was removed or replaced");
  }
  const int code = WriteChanges(batch);
  if (code == SQLITE_OK) return RefusedIn(batch);
  const std::string cause = Cause(code);
  // Roll back only if the transaction is still open (autocommit is 0): after
  // some errors SQLite has already rolled it back.
  if (sqlite3_get_autocommit(connection_) == 0) Run(rollback_);
  return absl::UnavailableError("cannot write " + path_ + ": " + cause);
}

int JournalFile::WriteChanges(const PendingRecords::Batch& batch) {
  int code = Run(begin_);
  for (const auto& [run_id, record] : batch) {
    if (code != SQLITE_OK) return code;
    const bool is_kept = record && record->size() <= kMaxRecordBytes;
    sqlite3_stmt* const put = run_id == kNodeMemoryKey ? put_memory_ : put_;
    sqlite3_stmt* const change = is_kept ? put : remove_;
    code = sqlite3_bind_text64(change, 1, run_id.data(), run_id.size(),
                               SQLITE_STATIC, SQLITE_UTF8);
    if (code == SQLITE_OK && is_kept) {
      code = sqlite3_bind_blob64(change, 2, record->data(), record->size(),
                                 SQLITE_STATIC);
    }
    if (code == SQLITE_OK) code = Run(change);
    sqlite3_clear_bindings(change);
  }
  return code == SQLITE_OK ? Run(commit_) : code;
}

int JournalFile::Execute(const char* sql) {
  return sqlite3_exec(connection_, sql, nullptr, nullptr, nullptr);
}

int JournalFile::Read(const char* sql, int64_t* number) {
  std::string text;
  const int code = Read(sql, &text);
  *number = std::atoll(text.c_str());
  return code;
}

int JournalFile::Read(const char* sql, std::string* text) {
  sqlite3_stmt* query = nullptr;
  int code = sqlite3_prepare_v2(connection_, sql, -1, &query, nullptr);
  if (code == SQLITE_OK) {
    code = sqlite3_step(query);
    if (code == SQLITE_ROW) {
      const auto* const bytes = sqlite3_column_text(query, 0);
      if (bytes != nullptr) *text = reinterpret_cast<const char*>(bytes);
      code = SQLITE_OK;
    } else if (code == SQLITE_DONE) {
      code = SQLITE_CORRUPT;  // the query must return a row, but has none
    }
  }
  sqlite3_finalize(query);
  return code;
}

int JournalFile::Run(sqlite3_stmt* statement) {
  const int code = sqlite3_step(statement);
  sqlite3_reset(statement);
  return code == SQLITE_DONE ? SQLITE_OK : code;
}

std::string JournalFile::Cause(int code) const {
  const int error = sqlite3_system_errno(connection_);
  switch (code & 0xff) {
    case SQLITE_FULL:
      return "the disk is full";
    case SQLITE_IOERR:
    case SQLITE_CANTOPEN:
      if (error != 0) return std::strerror(error);
      break;
    default:
      break;
  }
  return sqlite3_errstr(code);
}

absl::Status JournalFile::CannotOpen(int code) const {
  const std::string cannot = "cannot open " + path_ + ": ";
  const int error = sqlite3_system_errno(connection_);
  switch (code & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED: {
      const int64_t holder = LockHolder(path_);
      return absl::UnavailableError(
          cannot + "it is in use by " +
          (holder > 0 ? "process " + std::to_string(holder)
                      : "another process") +
          "; end that coordinator, or name another folder");
    }
    case SQLITE_NOTADB:
      return absl::FailedPreconditionError(
          cannot + "it is not an SQLite database; name another folder");
    case SQLITE_CORRUPT:
    case SQLITE_ERROR:  // a table or column is missing
      return Damaged(sqlite3_errmsg(connection_));
    case SQLITE_PERM:
    case SQLITE_READONLY:
      return absl::PermissionDeniedError(
          cannot + "this user has no permission to write it; run chmod u+rw " +
          path_ + ", or name another folder");
    case SQLITE_FULL:
      return absl::ResourceExhaustedError(
          cannot + "the disk is full; free space, or name another folder");
    default:
      break;
  }
  const absl::StatusCode kind = error == 0
                                    ? absl::StatusCode::kInternal
                                    : PathStatus("", path_, error).code();
  return absl::Status(kind, cannot + Cause(code) + "; name another folder");
}

absl::Status JournalFile::Damaged(const std::string& what) const {
  return absl::DataLossError("cannot use " + path_ + ": it is damaged (" +
                             what + "); restore it, or name another folder");
}

}  // namespace muster::rendezvous
