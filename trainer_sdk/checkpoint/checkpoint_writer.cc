#include "trainer_sdk/checkpoint/checkpoint_writer.h"

#include <signal.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <ctime>
#include <memory>
#include <new>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/monotonic_clock.h"
#include "trainer_sdk/checkpoint/checkpoint_folders.h"
#include "trainer_sdk/checkpoint/checkpoint_slice.h"
#include "trainer_sdk/checkpoint/exchange.h"
#include "trainer_sdk/checkpoint/joint_save.h"
#include "trainer_sdk/checkpoint/manifest.h"
#include "trainer_sdk/checkpoint/share_plan.h"
#include "trainer_sdk/files/file_system.h"

namespace muster {
namespace {

// Blocks SIGXFSZ in the calling thread while this object lives, so that a write
// beyond the process's file size limit fails; otherwise SIGXFSZ would kill the
// process.
class WithoutSigxfsz {
 public:
  WithoutSigxfsz();
  ~WithoutSigxfsz();
  WithoutSigxfsz(const WithoutSigxfsz&) = delete;
  WithoutSigxfsz& operator=(const WithoutSigxfsz&) = delete;

 private:
  sigset_t before_;
};

sigset_t OnlySigxfsz() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGXFSZ);
  return signals;
}

WithoutSigxfsz::WithoutSigxfsz() {
  const sigset_t signals = OnlySigxfsz();
  pthread_sigmask(SIG_BLOCK, &signals, &before_);
}

WithoutSigxfsz::~WithoutSigxfsz() {
  // If a write exceeded the file size limit, SIGXFSZ is pending for this
  // thread. If the caller had not blocked SIGXFSZ, restoring the signal mask
  // would deliver the signal and kill the process. So consume the signal first.
  if (sigismember(&before_, SIGXFSZ) == 0) {
    const sigset_t signals = OnlySigxfsz();
    const timespec at_once = {};
    while (sigtimedwait(&signals, nullptr, &at_once) > 0) {
    }
  }
  pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

// A copy, made at one moment, of the data that this rank writes to its shard.
// Later saves reuse the memory.
class Snapshot {
 public:
  // Copies the bytes that `layout` lists from `slices` into the snapshot.
  // ResourceExhausted: not enough memory.
  absl::Status Take(const ShardLayout& layout,
                    const std::vector<CheckpointSlice>& slices);

  std::string_view bytes() const { return {data_.get(), size_}; }

 private:
  std::unique_ptr<char[]> data_;
  size_t size_ = 0;
  size_t room_ = 0;
};

absl::Status Snapshot::Take(const ShardLayout& layout,
                            const std::vector<CheckpointSlice>& slices) {
  size_ = static_cast<size_t>(layout.header.data_bytes());
  if (size_ > room_) {
    data_.reset();
    room_ = 0;
    // The memory is not initialised, because the copies below overwrite all of
    // it.
    data_.reset(new (std::nothrow) char[size_]);
    if (data_ == nullptr) {
      return absl::ResourceExhaustedError(
          absl::StrCat("no memory for a snapshot of ", size_, " bytes"));
    }
    room_ = size_;
  }
  for (const ShardCopy& copy : layout.copies) {
    std::memcpy(data_.get() + copy.to,
                static_cast<const char*>(slices[copy.slice].data) + copy.from,
                static_cast<size_t>(copy.bytes));
  }
  return absl::OkStatus();
}

// Longest time for which rank 0 waits for the directory's lock.
// kLocalLockTimeout: the lock's owner is a process of this host; the kernel
// frees the lock when the owner ends. kRemoteLockTimeout: the owner is on
// another host. If that host is lost, the file server frees the lock when the
// lock's lease expires, on NFS after 90 s.
constexpr Duration kLocalLockTimeout = std::chrono::seconds(10);
constexpr Duration kRemoteLockTimeout = std::chrono::minutes(2);

}  // namespace

class CheckpointWriter::Body {
 public:
  Body(ProcessGroup& group, CheckpointOptions options)
      : group_(group),
        options_(std::move(options)),
        files_(options_.file_system != nullptr ? *options_.file_system
                                               : Disk()),
        call_{.timeout = options_.timeout},
        agreement_(group) {}

  ~Body() { Join(); }

  absl::Status Prepare();
  absl::Status Save(int64_t step, const std::vector<CheckpointSlice>& slices,
                    const std::string& state);
  absl::Status Wait() {
    Join();
    return std::exchange(failure_, absl::OkStatus());
  }
  CheckpointTimes times() const { return times_; }
  const std::vector<std::string>& left_over() const { return left_over_; }

 private:
  absl::Status Claim();
  void Write(const JointSave& save);
  void Join() {
    if (thread_.joinable()) thread_.join();
    times_.written += std::exchange(written_, {});
  }

  ProcessGroup& group_;
  const CheckpointOptions options_;
  FileSystem& files_;
  const CallOptions call_;
  // The lock of the checkpoints' directory, so that only one job writes there.
  // Held by rank 0 only.
  std::unique_ptr<FolderLock> lock_;
  std::vector<std::string> left_over_;

  // While the background thread runs, it reads agreement_ and snapshot_, so
  // other threads must not change them.
  SaveAgreement agreement_;
  Snapshot snapshot_;
  // While the background thread runs, it writes whole_, failure_ and written_,
  // so other threads must not use them.
  WholeCheckpoints whole_;
  absl::Status failure_;
  Duration written_{};
  std::thread thread_;

  CheckpointTimes times_;
};

