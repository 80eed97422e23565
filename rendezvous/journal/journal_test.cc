// Tests of Journal. A layer between SQLite and the file system simulates a disk
// that hangs, is full or fails, and counts the syncs. In the crash tests, the
// test program starts itself as a process that writes a journal (see main).
#include "rendezvous/journal/journal.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "base/monotonic_clock.h"
#include "base/owned_fd.h"
#include "base/subprocess.h"
#include "base/write_all.h"
#include "rendezvous/journal/journal_copy.h"
#include "rendezvous/journal/journal_file.h"

namespace muster::rendezvous {
namespace {

namespace fs = std::filesystem;

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

using Records = std::map<std::string, std::string>;

constexpr std::chrono::seconds kLong(60);
constexpr std::chrono::hours kForever(1);
constexpr uid_t kNobody = 65534;

// A simulated disk: an SQLite VFS layer over the real file system.
class Disk {
 public:
  enum class Mode {
    kWorks,
    kHangs,       // writes and syncs block
    kFull,        // writes fail
    kCannotSync,  // syncs fail
  };

  // Never destroyed, because an abandoned thread may use the disk until the
  // process ends.
  static Disk& Get() {
    static Disk* const disk = new Disk;
    return *disk;
  }

  void Set(Mode mode) {
    std::lock_guard<std::mutex> lock(mutex_);
    mode_ = mode;
    steps_left_.reset();
    changed_.notify_all();
  }
  // The kind of failure that a call of WorkFor plans: after `count` successful
  // writes and syncs of the simulated disk, the next one fails in this way.
  enum class Later {
    kFull,         // the disk is full from now on
    kIsKilled,     // the process is killed
    kLosesAll,     // power loss; unsynced writes are lost
    kLosesSome,    // power loss; half of the unsynced writes are lost
    kLosesOthers,  // power loss; another half of the unsynced writes is lost
  };
  void WorkFor(int count, Later later) {
    std::lock_guard<std::mutex> lock(mutex_);
    mode_ = Mode::kWorks;
    steps_left_ = count;
    later_ = later;
    random_.seed(static_cast<unsigned>(count * 10 + static_cast<int>(later)));
  }
  int syncs() {
    std::lock_guard<std::mutex> lock(mutex_);
    return syncs_;
  }
  // Waits until the disk has been synced `count` times. Returns false after
  // kLong.
  bool AwaitSyncs(int count) {
    std::unique_lock<std::mutex> lock(mutex_);
    return changed_.wait_for(lock, kLong, [&] { return syncs_ >= count; });
  }
  // Waits until a thread is blocked by a hanging disk. Returns false after
  // kLong.
  bool AwaitHung() {
    std::unique_lock<std::mutex> lock(mutex_);
    return changed_.wait_for(lock, kLong, [this] { return hung_ > 0; });
  }
  // Waits until no thread is blocked by a hanging disk. Returns false after
  // kLong.
  bool AwaitNoneHung() {
    std::unique_lock<std::mutex> lock(mutex_);
    return changed_.wait_for(lock, kLong, [this] { return hung_ == 0; });
  }

 private:
  struct File {
    sqlite3_file base;
    sqlite3_file* real() { return reinterpret_cast<sqlite3_file*>(this + 1); }
  };
  static sqlite3_file* Real(sqlite3_file* file) {
    return reinterpret_cast<File*>(file)->real();
  }

  Disk() : real_(sqlite3_vfs_find(nullptr)), layer_(*real_) {
    layer_.zName = "disk";
    layer_.szOsFile = static_cast<int>(sizeof(File)) + real_->szOsFile;
    layer_.xOpen = [](sqlite3_vfs*, const char* name, sqlite3_file* file,
                      int flags, int* out_flags) {
      file->pMethods = nullptr;
      const int code =
          Get().real_->xOpen(Get().real_, name, Real(file), flags, out_flags);
      if (code == SQLITE_OK) file->pMethods = &Get().methods_;
      return code;
    };
    // Version 1 of SQLite's file methods has no functions for shared memory.
    methods_.iVersion = 1;
    methods_.xClose = [](sqlite3_file* f) {
      Get().Forget(f);
      return Real(f)->pMethods->xClose(Real(f));
    };
    methods_.xRead = [](sqlite3_file* f, void* to, int n, sqlite3_int64 at) {
      return Real(f)->pMethods->xRead(Real(f), to, n, at);
    };
    methods_.xWrite = [](sqlite3_file* f, const void* from, int n,
                         sqlite3_int64 at) {
      const int code = Get().BeforeWrite();
      if (code == SQLITE_OK) Get().Remember(f, n, at);
      return code == SQLITE_OK ? Real(f)->pMethods->xWrite(Real(f), from, n, at)
                               : code;
    };
    methods_.xTruncate = [](sqlite3_file* f, sqlite3_int64 size) {
      sqlite3_int64 before = 0;
      Real(f)->pMethods->xFileSize(Real(f), &before);
      if (before > size) {
        Get().Remember(f, static_cast<int>(before - size), size);
      }
      return Real(f)->pMethods->xTruncate(Real(f), size);
    };
    methods_.xSync = [](sqlite3_file* f, int flags) {
      const int code = Get().BeforeSync();
      if (code == SQLITE_OK) Get().Forget(f);
      return code == SQLITE_OK ? Real(f)->pMethods->xSync(Real(f), flags)
                               : code;
    };
    methods_.xFileSize = [](sqlite3_file* f, sqlite3_int64* size) {
      return Real(f)->pMethods->xFileSize(Real(f), size);
    };
    methods_.xLock = [](sqlite3_file* f, int level) {
      return Real(f)->pMethods->xLock(Real(f), level);
    };
    methods_.xUnlock = [](sqlite3_file* f, int level) {
      return Real(f)->pMethods->xUnlock(Real(f), level);
    };
    methods_.xCheckReservedLock = [](sqlite3_file* f, int* reserved) {
      return Real(f)->pMethods->xCheckReservedLock(Real(f), reserved);
    };
    methods_.xFileControl = [](sqlite3_file* f, int op, void* argument) {
      return Real(f)->pMethods->xFileControl(Real(f), op, argument);
    };
    methods_.xSectorSize = [](sqlite3_file* f) {
      return Real(f)->pMethods->xSectorSize(Real(f));
    };
    methods_.xDeviceCharacteristics = [](sqlite3_file* f) {
      return Real(f)->pMethods->xDeviceCharacteristics(Real(f));
    };
    sqlite3_vfs_register(&layer_, 1);
  }

