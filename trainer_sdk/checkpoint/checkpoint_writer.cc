#include "trainer_sdk/checkpoint/checkpoint_writer.h"

#include <algorithm>
#include <system_error>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/monotonic_clock.h"
#include "trainer_sdk/checkpoint/checkpoint_folders.h"
#include "trainer_sdk/checkpoint/exchange.h"
#include "trainer_sdk/checkpoint/joint_save.h"
#include "trainer_sdk/checkpoint/manifest.h"
#include "trainer_sdk/checkpoint/save_agreement.h"
#include "trainer_sdk/checkpoint/snapshot.h"
#include "trainer_sdk/files/disk.h"
#include "trainer_sdk/files/without_sigxfsz.h"

namespace muster {
namespace {

// The kernel frees the lock of a process when it ends. A file server frees that
// of a lost node when its lease expires, on NFS after 90 s.
constexpr Duration kPatienceHere = std::chrono::seconds(10);
constexpr Duration kPatienceElsewhere = std::chrono::minutes(2);

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
  // Used on rank 0 only.
  std::unique_ptr<FolderLock> lock_;
  std::vector<std::string> left_over_;

  // The background thread reads these while it runs.
  SaveAgreement agreement_;
  Snapshot snapshot_;
  // The background thread writes these while it runs.
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
  // The other ranks wait meanwhile, so this must not exceed the timeout.
  const Instant now = MonotonicNow();
  const Duration most = options_.timeout / 2;
  auto lock =
      files_.Lock(options_.directory,
                  {.here = now + std::min(kPatienceHere, most),
                   .elsewhere = now + std::min(kPatienceElsewhere, most)});
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
  Word mine = {Claim(), ""};
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
  // If it cannot be removed, the next writer removes it with the leftovers.
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
  // All ranks report an earlier failure together, including those that know it.
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
    // A rank that cannot write reports that in the exchange of the background
    // thread, because the other ranks have already started.
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
      // The system has no thread left, so this call writes and blocks.
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