absl::Status CheckpointWriter::Body::Claim() {
  if (options_.directory.empty() || options_.keep < 1 ||
      options_.timeout <= Duration::zero()) {
    return absl::InvalidArgumentError(
        absl::StrCat("a checkpoint writer with the directory '",
                     options_.directory, "', keeping ", options_.keep,
                     ", a timeout of ", ToSeconds(options_.timeout), " s"));
  }
  if (group_.rank() != 0) return absl::OkStatus();
  absl::Status status = files_.CreateFolders(options_.directory);
  if (!status.ok()) return status;
  // The other ranks wait for rank 0 for at most options_.timeout. Rank 0 waits
  // for the lock for at most half of this timeout, so that it can report a
  // failure in time.
  const Instant now = MonotonicNow();
  const Duration most = options_.timeout / 2;
  auto lock =
      files_.Lock(options_.directory,
                  {.here = now + std::min(kLocalLockTimeout, most),
                   .elsewhere = now + std::min(kRemoteLockTimeout, most)});
  if (!lock.ok()) return lock.status();
  lock_ = *std::move(lock);
  auto left = ClearLeftovers(files_, options_.directory);
  if (!left.ok()) return left.status();
  left_over_ = *std::move(left);
  return absl::OkStatus();
}

absl::Status CheckpointWriter::Body::Prepare() {
  const auto path_of = [&](const std::string& nonce) {
    return absl::StrCat(options_.directory, "/", MarkerName(nonce));
  };
  RankMessage mine = {Claim(), ""};
  if (group_.rank() == 0 && mine.status.ok()) {
    mine.bytes = NewNonce();
    mine.status = files_.CreateFile(path_of(mine.bytes)).status();
  }
  auto words = Exchange(group_, mine, call_);
  if (!words.ok()) return words.status();
  absl::Status status = FirstFailureOf(*words);
  if (!status.ok()) return status;
  const std::string marker = path_of(words->front().bytes);
  mine = {};
  if (!files_.OpenFile(marker).ok()) {
    mine.status = absl::FailedPreconditionError(
        absl::StrCat("does not see what rank 0 writes in ", options_.directory,
                     ": all ranks must reach the same folder by this path"));
  }
  words = Exchange(group_, mine, call_);
  // If the marker file cannot be removed, ignore the error: the next writer
  // removes the file with the other leftovers.
  if (group_.rank() == 0) files_.Remove(marker).IgnoreError();
  return words.ok() ? FirstFailureOf(*words) : words.status();
}

absl::Status CheckpointWriter::Body::Save(
    int64_t step, const std::vector<CheckpointSlice>& slices,
    const std::string& state) {
  const Instant begun = MonotonicNow();
  absl::Status status = Wait();
  const Instant waited = MonotonicNow();
  if (status.ok() && static_cast<int64_t>(state.size()) > kMaxStateBytes) {
    status = absl::InvalidArgumentError(absl::StrCat(
        "a state of ", state.size(), " bytes; at most ", kMaxStateBytes));
  }
  // `status` may be the failure of the previous save. Reach makes every rank
  // return this failure, even ranks on which Wait has already returned it.
  status = agreement_.Reach(status, step, slices, call_);
  if (status.ok()) {
    const Instant agreed = MonotonicNow();
    JointSave save = {.directory = options_.directory,
                      .keep = options_.keep,
                      .step = step,
                      .plan = &agreement_.plan(),
                      .digests = agreement_.replicas().Digests(slices),
                      .whole = &whole_};
    const Instant compared = MonotonicNow();
    if (group_.rank() == 0) save.state = state;
    // If this rank cannot make its shard, do not return the error here: the
    // other ranks have already started the save. The background thread sends
    // `save.ready` to them in its next exchange of messages.
    save.ready = agreement_.layout().status();
    if (save.ready.ok()) {
      save.layout = &*agreement_.layout();
      save.ready = snapshot_.Take(*save.layout, slices);
      save.data = snapshot_.bytes();
    }
    times_.compared += compared - agreed;
    times_.copied += MonotonicNow() - compared;
    times_.bytes += static_cast<int64_t>(save.data.size());
    ++times_.saves;
    try {
      thread_ = std::thread([this, save] { Write(save); });
    } catch (const std::system_error&) {
      // If the system cannot start another thread, this thread writes the
      // checkpoint, and Save blocks meanwhile.
      Write(save);
    }
  }
  times_.waited += waited - begun;
  times_.blocked += MonotonicNow() - begun;
  return status;
}

void CheckpointWriter::Body::Write(const JointSave& save) {
  const Instant begun = MonotonicNow();
  const WithoutSigxfsz without_sigxfsz;
  const absl::Status status = SaveTogether(group_, files_, save, call_);
  if (!status.ok()) {
    failure_ = absl::Status(status.code(),
                            absl::StrCat("the checkpoint of step ", save.step,
                                         " was not saved: ", status.message()));
  }
  written_ = MonotonicNow() - begun;
}

absl::StatusOr<std::unique_ptr<CheckpointWriter>> CheckpointWriter::Create(
    ProcessGroup& group, CheckpointOptions options) {
  auto body = std::make_unique<Body>(group, std::move(options));
  if (absl::Status status = body->Prepare(); !status.ok()) return status;
  return std::unique_ptr<CheckpointWriter>(
      new CheckpointWriter(std::move(body)));
}

CheckpointWriter::CheckpointWriter(std::unique_ptr<Body> body)
    : body_(std::move(body)) {}
CheckpointWriter::~CheckpointWriter() = default;

absl::Status CheckpointWriter::Save(int64_t step,
                                    const std::vector<CheckpointSlice>& slices,
                                    const std::string& state) {
  return body_->Save(step, slices, state);
}
absl::Status CheckpointWriter::Wait() { return body_->Wait(); }
CheckpointTimes CheckpointWriter::times() const { return body_->times(); }
const std::vector<std::string>& CheckpointWriter::left_over() const {
  return body_->left_over();
}

}  // namespace muster
