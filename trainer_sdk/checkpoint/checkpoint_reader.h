#ifndef MUSTER_TRAINER_SDK_CHECKPOINT_CHECKPOINT_READER_H_
#define MUSTER_TRAINER_SDK_CHECKPOINT_CHECKPOINT_READER_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "trainer_sdk/checkpoint/checkpoint_slice.h"

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
// with the manifest. OpenNewestTogether (open_together.h) shares that work
// among the ranks of a job and makes them open the same checkpoint.
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

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_CHECKPOINT_CHECKPOINT_READER_H_