  void WaitWhileHung(std::unique_lock<std::mutex>& lock) {
    if (mode_ != Mode::kHangs) return;
    ++hung_;
    changed_.notify_all();
    changed_.wait(lock, [this] { return mode_ != Mode::kHangs; });
    --hung_;
    changed_.notify_all();
  }
  // Saves the bytes that a write is about to replace. A simulated power loss
  // may restore them if the file was not synced in between.
  void Remember(sqlite3_file* file, int size, sqlite3_int64 at) {
    std::lock_guard<std::mutex> lock(mutex_);
    if (!steps_left_) return;
    Unsynced& unsynced = unsynced_[file];
    if (unsynced.replaced.empty()) {
      Real(file)->pMethods->xFileSize(Real(file), &unsynced.size);
    }
    std::string bytes(static_cast<size_t>(size), '\0');
    // xRead returns zeros beyond the end of the file.
    Real(file)->pMethods->xRead(Real(file), bytes.data(), size, at);
    unsynced.replaced.emplace_back(at, std::move(bytes));
  }
  void Forget(sqlite3_file* file) {
    std::lock_guard<std::mutex> lock(mutex_);
    unsynced_.erase(file);
  }
  void LosePower() {
    for (auto& [file, unsynced] : unsynced_) {
      sqlite3_file* const real = Real(file);
      std::reverse(unsynced.replaced.begin(), unsynced.replaced.end());
      for (const auto& [at, bytes] : unsynced.replaced) {
        if (later_ != Later::kLosesAll && random_() % 2 == 0) continue;
        real->pMethods->xWrite(real, bytes.data(),
                               static_cast<int>(bytes.size()), at);
      }
      if (later_ == Later::kLosesAll) {
        real->pMethods->xTruncate(real, unsynced.size);
      }
    }
  }
  void CountStep() {
    if (!steps_left_ || --*steps_left_ >= 0) return;
    if (later_ == Later::kFull) {
      mode_ = Mode::kFull;
      return;
    }
    if (later_ != Later::kIsKilled) LosePower();
    kill(getpid(), SIGKILL);
    abort();
  }
  int BeforeWrite() {
    std::unique_lock<std::mutex> lock(mutex_);
    CountStep();
    WaitWhileHung(lock);
    return mode_ == Mode::kFull ? SQLITE_FULL : SQLITE_OK;
  }
  int BeforeSync() {
    std::unique_lock<std::mutex> lock(mutex_);
    CountStep();
    WaitWhileHung(lock);
    ++syncs_;
    changed_.notify_all();
    return mode_ == Mode::kCannotSync ? SQLITE_IOERR_FSYNC : SQLITE_OK;
  }

  sqlite3_vfs* const real_;
  sqlite3_vfs layer_;
  sqlite3_io_methods methods_ = {};

  std::mutex mutex_;  // guards the fields below
  std::condition_variable changed_;
  Mode mode_ = Mode::kWorks;
  std::optional<int> steps_left_;
  Later later_ = Later::kFull;
  std::mt19937 random_;
  // The changes of a file since its last sync: the file's size at that sync,
  // and the old bytes that the writes have replaced.
  struct Unsynced {
    sqlite3_int64 size = 0;
    std::vector<std::pair<sqlite3_int64, std::string>> replaced;
  };
  std::map<sqlite3_file*, Unsynced> unsynced_;
  int hung_ = 0;
  int syncs_ = 0;
};

// Records the order in which a journal calls its callbacks.
class Calls {
 public:
  std::function<void()> Note(int number) {
    return [this, number] {
      std::lock_guard<std::mutex> lock(mutex_);
      numbers_.push_back(number);
      changed_.notify_all();
    };
  }
  // Waits until `count` of the callbacks that Note returned have been called.
  // Returns the `number` of each callback called so far, in the order of the
  // calls.
  std::vector<int> Await(size_t count) {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait_for(lock, kLong, [&] { return numbers_.size() >= count; });
    EXPECT_GE(numbers_.size(), count);
    return numbers_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<int> numbers_;  // guarded by mutex_
};

// Returns limits under which no write counts as hung.
Journal::Limits Patient() {
  Journal::Limits limits;
  limits.hung_after = kForever;
  limits.close_within = kForever;
  limits.open_within = kForever;
  return limits;
}

std::string Bytes(const std::string& path) {
  std::stringstream bytes;
  bytes << std::ifstream(path, std::ios::binary).rdbuf();
  return bytes.str();
}

mode_t Mode(const std::string& path) {
  struct stat info = {};
  EXPECT_EQ(lstat(path.c_str(), &info), 0) << path;
  return info.st_mode & 07777;
}

bool Eventually(const std::function<bool()>& condition) {
  const Instant deadline = MonotonicNow() + kLong;
  while (!condition()) {
    if (MonotonicNow() > deadline) return false;
    std::this_thread::yield();
  }
  return true;
}

class JournalTest : public ::testing::Test {
 protected:
  JournalTest() {
    std::string name = ::testing::TempDir() + "/journal-XXXXXX";
    top_ = mkdtemp(name.data());
    folder_ = top_ + "/state";
    file_ = folder_ + "/coordinator.journal";
    Disk::Get().Set(Disk::Mode::kWorks);
  }
  ~JournalTest() override {
    Disk::Get().Set(Disk::Mode::kWorks);
    EXPECT_TRUE(Disk::Get().AwaitNoneHung());
    std::error_code ignored;
    fs::remove_all(top_, ignored);
  }

  std::unique_ptr<Journal> Open(const Journal::Limits& limits = Patient()) {
    auto journal = Journal::Open(folder_, 0, limits);
    EXPECT_TRUE(journal.ok()) << journal.status();
    return journal.ok() ? *std::move(journal) : nullptr;
  }
  absl::Status OpenError() {
    const auto journal = Journal::Open(folder_, 0, Patient());
    return journal.status();
  }
  // Reads the records in the file. No journal may have the file open.
  Records Stored() { return Open()->TakeRecords(); }

  // Stores the records one after another, each with its own commit.
  static void PutEach(Journal& journal, const Records& records) {
    for (const auto& [run_id, record] : records) {
      Calls calls;
      journal.Put(run_id, record, calls.Note(0));
      calls.Await(1);
    }
  }
  // Executes SQL statements on the journal file. No Journal object may have the
  // file open.
  void Sql(const std::string& sql) {
    sqlite3* connection = nullptr;
    ASSERT_EQ(
        sqlite3_open_v2(file_.c_str(), &connection,
                        SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, "unix"),
        SQLITE_OK);
    EXPECT_EQ(sqlite3_exec(connection, sql.c_str(), nullptr, nullptr, nullptr),
              SQLITE_OK)
        << sqlite3_errmsg(connection);
    sqlite3_close(connection);
  }
  // Creates the state folder with a journal file of exactly these bytes.
  void Plant(const std::string& bytes) {
    fs::create_directory(folder_);
    std::ofstream(file_, std::ios::binary) << bytes;
  }
  // Opens the journal, which must fail with this error and leave the file
  // unchanged.
  void ExpectRefused(absl::StatusCode code, const std::string& reason) {
    std::map<std::string, std::string> before;
    for (const auto& entry : fs::directory_iterator(folder_)) {
      before[entry.path()] = Bytes(entry.path());
    }
    const absl::Status error = OpenError();
    EXPECT_EQ(error.code(), code) << error;
    EXPECT_THAT(std::string(error.message()),
                AllOf(HasSubstr(file_), HasSubstr(reason),
                      HasSubstr("name another folder")));
    for (const auto& [path, bytes] : before) {
      EXPECT_TRUE(Bytes(path) == bytes) << path << " has changed";
    }
  }

