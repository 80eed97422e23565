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

// A checkpoint that was not opened, and why.
struct SkippedCheckpoint {
  std::string folder;
  std::string reason;
};

// A whole checkpoint, of which anybody may have any slices, whoever wrote them:
// another number of ranks, another sharding. Thread-safe.
//
// Open and OpenNewest read every file once and compare its size and checksum
// with the manifest's. The ranks of a job share that work and agree about what
// they open with OpenNewestTogether (open_together.h).
class CheckpointReader {
 public:
  // The one that was saved last of those that are whole; skipped() tells what
  // was passed over. `file_system`: not owned; null: the machine's.
  // NotFound: there is none, not even a broken one. DataLoss: there are, but
  // none is whole: each one's reason.
  static absl::StatusOr<std::unique_ptr<CheckpointReader>> OpenNewest(
      const std::string& directory, FileSystem* file_system = nullptr);

  // NotFound: none of this step. DataLoss: it is not whole, and why. Others,
  // such as PermissionDenied: it cannot be read here, or not by this version.
  static absl::StatusOr<std::unique_ptr<CheckpointReader>> Open(
      const std::string& directory, int64_t step,
      FileSystem* file_system = nullptr);

  ~CheckpointReader();
  CheckpointReader(const CheckpointReader&) = delete;
  CheckpointReader& operator=(const CheckpointReader&) = delete;

  int64_t step() const;
  // What rank 0 gave.
  const std::string& state() const;
  // By name.
  const std::vector<CheckpointTensor>& tensors() const;
  // Where it lies.
  const std::string& folder() const;
  const std::vector<SkippedCheckpoint>& skipped() const;

  // Fills the slices. NotFound: the checkpoint has no such tensor.
  // FailedPrecondition: it has another type or shape: both. InvalidArgument: a
  // range outside its tensor. DataLoss, Internal: a file cannot be read.
  absl::Status Read(const std::vector<CheckpointSlice>& slices) const;

 private:
  friend class CheckpointOpening;
  class Body;
  explicit CheckpointReader(std::unique_ptr<Body> body);

  std::unique_ptr<Body> body_;
};

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_CHECKPOINT_CHECKPOINT_READER_H_
