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

// A damaged checkpoint that OpenNewest or OpenNewestTogether did not open, and
// the reason.
struct SkippedCheckpoint {
  std::string folder;
  std::string reason;
};

// An intact checkpoint. Any process may read any slices of it, even if the
// checkpoint was written by another number of ranks or with another sharding.
// Thread-safe.
//
// Open and OpenNewest read every file once and compare its size and checksum
// with the manifest. OpenNewestTogether divides this work among the ranks of a
// job, and all ranks open the same checkpoint.
class CheckpointReader {
 public:
  // Opens the last saved checkpoint that is intact; skipped() lists newer
  // checkpoints, which are damaged. Blocks while it reads all files.
  // `file_system` is not owned; null: the machine's own file systems (Disk()).
  // NotFound: there is no checkpoint, not even a damaged one. DataLoss: no
  // checkpoint is intact; the message gives the reason for each.
  static absl::StatusOr<std::unique_ptr<CheckpointReader>> OpenNewest(
      const std::string& directory, FileSystem* file_system = nullptr);

  // Opens the checkpoint of `step`. NotFound: there is no checkpoint of that
  // step. DataLoss: the checkpoint is damaged; the message says how. Any other
  // error, such as PermissionDenied: this process or this version cannot read
  // the checkpoint.
  static absl::StatusOr<std::unique_ptr<CheckpointReader>> Open(
      const std::string& directory, int64_t step,
      FileSystem* file_system = nullptr);

  ~CheckpointReader();
  CheckpointReader(const CheckpointReader&) = delete;
  CheckpointReader& operator=(const CheckpointReader&) = delete;

  int64_t step() const;
  // The state string that rank 0 passed to CheckpointWriter::Save.
  const std::string& state() const;
  // The checkpoint's tensors, sorted by name.
  const std::vector<CheckpointTensor>& tensors() const;
  // The path of the folder that contains the checkpoint.
  const std::string& folder() const;
  const std::vector<SkippedCheckpoint>& skipped() const;

  // Reads the elements of each slice into the slice's memory. NotFound: the
  // checkpoint has no such tensor. FailedPrecondition: the type or shape
  // differs; the message gives both. InvalidArgument: a range is outside its
  // tensor. DataLoss, Internal: a file cannot be read.
  absl::Status Read(const std::vector<CheckpointSlice>& slices) const;

 private:
  friend class CheckpointOpening;
  class Body;
  explicit CheckpointReader(std::unique_ptr<Body> body);

  std::unique_ptr<Body> body_;
};

// The steps of opening a checkpoint that are common to OpenNewest (one process)
// and OpenNewestTogether (all ranks).
class CheckpointOpening {
 public:
  // Compares files of a checkpoint with its manifest. The files are divided
  // among `ranks` ranks; only those of rank `rank` are compared.
  static absl::Status Verify(FileSystem& files, const std::string& folder,
                             const Manifest& manifest, int rank, int ranks);

  // Reads and verifies the state file, and makes the reader. The caller must
  // have verified all other files.
  static absl::StatusOr<std::unique_ptr<CheckpointReader>> Make(
      FileSystem& files, const std::string& folder, Manifest manifest,
      std::vector<SkippedCheckpoint> skipped);

  // Whether `status` shows that the checkpoint itself is damaged, so that an
  // older checkpoint may be opened instead. After any other error, such as
  // missing permissions, opening an older checkpoint would silently lose work.
  static bool IsBroken(const absl::Status& status);

  // The error to return if no checkpoint in the directory is intact.
  static absl::Status NoneIsWhole(
      const std::string& directory,
      const std::vector<SkippedCheckpoint>& skipped);
};

// Opens the same checkpoint on all ranks: the last saved checkpoint that every
// rank finds intact. Collective. Each rank verifies some of the files. `call`
// has the options of each group operation; its timeout must suffice for the
// verification on the slowest rank. Returns the errors of
// CheckpointReader::OpenNewest, the same on every rank, or an error of the
// group. NotFound: there is no checkpoint, so the training starts from the
// beginning.
absl::StatusOr<std::unique_ptr<CheckpointReader>> OpenNewestTogether(
    ProcessGroup& group, const std::string& directory,
    FileSystem* file_system = nullptr, CallOptions call = {});

// Reads each rank's slices, and checks that the ranks together read every
// element of the checkpoint. Collective. Errors are those of
// CheckpointReader::Read, on every rank, with the number of the rank that
// failed. FailedPrecondition: some elements are in no rank's slices.
absl::Status ReadTogether(ProcessGroup& group, const CheckpointReader& reader,
                          const std::vector<CheckpointSlice>& slices,
                          CallOptions call = {});

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_CHECKPOINT_CHECKPOINT_READER_H_
