#ifndef MUSTER_TRAINER_SDK_CHECKPOINT_MANIFEST_H_
#define MUSTER_TRAINER_SDK_CHECKPOINT_MANIFEST_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "trainer_sdk/checkpoint/checkpoint_slice.h"
#include "trainer_sdk/checkpoint/share_plan.h"

namespace muster {

inline constexpr int64_t kMaxManifestBytes = int64_t{256} << 20;
inline constexpr int64_t kMaxStateBytes = int64_t{1} << 30;
inline constexpr char kManifestFile[] = "manifest.json";
inline constexpr char kStateFile[] = "state";

// A file of a checkpoint, as it must be.
struct FileRecord {
  std::string name;
  int64_t bytes = 0;
  // XXH3-64 of all of it.
  uint64_t checksum = 0;

  bool operator==(const FileRecord&) const = default;
};

// Elements of a tensor, and the file that has them.
struct TensorPart {
  int64_t begin = 0;
  int64_t end = 0;
  // In the manifest's list of files.
  int file = 0;

  bool operator==(const TensorPart&) const = default;
};

struct StoredTensor {
  CheckpointTensor tensor;
  // One behind the other, all of the tensor.
  std::vector<TensorPart> parts;

  bool operator==(const StoredTensor&) const = default;
};

// What makes a folder a checkpoint. Pure, like all of this file.
struct Manifest {
  int64_t step = 0;
  // Of the checkpoints of a directory, the one saved later has the higher.
  int64_t serial = 0;
  int64_t ranks = 0;
  // The state among them.
  std::vector<FileRecord> files;
  // By name.
  std::vector<StoredTensor> tensors;

  bool operator==(const Manifest&) const = default;
};

// The plan's tensors, in the files of the ranks that wrote them; `files` are
// the shards, by rank, with no name where a rank wrote none.
std::vector<StoredTensor> StoredTensors(const SharePlan& plan,
                                        std::vector<FileRecord>* files);

// As JSON whose first line holds the checksum of all that follows, so that not
// one bit of it can change unnoticed.
std::string WriteManifest(const Manifest& manifest);

// DataLoss: a bit has changed, or it is none, or it contradicts itself (a
// tensor with a hole, a file outside the folder); what is wrong. Unimplemented:
// of a later version.
absl::StatusOr<Manifest> ParseManifest(std::string_view bytes);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_CHECKPOINT_MANIFEST_H_