  std::string top_;
  std::string folder_;
  std::string file_;
};

TEST_F(JournalTest, RecordsAreThereAfterReopening) {
  const Records records = {
      {"", "no name"},
      {"job", std::string("\0\xff\n'", 4)},
      {std::string("a\0b'; DROP TABLE job", 20), ""},
      {"größe", std::string(5 << 20, 'x')},
  };
  {
    const auto journal = Open();
    EXPECT_THAT(journal->TakeRecords(), IsEmpty());
    PutEach(*journal, records);
    EXPECT_FALSE(journal->trouble().has_value());
  }
  const auto journal = Open();
  EXPECT_TRUE(journal->TakeRecords() == records);
  EXPECT_THAT(journal->TakeRecords(), IsEmpty());
}

TEST_F(JournalTest, RecordsAreReplacedAndRemoved) {
  {
    const auto journal = Open();
    PutEach(*journal, {{"a", "1"}, {"b", "1"}, {"c", "1"}});
    PutEach(*journal, {{"a", "2"}});
    journal->Remove("b");
    journal->Remove("never there");
  }
  EXPECT_THAT(Stored(), ElementsAre(Pair("a", "2"), Pair("c", "1")));
}

TEST_F(JournalTest, TheMemoryOfNodesIsKeptBesideTheJobs) {
  {
    const auto journal = Open();
    PutEach(*journal, {{"a", "1"}, {kNodeMemoryKey, "old"}});
    PutEach(*journal, {{kNodeMemoryKey, "new"}});
  }
  EXPECT_THAT(Stored(), UnorderedElementsAre(Pair("a", "1"),
                                             Pair(kNodeMemoryKey, "new")));
}

TEST_F(JournalTest, AFileOfAnOlderVersionGetsTheTableOfNodes) {
  {
    const auto journal = Open();
    PutEach(*journal, {{"a", "1"}});
  }
  Sql("DROP TABLE memory");
  {
    const auto journal = Open();
    PutEach(*journal, {{kNodeMemoryKey, "new"}});
  }
  EXPECT_THAT(Stored(), UnorderedElementsAre(Pair("a", "1"),
                                             Pair(kNodeMemoryKey, "new")));
}

TEST_F(JournalTest, TheDestructorWritesWhatIsQueued) {
  Calls calls;
  auto journal = Open();
  Disk::Get().Set(Disk::Mode::kHangs);
  journal->Put("0", "r", calls.Note(0));
  ASSERT_TRUE(Disk::Get().AwaitHung());
  for (int i = 1; i < 50; ++i) {
    journal->Put(std::to_string(i), "r", calls.Note(i));
  }
  const std::future<void> closed =
      std::async(std::launch::async, [&] { journal.reset(); });
  // The destructor waits for the disk, which still hangs.
  EXPECT_EQ(closed.wait_for(std::chrono::milliseconds(50)),
            std::future_status::timeout);
  Disk::Get().Set(Disk::Mode::kWorks);
  closed.wait();
  EXPECT_THAT(calls.Await(50), SizeIs(50));
  EXPECT_THAT(Stored(), SizeIs(50));
}

TEST_F(JournalTest, EachRunHasAGreaterEpoch) {
  const auto epoch = [this](uint64_t least) {
    const auto journal = Journal::Open(folder_, least, Patient());
    return journal.ok() ? (*journal)->epoch() : 0;
  };
  EXPECT_EQ(epoch(0), 1u);
  EXPECT_EQ(epoch(2), 2u);
  EXPECT_EQ(epoch(2), 3u);
  const uint64_t now = 1'800'000'000'000'000'000;  // nanoseconds since 1970
  EXPECT_EQ(epoch(now), now);
  EXPECT_EQ(epoch(0), now + 1);
}

TEST_F(JournalTest, OnlyThisUserCanReadTheFiles) {
  folder_ += "/of/jobs/";
  file_ = folder_ + "coordinator.journal";
  const mode_t umask_before = umask(0);
  const auto journal = Open();
  PutEach(*journal, {{"a", "1"}});
  umask(umask_before);
  EXPECT_EQ(Mode(folder_), 0700);
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder_)) {
    names.push_back(entry.path().filename());
    EXPECT_EQ(Mode(entry.path()), 0600) << entry.path();
  }
  // With locking_mode=EXCLUSIVE, SQLite creates no shared-memory file. With a
  // write-ahead log, it leaves no rollback journal.
  EXPECT_THAT(names, UnorderedElementsAre("coordinator.journal",
                                          "coordinator.journal-wal"));
}

TEST_F(JournalTest, ASymbolicLinkToTheFolderIsFollowed) {
  fs::create_directory(top_ + "/elsewhere");
  fs::permissions(top_ + "/elsewhere", fs::perms::owner_all);
  fs::create_directory_symlink(top_ + "/elsewhere", folder_);
  PutEach(*Open(), {{"a", "1"}});
  EXPECT_TRUE(fs::exists(top_ + "/elsewhere/coordinator.journal"));
  EXPECT_THAT(Stored(), ElementsAre(Pair("a", "1")));
}

TEST_F(JournalTest, DonesAreCalledInTheOrderOfThePuts) {
  constexpr int kPuts = 2000;
  Calls calls;
  const auto journal = Open();
  for (int i = 0; i < kPuts; ++i) {
    journal->Put("job " + std::to_string(i % 7), "r", calls.Note(i));
  }
  const std::vector<int> numbers = calls.Await(kPuts);
  ASSERT_THAT(numbers, SizeIs(kPuts));
  EXPECT_TRUE(std::is_sorted(numbers.begin(), numbers.end()));
}

TEST_F(JournalTest, PutsOfSeveralThreadsAreAllDurable) {
  constexpr int kThreads = 4;
  constexpr int kPuts = 200;
  Calls calls;
  {
    const auto journal = Open();
    std::vector<std::thread> threads;
    threads.reserve(kThreads);
    for (int t = 0; t < kThreads; ++t) {
      threads.emplace_back([&, t] {
        for (int i = 0; i < kPuts; ++i) {
          journal->Put(std::to_string(t) + "-" + std::to_string(i), "r",
                       calls.Note(i));
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    constexpr size_t kAll = size_t{kThreads} * kPuts;
    EXPECT_THAT(calls.Await(kAll), SizeIs(kAll));
  }
  EXPECT_THAT(Stored(), SizeIs(kThreads * kPuts));
}

TEST_F(JournalTest, ADoneMayPutAgain) {
  Calls calls;
  const auto journal = Open();
  journal->Put("a", "1", [&] {
    journal->Remove("b");
    journal->Put("a", "2", calls.Note(2));
  });
  EXPECT_THAT(calls.Await(1), ElementsAre(2));
}

TEST_F(JournalTest, WritesGoOnWhileADoneRuns) {
  Calls calls;
  bool went_on = false;
  const auto journal = Open();
  journal->Put("a", "1", [&] {
    Disk::Get().Set(Disk::Mode::kHangs);
    journal->Put("b", "1", nullptr);
    EXPECT_TRUE(Disk::Get().AwaitHung());
    journal->Put("c", "1", nullptr);
    const int before = Disk::Get().syncs();
    Disk::Get().Set(Disk::Mode::kWorks);
    went_on = Disk::Get().AwaitSyncs(before + 2);
    calls.Note(1)();
  });
  calls.Await(1);
  EXPECT_TRUE(went_on);
}

TEST_F(JournalTest, QueuedRecordsShareOneCommit) {
  constexpr int kPuts = 10000;
  Calls calls;
  const auto journal = Open();
  Disk::Get().Set(Disk::Mode::kHangs);
  journal->Put("first", "r", calls.Note(0));
  ASSERT_TRUE(Disk::Get().AwaitHung());
  const int before = Disk::Get().syncs();
  for (int i = 1; i < kPuts; ++i) {
    journal->Put("job " + std::to_string(i), std::string(200, 'r'),
                 calls.Note(i));
  }
  Disk::Get().Set(Disk::Mode::kWorks);
  EXPECT_THAT(calls.Await(kPuts), SizeIs(kPuts));
  // Two commits with one sync each: one for the first record, and one for all
  // other records together. A checkpoint needs at most three more syncs.
  EXPECT_LE(Disk::Get().syncs() - before, 5);
}

class BadDiskTest
    : public JournalTest,
      public ::testing::WithParamInterface<std::pair<Disk::Mode, std::string>> {
};

TEST_P(BadDiskTest, DelaysNoCallbackAndLosesNoRecord) {
  const auto& [mode, why] = GetParam();
  Journal::Limits limits = Patient();
  (mode == Disk::Mode::kHangs ? limits.hung_after : limits.retry_after) =
      std::chrono::milliseconds(1);
  Calls calls;
  {
    const auto journal = Open(limits);
    PutEach(*journal, {{"a", "0"}, {"b", "0"}, {"c", "0"}});
    Disk::Get().Set(mode);
    journal->Put("a", "1", calls.Note(1));
    EXPECT_THAT(calls.Await(1), ElementsAre(1));
    const std::optional<Journal::Trouble> trouble = journal->trouble();
    ASSERT_TRUE(trouble.has_value());
    EXPECT_EQ(trouble->why, "cannot write " + file_ + ": " + why);
    EXPECT_LE(trouble->since, MonotonicNow());
    journal->Put("a", "2", calls.Note(2));
    journal->Remove("b");
    journal->Put("d", "1", calls.Note(3));
    EXPECT_THAT(calls.Await(3), ElementsAre(1, 2, 3));
    EXPECT_TRUE(journal->trouble().has_value());

    Disk::Get().Set(Disk::Mode::kWorks);
    EXPECT_TRUE(Eventually([&] { return !journal->trouble().has_value(); }));
  }
  EXPECT_THAT(Stored(),
              ElementsAre(Pair("a", "2"), Pair("c", "0"), Pair("d", "1")));
}

INSTANTIATE_TEST_SUITE_P(
    All, BadDiskTest,
    ::testing::Values(std::pair(Disk::Mode::kHangs,
                                "its file system does not answer"),
                      std::pair(Disk::Mode::kFull, "the disk is full"),
                      std::pair(Disk::Mode::kCannotSync, "disk I/O error")));

TEST_F(JournalTest, ARemovedFileIsTrouble) {
  Calls calls;
  const auto journal = Open();
  fs::remove_all(folder_);
  journal->Put("a", "1", calls.Note(1));
  calls.Await(1);
  ASSERT_TRUE(journal->trouble().has_value());
  EXPECT_EQ(journal->trouble()->why,
            "cannot write " + file_ + ": it was removed or replaced");
}

TEST_F(JournalTest, TheDestructorTriesAFullDiskOnce) {
  Journal::Limits limits = Patient();
  limits.retry_after = kForever;
  Calls calls;
  for (const Disk::Mode later : {Disk::Mode::kWorks, Disk::Mode::kFull}) {
    const auto journal = Open(limits);
    Disk::Get().Set(Disk::Mode::kFull);
    journal->Put(later == Disk::Mode::kWorks ? "kept" : "lost", "1",
                 calls.Note(1));
    calls.Await(1);
    Disk::Get().Set(later);
  }
  Disk::Get().Set(Disk::Mode::kWorks);
  EXPECT_THAT(Stored(), ElementsAre(Pair("kept", "1")));
}

TEST_F(JournalTest, TheDestructorDoesNotWaitForAHungDisk) {
  Journal::Limits limits = Patient();
  limits.close_within = std::chrono::milliseconds(1);
  Calls calls;
  {
    const auto journal = Open(limits);
    Disk::Get().Set(Disk::Mode::kHangs);
    journal->Put("a", "1", calls.Note(1));
    journal->Put("b", "1", calls.Note(2));
    ASSERT_TRUE(Disk::Get().AwaitHung());
  }
  // The journal's destructor calls every callback that is left.
  EXPECT_THAT(calls.Await(2), ElementsAre(1, 2));
}

TEST_F(JournalTest, TheDestructorDoesNotWaitForADiskThatHangsAtTheClose) {
  Journal::Limits limits = Patient();
  limits.close_within = std::chrono::milliseconds(1);
  auto journal = Open(limits);
  PutEach(*journal, {{"a", "1"}});
  Disk::Get().Set(Disk::Mode::kHangs);
  journal.reset();
}

TEST_F(JournalTest, OpenDoesNotWaitForAHungDisk) {
  Journal::Limits limits = Patient();
  limits.open_within = std::chrono::milliseconds(1);
  limits.close_within = std::chrono::milliseconds(1);
  Disk::Get().Set(Disk::Mode::kHangs);
  const auto journal = Journal::Open(folder_, 0, limits);
  EXPECT_EQ(journal.status().code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_THAT(std::string(journal.status().message()),
              AllOf(HasSubstr(file_), HasSubstr("does not answer")));
}

TEST_F(JournalTest, ADiskThatIsFullAtAnyWriteOfOpenIsRefused) {
  int steps = 0;
  for (;; ++steps) {
    ASSERT_LT(steps, 100);
    fs::remove_all(folder_);
    Disk::Get().WorkFor(steps, Disk::Later::kFull);
    const absl::Status error = OpenError();
    // The incomplete files of the failed Open must not prevent the next Open.
    Disk::Get().Set(Disk::Mode::kWorks);
    EXPECT_THAT(Stored(), IsEmpty());
    if (error.ok()) break;
    EXPECT_EQ(error.code(), absl::StatusCode::kResourceExhausted) << error;
    EXPECT_THAT(std::string(error.message()),
                AllOf(HasSubstr(file_), HasSubstr("the disk is full; free")));
  }
  EXPECT_GT(steps, 5);
}

TEST_F(JournalTest, AnotherOpenerIsRefused) {
  const auto journal = Open();
  PutEach(*journal, {{"a", "1"}});
  for (int i = 0; i < 2; ++i) {
    const absl::Status error = OpenError();
    EXPECT_EQ(error.code(), absl::StatusCode::kUnavailable);
    EXPECT_THAT(
        std::string(error.message()),
        AllOf(HasSubstr(file_),
              HasSubstr("in use by process " + std::to_string(getpid()) + ";"),
              HasSubstr("end that coordinator")));
  }
  PutEach(*journal, {{"a", "2"}});
  EXPECT_FALSE(journal->trouble().has_value());
}

TEST_F(JournalTest, AFileThatIsNoDatabaseIsRefused) {
  Plant(std::string(10000, 'x'));
  ExpectRefused(absl::StatusCode::kFailedPrecondition,
                "it is not an SQLite database");
}

TEST_F(JournalTest, ADatabaseOfAnotherProgramIsRefused) {
  fs::create_directory(folder_);
  Sql("CREATE TABLE flower (name TEXT)");
  ExpectRefused(absl::StatusCode::kFailedPrecondition,
                "an SQLite database of another program");
  Sql("PRAGMA application_id = 42; PRAGMA journal_mode = WAL");
  ExpectRefused(absl::StatusCode::kFailedPrecondition,
                "an SQLite database of another program");
}

TEST_F(JournalTest, TheLogOfAnotherProgramIsLeftAsItIs) {
  // Create a database of another program whose only table is still in the
  // write-ahead log.
  const std::string made = top_ + "/made";
  sqlite3* connection = nullptr;
  ASSERT_EQ(sqlite3_open(made.c_str(), &connection), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(connection,
                         "PRAGMA locking_mode = EXCLUSIVE;"
                         "PRAGMA journal_mode = WAL;"
                         "CREATE TABLE flower (name TEXT)",
                         nullptr, nullptr, nullptr),
            SQLITE_OK);
  fs::create_directory(folder_);
  fs::copy_file(made, file_);
  fs::copy_file(made + "-wal", file_ + "-wal");
  sqlite3_close(connection);
  ASSERT_GT(fs::file_size(file_ + "-wal"), 0u);
  ExpectRefused(absl::StatusCode::kFailedPrecondition,
                "an SQLite database of another program");
  EXPECT_TRUE(fs::exists(file_ + "-wal"));
}

TEST_F(JournalTest, AnEmptyFileIsANewJournal) {
  Plant("");
  PutEach(*Open(), {{"a", "1"}});
  EXPECT_THAT(Stored(), ElementsAre(Pair("a", "1")));
}

TEST_F(JournalTest, AJournalOfANewerVersionIsRefused) {
  PutEach(*Open(), {{"a", "1"}});
  Sql("PRAGMA user_version = 2");
  ExpectRefused(absl::StatusCode::kFailedPrecondition,
                "a newer Muster has written it (version 2, and this one knows "
                "1); use the newer Muster");
  Sql("PRAGMA user_version = 0");
  ExpectRefused(absl::StatusCode::kDataLoss, "damaged (its version is 0)");
  Sql("PRAGMA user_version = 1");
  EXPECT_THAT(Stored(), ElementsAre(Pair("a", "1")));
}

TEST_F(JournalTest, ADamagedFileIsRefused) {
  {
    const auto journal = Open();
    for (int i = 0; i < 300; ++i) {
      journal->Put("job " + std::to_string(i), std::string(200, 'r'), nullptr);
    }
  }
  const std::string sound = Bytes(file_);
  ASSERT_GT(sound.size(), 40000u);
  std::string bytes = sound;
  bytes.replace(20480, 4096, std::string(4096, '\x42'));
  Plant(bytes);
  ExpectRefused(absl::StatusCode::kDataLoss, "it is damaged");
  Plant(sound.substr(0, 20480));
  ExpectRefused(absl::StatusCode::kDataLoss, "it is damaged");
  Plant(sound);
  Sql("DROP TABLE job");
  ExpectRefused(absl::StatusCode::kDataLoss, "it is damaged");
  Plant(sound);
  Sql("DELETE FROM run");
  ExpectRefused(absl::StatusCode::kDataLoss, "it is damaged");
}

TEST_F(JournalTest, ALogWithoutItsFileIsRefused) {
  const auto journal = Open();
  PutEach(*journal, {{"a", "1"}});
  const std::string log = Bytes(file_ + "-wal");
  folder_ = top_ + "/other";
  file_ = folder_ + "/coordinator.journal";
  fs::create_directory(folder_);
  std::ofstream(file_ + "-wal", std::ios::binary) << log;
  ExpectRefused(absl::StatusCode::kDataLoss,
                "it is missing, but " + file_ + "-wal");
  Plant("");
  ExpectRefused(absl::StatusCode::kDataLoss,
                "it is empty, but " + file_ + "-wal");
}

TEST_F(JournalTest, AnythingButAFileIsRefused) {
  fs::create_directory(folder_);
  std::ofstream(top_ + "/victim") << "";
  fs::create_symlink(top_ + "/victim", file_);
  ExpectRefused(absl::StatusCode::kFailedPrecondition, "a symbolic link");
  EXPECT_EQ(fs::file_size(top_ + "/victim"), 0u);
  fs::remove(file_);
  fs::create_directory(file_);
  ExpectRefused(absl::StatusCode::kFailedPrecondition, "not a regular file");
  fs::remove(file_);
  fs::create_symlink(top_ + "/victim", file_ + "-wal");
  ExpectRefused(absl::StatusCode::kFailedPrecondition,
                "-wal: it is a symbolic");
}

TEST_F(JournalTest, AFileInTheFoldersPlaceIsRefused) {
  std::ofstream(folder_) << "x";
  const absl::Status error = OpenError();
  EXPECT_EQ(error.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(error.message(),
            "cannot use " + folder_ + ": it is not a folder; name another one");
}

// In /proc, mkdir fails with ENOENT although the parent folder exists.
TEST_F(JournalTest, AFolderInProcIsRefused) {
  folder_ = "/proc/state";
  EXPECT_EQ(OpenError().message(),
            "cannot create folder /proc/state: No such file or directory; name "
            "another folder");
}

TEST_F(JournalTest, WhatOtherUsersCanWriteIsRefused) {
  PutEach(*Open(), {{"a", "1"}});
  const auto expect_refused = [&](const std::string& path, mode_t mode) {
    const mode_t before = Mode(path);
    ASSERT_EQ(chmod(path.c_str(), mode), 0);
    const absl::Status error = OpenError();
    EXPECT_EQ(error.code(), absl::StatusCode::kPermissionDenied);
    EXPECT_THAT(std::string(error.message()),
                AllOf(HasSubstr("cannot use " + path + ": other users"),
                      HasSubstr("run chmod go-w " + path)));
    ASSERT_EQ(chmod(path.c_str(), before), 0);
  };
  expect_refused(folder_, 0770);
  expect_refused(folder_, 01777);
  expect_refused(file_, 0660);
  expect_refused(file_, 0602);
  EXPECT_THAT(Stored(), ElementsAre(Pair("a", "1")));
}

TEST_F(JournalTest, WhatAnotherUserOwnsIsRefused) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can make another user's file";
  PutEach(*Open(), {{"a", "1"}});
  for (const std::string& path : {folder_, file_}) {
    ASSERT_EQ(chown(path.c_str(), kNobody, kNobody), 0);
    const absl::Status error = OpenError();
    EXPECT_EQ(error.code(), absl::StatusCode::kPermissionDenied);
    EXPECT_THAT(std::string(error.message()),
                HasSubstr("cannot use " + path +
                          ": it belongs to user 65534, and this process runs "
                          "as user 0"));
    ASSERT_EQ(chown(path.c_str(), 0, 0), 0);
  }
}

// As root, the test changes to another user first, because root has all
// permissions.
TEST_F(JournalTest, MissingPermissionsAreSaid) {
  const bool is_root = geteuid() == 0;
  std::string name = "/tmp/journal-XXXXXX";
  const std::string top = mkdtemp(name.data());
  folder_ = top + "/state";
  file_ = folder_ + "/coordinator.journal";
  if (is_root) {
    ASSERT_EQ(chown(top.c_str(), kNobody, kNobody), 0);
    ASSERT_EQ(seteuid(kNobody), 0);
  }
  chmod(top.c_str(), 0500);
  absl::Status error = OpenError();
  EXPECT_EQ(error.code(), absl::StatusCode::kPermissionDenied);
  EXPECT_EQ(error.message(), "cannot create folder " + folder_ +
                                 ": Permission denied; name another folder");
  chmod(top.c_str(), 0700);
  EXPECT_THAT(Stored(), IsEmpty());
  chmod(file_.c_str(), 0400);
  error = OpenError();
  EXPECT_EQ(error.code(), absl::StatusCode::kPermissionDenied);
  EXPECT_THAT(std::string(error.message()),
              HasSubstr("no permission to write it; run chmod u+rw " + file_));
  if (is_root) {
    ASSERT_EQ(seteuid(0), 0);
  }
  fs::remove_all(top);
}

// After a crash of the machine, any part of the write-ahead log may be missing.
// The journal must then have the records of the first commits, without a gap.
TEST_F(JournalTest, ATornLogHasThePrefixOfTheCommits) {
  constexpr int kCommits = 20;
  constexpr size_t kStep = 577;
  const auto name = [](int i) { return std::string(1, 'a' + i); };
  std::string file;
  std::string log;
  {
    const auto journal = Open();
    for (int i = 0; i < kCommits; ++i) PutEach(*journal, {{name(i), "r"}});
    // Reading the journal's file also closes it, so this process loses its
    // POSIX lock on the file. This does no harm, because no other process opens
    // the journal.
    file = Bytes(file_);
    log = Bytes(file_ + "-wal");
  }
  size_t records_before = 0;
  for (size_t size = 0;; size = std::min(size + kStep, log.size())) {
    fs::remove_all(folder_);
    Plant(file);
    std::ofstream(file_ + "-wal", std::ios::binary) << log.substr(0, size);
    const Records records = Stored();
    ASSERT_GE(records.size(), records_before) << size;
    ASSERT_LE(records.size(), records_before + 1) << size;
    records_before = records.size();
    for (size_t i = 0; i < records.size(); ++i) {
      ASSERT_TRUE(records.contains(name(static_cast<int>(i)))) << size;
    }
    if (size == log.size()) break;
  }
  EXPECT_EQ(records_before, size_t{kCommits});
  // Repeat the test with logs that are complete except for one page of zeros.
  for (size_t at = 0; at < log.size(); at += 16384) {
    fs::remove_all(folder_);
    Plant(file);
    std::string hole = log;
    std::fill_n(hole.begin() + static_cast<ptrdiff_t>(at),
                std::min<size_t>(4096, log.size() - at), '\0');
    std::ofstream(file_ + "-wal", std::ios::binary) << hole;
    const Records records = Stored();
    for (size_t i = 0; i < records.size(); ++i) {
      ASSERT_TRUE(records.contains(name(static_cast<int>(i)))) << at;
    }
  }
}

// --- Reading a journal that a coordinator may have open (RecordsIn).

class ReaderTest : public JournalTest {
 protected:
  ReaderTest() {
    temporary_ = top_ + "/temporary";
    fs::create_directory(temporary_);
    setenv("TMPDIR", temporary_.c_str(), 1);
  }
  // Reads the records. Expects that no file changes, and that no copy is left.
  absl::StatusOr<Records> Read() {
    Records before;
    if (fs::is_directory(folder_)) {
      for (const auto& entry : fs::directory_iterator(folder_)) {
        if (!entry.is_regular_file()) continue;
        before[entry.path()] = Bytes(entry.path());
      }
    }
    absl::StatusOr<Records> records = JournalFile::RecordsIn(folder_);
    for (const auto& [path, bytes] : before) {
      EXPECT_TRUE(Bytes(path) == bytes) << path << " has changed";
    }
    EXPECT_TRUE(fs::is_empty(temporary_));
    return records;
  }
  void ExpectUnreadable(absl::StatusCode code, const std::string& reason) {
    const absl::StatusOr<Records> records = Read();
    EXPECT_EQ(records.status().code(), code) << records.status();
    EXPECT_THAT(std::string(records.status().message()),
                AllOf(HasSubstr(file_), HasSubstr(reason)));
  }

  std::string temporary_;
};

TEST_F(ReaderTest, ReadsTheNewestRecordsOfAnOpenJournal) {
  const auto journal = Open();
  PutEach(*journal, {{"a", "1"}, {"b", "1"}, {kNodeMemoryKey, "nodes"}});
  PutEach(*journal, {{"a", "2"}});
  ASSERT_GT(fs::file_size(file_ + "-wal"), 0u);
  const auto records = Read();
  ASSERT_TRUE(records.ok()) << records.status();
  EXPECT_THAT(*records, UnorderedElementsAre(Pair("a", "2"), Pair("b", "1"),
                                             Pair(kNodeMemoryKey, "nodes")));
  PutEach(*journal, {{"a", "3"}});
  EXPECT_FALSE(journal->trouble().has_value());
}

TEST_F(ReaderTest, ReadsAClosedJournalAndOneOfAnOlderVersion) {
  PutEach(*Open(), {{"a", "1"}});
  EXPECT_THAT(*Read(), ElementsAre(Pair("a", "1")));
  Sql("DROP TABLE memory");
  EXPECT_THAT(*Read(), ElementsAre(Pair("a", "1")));
  Plant("");
  EXPECT_THAT(*Read(), IsEmpty());
}

TEST_F(ReaderTest, ATornLogHasThePrefixOfTheCommits) {
  std::string file;
  std::string log;
  {
    const auto journal = Open();
    for (const char* name : {"a", "b", "c"}) PutEach(*journal, {{name, "r"}});
    file = Bytes(file_);
    log = Bytes(file_ + "-wal");
  }
  size_t records_before = 0;
  for (size_t size = 0; size <= log.size(); size += 577) {
    fs::remove_all(folder_);
    Plant(file);
    std::ofstream(file_ + "-wal", std::ios::binary) << log.substr(0, size);
    const auto records = Read();
    // However much of the write-ahead log is lost, the journal can be read.
    // With an empty log it has no tables, because all tables are still in the
    // log.
    ASSERT_TRUE(records.ok()) << records.status();
    ASSERT_GE(records->size(), records_before) << size;
    ASSERT_LE(records->size(), records_before + 1) << size;
    records_before = records->size();
  }
  EXPECT_GE(records_before, 2u);
}

TEST_F(ReaderTest, FilesThatAreNoSoundJournalAreRefused) {
  ExpectUnreadable(absl::StatusCode::kNotFound, "there is no journal");
  Plant(std::string(10000, 'x'));
  ExpectUnreadable(absl::StatusCode::kFailedPrecondition,
                   "it is not an SQLite database");
  fs::remove(file_);
  Sql("CREATE TABLE flower (name TEXT)");
  ExpectUnreadable(absl::StatusCode::kFailedPrecondition,
                   "an SQLite database of another program");
  fs::remove(file_);
  PutEach(*Open(), {{"a", std::string(20000, 'r')}});
  Sql("PRAGMA user_version = 2");
  ExpectUnreadable(absl::StatusCode::kFailedPrecondition,
                   "a newer Muster has written it");
  Sql("PRAGMA user_version = 1");
  const std::string sound = Bytes(file_);
  Plant(sound.substr(0, 20480));
  ExpectUnreadable(absl::StatusCode::kDataLoss, "it is damaged");
  Plant("");
  std::ofstream(file_ + "-wal") << "x";
  ExpectUnreadable(absl::StatusCode::kDataLoss, "it is empty, but");
  fs::remove(file_);
  ExpectUnreadable(absl::StatusCode::kDataLoss, "it is missing, but");
  fs::remove(file_ + "-wal");
  fs::create_symlink("/etc/passwd", file_);
  ExpectUnreadable(absl::StatusCode::kFailedPrecondition, "a symbolic link");
  fs::remove(file_);
  ASSERT_EQ(mkfifo(file_.c_str(), 0600), 0);
  ExpectUnreadable(absl::StatusCode::kFailedPrecondition, "not a regular file");
}

// Another program has replaced the table of the records by an SQL view or added
// a trigger. The view returns rows without end, so the reader must refuse it
// before it reads a row.
TEST_F(ReaderTest, AQueryInThePlaceOfTheRecordsIsRefused) {
  for (const char* const sql :
       {"DROP TABLE job; CREATE VIEW job AS WITH RECURSIVE n(x) AS (SELECT 1 "
        "UNION ALL SELECT x FROM n) SELECT x AS run_id, x AS record FROM n",
        "CREATE TRIGGER more AFTER INSERT ON job BEGIN DELETE FROM job; END"}) {
    fs::remove_all(folder_);
    PutEach(*Open(), {{"a", "1"}});
    Sql(sql);
    ExpectUnreadable(absl::StatusCode::kDataLoss, "views, triggers");
  }
}

TEST_F(ReaderTest, AFolderForTheCopyThatIsMissingIsSaid) {
  PutEach(*Open(), {{"a", "1"}});
  setenv("TMPDIR", (top_ + "/absent").c_str(), 1);
  const auto records = JournalFile::RecordsIn(folder_);
  EXPECT_THAT(std::string(records.status().message()),
              AllOf(HasSubstr(top_ + "/absent"), HasSubstr("TMPDIR")));
}

TEST_F(ReaderTest, OnlyThisUserCanReadTheCopy) {
  PutEach(*Open(), {{"a", "1"}});
  const mode_t mask = umask(0);
  const auto copy = JournalCopy::Of(file_);
  umask(mask);
  ASSERT_TRUE(copy.ok()) << copy.status();
  EXPECT_EQ(Mode(copy->path()), 0600u);
  EXPECT_EQ(Mode(fs::path(copy->path()).parent_path()), 0700u);
}

// --- Tests in which other processes open or write the journal.

constexpr int kReportDescriptor = 3;

pid_t StartSelf(const std::vector<std::string>& arguments, int report) {
  SubprocessPlan plan;
  plan.argv = {OwnProgram()};
  plan.argv.insert(plan.argv.end(), arguments.begin(), arguments.end());
  plan.environment = EnvironmentWith({});
  plan.descriptors = {SubprocessPlan::kNull, SubprocessPlan::kInherit,
                      SubprocessPlan::kInherit, report};
  plan.death_signal = SIGKILL;
  const auto pid = StartSubprocess(plan);
  EXPECT_TRUE(pid.ok()) << pid.status();
  return pid.ok() ? *pid : -1;
}

// The program `journal_test --open FOLDER`: opens the journal and writes the
// error to the report pipe.
int OpenInAnotherProcess(const std::string& folder) {
  const auto journal = Journal::Open(folder, 0);
  WriteAll(kReportDescriptor, journal.status().ToString());
  return journal.ok() ? 0 : 1;
}

// The program `journal_test --put FOLDER FIRST`: writes records in an endless
// loop, for seven jobs in turn. The records are numbered from FIRST; the
// program reports the number of each record that is durable.
int PutWithoutEnd(const std::string& folder, int first) {
  constexpr int kMaxQueued = 40;
  auto journal = Journal::Open(folder, 0, Patient());
  if (!journal.ok()) return 1;
  std::mutex mutex;
  std::condition_variable changed;
  int queued = 0;
  for (int number = first;; ++number) {
    {
      std::unique_lock<std::mutex> lock(mutex);
      changed.wait(lock, [&] { return queued < kMaxQueued; });
      ++queued;
    }
    const std::string text = std::to_string(number);
    // The sizes of the records range from part of a page of the file to several
    // pages.
    const auto size = static_cast<size_t>(number * 7919 % 10000);
    (*journal)->Put("job " + std::to_string(number % 7),
                    text + " " + std::string(size, 'r'), [&, text] {
                      if (!WriteAll(kReportDescriptor, text + "\n")) _exit(1);
                      std::lock_guard<std::mutex> lock(mutex);
                      --queued;
                      changed.notify_all();
                    });
  }
}

// The program `journal_test --crash FOLDER STEPS LATER`: writes some records,
// and reports those that are durable. After `steps` writes and syncs, the
// failure `later` happens.
int CrashAfter(const std::string& folder, int steps, Disk::Later later) {
  Disk::Get().WorkFor(steps, later);
  auto journal = Journal::Open(folder, 0, Patient());
  if (!journal.ok()) return 1;
  const auto put = [&](const std::string& run_id, int number) {
    Calls calls;
    const std::string report = run_id + " " + std::to_string(number) + "\n";
    (*journal)->Put(run_id, std::to_string(number), [&] {
      WriteAll(kReportDescriptor, report);
      calls.Note(0)();
    });
    calls.Await(1);
  };
  put("a", 1);
  put("b", 1);
  (*journal)->Remove("b");
  put("a", 2);
  journal->reset();
  return 0;
}

TEST_F(JournalTest, AnotherProcessIsRefused) {
  const auto journal = Open();
  int ends[2];
  ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
  const OwnedFd reader(ends[0]);
  OwnedFd writer(ends[1]);
  const pid_t pid = StartSelf({"--open", folder_}, writer.get());
  writer.Close();
  EXPECT_EQ(ExitCodeOf(*ReapSubprocess(pid)), 1);
  char text[1000] = "";
  EXPECT_GT(read(reader.get(), text, sizeof(text) - 1), 0);
  EXPECT_EQ(std::string(text),
            "UNAVAILABLE: cannot open " + file_ + ": it is in use by process " +
                std::to_string(getpid()) +
                "; end that coordinator, or name another folder");
}

TEST_F(JournalTest, AProcessThatIsKilledHasKeptWhatItReported) {
  constexpr int kKills = 25;
  std::mt19937 random(17);
  int first = 1;
  uint64_t epoch = 0;
  // Key: the number of a job (0 to 6). Value: the number of the job's newest
  // record that the process has reported as durable.
  std::map<int, int> reported;
  for (int kill_number = 0; kill_number < kKills; ++kill_number) {
    int ends[2];
    ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
    OwnedFd writer(ends[1]);
    const pid_t pid =
        StartSelf({"--put", folder_, std::to_string(first)}, writer.get());
    writer.Close();
    std::FILE* const reports = fdopen(ends[0], "r");
    // The kill comes after a random number of reports. The pipe can hold many
    // reports, so the process is still writing when it is killed.
    int until_kill = static_cast<int>(random() % 300);
    if (until_kill == 0) kill(pid, SIGKILL);
    int number = 0;
    while (std::fscanf(reports, "%d\n", &number) == 1) {
      reported[number % 7] = number;
      first = std::max(first, number + 1);
      if (--until_kill == 0) kill(pid, SIGKILL);
    }
    std::fclose(reports);
    EXPECT_EQ(ExitCodeOf(*ReapSubprocess(pid)), 128 + SIGKILL);

    const auto journal = Open();
    ASSERT_NE(journal, nullptr);
    EXPECT_GT(journal->epoch(), epoch);
    epoch = journal->epoch();
    const Records records = journal->TakeRecords();
    for (const auto& [job, newest] : reported) {
      const auto found = records.find("job " + std::to_string(job));
      ASSERT_NE(found, records.end()) << job;
      EXPECT_GE(std::stoi(found->second), newest);
      // The process may have been killed after it committed a record and before
      // it reported the record's number. Then the number in the journal is
      // higher than the newest reported one.
      first = std::max(first, std::stoi(found->second) + 1);
    }
  }
}

// The writer restarts its log many times (a checkpoint follows each 1000
// pages), so the copies are made at all stages of a restart.
TEST_F(ReaderTest, EachReadDuringTheWritesOfAnotherProcessIsConsistent) {
  constexpr int kReads = 40;
  int ends[2];
  ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
  OwnedFd writer(ends[1]);
  const pid_t pid = StartSelf({"--put", folder_, "1"}, writer.get());
  writer.Close();
  std::FILE* const reports = fdopen(ends[0], "r");
  std::map<int, int> reported;
  std::map<int, int> seen;
  for (int i = 0; i < kReads; ++i) {
    int number = 0;
    for (int j = 0; j < 150; ++j) {
      ASSERT_EQ(std::fscanf(reports, "%d\n", &number), 1);
      reported[number % 7] = number;
    }
    const auto records = JournalFile::RecordsIn(folder_);
    if (absl::IsUnavailable(records.status())) continue;
    ASSERT_TRUE(records.ok()) << records.status();
    for (const auto& [job, newest] : reported) {
      const auto found = records->find("job " + std::to_string(job));
      ASSERT_NE(found, records->end()) << job;
      const int stored = std::stoi(found->second);
      EXPECT_GE(stored, newest);
      EXPECT_GE(stored, seen[job]);
      seen[job] = stored;
    }
  }
  EXPECT_EQ(seen.size(), 7u);
  kill(pid, SIGKILL);
  std::fclose(reports);
  // The writer ran without an error until the test killed it: no read has taken
  // its lock or harmed its file.
  EXPECT_EQ(ExitCodeOf(*ReapSubprocess(pid)), 128 + SIGKILL);
  EXPECT_TRUE(fs::is_empty(temporary_));
}

class CrashTest : public JournalTest,
                  public ::testing::WithParamInterface<Disk::Later> {};

TEST_P(CrashTest, BeforeAnyWriteKeepsWhatWasReported) {
  int exit_code = -1;
  int steps = 0;
  for (; exit_code != 0; ++steps) {
    ASSERT_LT(steps, 200);
    fs::remove_all(folder_);
    int ends[2];
    ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
    OwnedFd writer(ends[1]);
    const pid_t pid = StartSelf({"--crash", folder_, std::to_string(steps),
                                 std::to_string(static_cast<int>(GetParam()))},
                                writer.get());
    writer.Close();
    std::FILE* const reports = fdopen(ends[0], "r");
    char job = ' ';
    int number = 0;
    std::map<char, int> reported;
    while (std::fscanf(reports, " %c %d", &job, &number) == 2) {
      reported[job] = number;
    }
    std::fclose(reports);
    exit_code = ExitCodeOf(*ReapSubprocess(pid));
    ASSERT_TRUE(exit_code == 0 || exit_code == 128 + SIGKILL) << exit_code;

    const auto journal = Open();
    ASSERT_NE(journal, nullptr) << steps;
    EXPECT_GE(journal->epoch(), reported.empty() ? 1u : 2u) << steps;
    const Records records = journal->TakeRecords();
    const auto stored = [&](const std::string& run_id) {
      return records.contains(run_id) ? std::stoi(records.at(run_id)) : 0;
    };
    EXPECT_GE(stored("a"), reported['a']) << steps;
    // Job b's record is written after the first record of job a, and removed
    // before the second record of a. So b has a record only while a has its
    // first one.
    EXPECT_TRUE(stored("b") == 0 || stored("a") == 1) << steps;
  }
  EXPECT_GT(steps, 10);
}

INSTANTIATE_TEST_SUITE_P(All, CrashTest,
                         ::testing::Values(Disk::Later::kIsKilled,
                                           Disk::Later::kLosesAll,
                                           Disk::Later::kLosesSome,
                                           Disk::Later::kLosesOthers));

}  // namespace
}  // namespace muster::rendezvous

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  if (words.size() == 2 && words[0] == "--open") {
    return muster::rendezvous::OpenInAnotherProcess(words[1]);
  }
  if (words.size() == 3 && words[0] == "--put") {
    return muster::rendezvous::PutWithoutEnd(words[1], std::stoi(words[2]));
  }
  if (words.size() == 4 && words[0] == "--crash") {
    return muster::rendezvous::CrashAfter(
        words[1], std::stoi(words[2]),
        static_cast<muster::rendezvous::Disk::Later>(std::stoi(words[3])));
  }
  testing::InitGoogleMock(&argc, argv);
  return RUN_ALL_TESTS();
}
