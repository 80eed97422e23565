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

// The name of a file of a checkpoint, with the file's expected size and
// checksum.
struct FileRecord {
  std::string name;
  int64_t bytes = 0;
  // The XXH3-64 hash of the whole content of the file `name`.
  uint64_t checksum = 0;

  bool operator==(const FileRecord&) const = default;
};

// A range of elements of a stored tensor, and the file that contains the range.
struct TensorPart {
  int64_t begin = 0;
  int64_t end = 0;
  // Index, in Manifest::files, of the file with these elements.
  int file = 0;

  bool operator==(const TensorPart&) const = default;
};

struct StoredTensor {
  CheckpointTensor tensor;
  // Consecutive ranges of elements that together cover the tensor.
  std::vector<TensorPart> parts;

  bool operator==(const StoredTensor&) const = default;
};

// The content of manifest.json. A folder without this file is not a checkpoint.
// All functions of this file are pure.
struct Manifest {
  int64_t step = 0;
  // A serial number. A checkpoint that is saved later in the same directory has
  // a higher number.
  int64_t serial = 0;
  int64_t ranks = 0;
  // All files of the checkpoint except manifest.json.
  std::vector<FileRecord> files;
  // The checkpoint's tensors, sorted by name.
  std::vector<StoredTensor> tensors;

  bool operator==(const Manifest&) const = default;
};

// Returns the plan's tensors, each with the files that contain it. `files`: the
// shards, indexed by rank; the file of a rank that wrote no shard has an empty
// name.
std::vector<StoredTensor> StoredTensors(const SharePlan& plan,
                                        std::vector<FileRecord>* files);

// Formats the manifest as JSON. The first line holds the checksum of all
// following lines, so that every changed bit is detected.
std::string WriteManifest(const Manifest& manifest);

// Parses a manifest. DataLoss: the text is damaged, is not a manifest, or is
// inconsistent (a tensor with a gap, a file outside the folder); the message
// gives the reason. Unimplemented: a later version wrote the manifest.
absl::StatusOr<Manifest> ParseManifest(std::string_view bytes);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_CHECKPOINT_MANIFEST_H_
