#ifndef MUSTER_TRAINER_SDK_CHECKPOINT_CHECKPOINT_READER_H_
#define MUSTER_TRAINER_SDK_CHECKPOINT_CHECKPOINT_READER_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "trainer_sdk/checkpoint/checkpoint_slice.h"
#include "trainer_sdk/checkpoint/manifest.h"
#include "trainer_sdk/files/file_system.h"
#include "trainer_sdk/process_group/process_group.h"

namespace muster {

class FileSystem;

// A checkpoint that was passed over, and the reason.
struct SkippedCheckpoint {
  std::string folder;
  std::string reason;
};

// An intact checkpoint. Any process may read any slices of it, even if it was
// written by another number of ranks or with another sharding. Thread-safe.
//
// Open and OpenNewest read every file once and compare its size and checksum
// with the manifest. OpenNewestTogether shares that work among the ranks of a
// job and makes them open the same checkpoint.
class CheckpointReader {
 public:
  // Opens the intact checkpoint that was saved last; skipped() lists those
  // passed over. Blocks while it reads all files. `file_system`: not owned;
  // null: the machine's. NotFound: there is no checkpoint, not even a damaged
  // one. DataLoss: there are checkpoints but none is intact; gives each one's
  // reason.
  static absl::StatusOr<std::unique_ptr<CheckpointReader>> OpenNewest(
      const std::string& directory, FileSystem* file_system = nullptr);

  // Opens the checkpoint of `step`. NotFound: there is none. DataLoss: it is
  // damaged; says how. Other errors, such as PermissionDenied: it cannot be
  // read here, or not by this version.
  static absl::StatusOr<std::unique_ptr<CheckpointReader>> Open(
      const std::string& directory, int64_t step,
      FileSystem* file_system = nullptr);

  ~CheckpointReader();
  CheckpointReader(const CheckpointReader&) = delete;
  CheckpointReader& operator=(const CheckpointReader&) = delete;

  int64_t step() const;
  // The state string that rank 0 passed to Save.
  const std::string& state() const;
  // Sorted by name.
  const std::vector<CheckpointTensor>& tensors() const;
  // The path of its folder.
  const std::string& folder() const;
  const std::vector<SkippedCheckpoint>& skipped() const;

  // Fills the slices. NotFound: the checkpoint has no such tensor.
  // FailedPrecondition: the type or shape differs; names both. InvalidArgument:
  // a range is outside its tensor. DataLoss, Internal: a file cannot be read.
  absl::Status Read(const std::vector<CheckpointSlice>& slices) const;

 private:
  friend class CheckpointOpening;
  class Body;
  explicit CheckpointReader(std::unique_ptr<Body> body);

  std::unique_ptr<Body> body_;
};

// The steps of opening a checkpoint, shared by the single-process and the
// collective way.
class CheckpointOpening {
 public:
  // Compares with the manifest those of the checkpoint's files that rank `rank`
  // of `ranks` has to verify.
  static absl::Status Verify(FileSystem& files, const std::string& folder,
                             const Manifest& manifest, int rank, int ranks);

  // Reads and verifies the state file. The caller has verified all other files.
  static absl::StatusOr<std::unique_ptr<CheckpointReader>> Make(
      FileSystem& files, const std::string& folder, Manifest manifest,
      std::vector<SkippedCheckpoint> skipped);

  // Whether the failure is due to the checkpoint itself, so that an older one
  // may be opened instead. Missing permissions or file descriptors are not: to
  // open an older checkpoint then would silently lose work.
  static bool IsBroken(const absl::Status& status);

  // The error when no checkpoint in the directory is intact.
  static absl::Status NoneIsWhole(
      const std::string& directory,
      const std::vector<SkippedCheckpoint>& skipped);
};

// Collective: all ranks open the same checkpoint, namely the last saved one
// that is intact for all of them. Each verifies some of the files. Errors are
// those of CheckpointReader::OpenNewest, the same on every rank, and the
// group's. `call` applies to each of its operations, which wait for the slowest
// rank to verify. NotFound: there is no checkpoint; start afresh.
absl::StatusOr<std::unique_ptr<CheckpointReader>> OpenNewestTogether(
    ProcessGroup& group, const std::string& directory,
    FileSystem* file_system = nullptr, CallOptions call = {});

// Collective: fills each rank's slices, and checks that the ranks together read
// every element of the checkpoint. Errors are those of CheckpointReader::Read,
// on every rank, with the number of the rank that failed. FailedPrecondition:
// no rank asked for a tensor or a part of it.
absl::Status ReadTogether(ProcessGroup& group, const CheckpointReader& reader,
                          const std::vector<CheckpointSlice>& slices,
                          CallOptions call = {});

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_CHECKPOINT_CHECKPOINT_READER_H_
