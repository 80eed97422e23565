#ifndef MUSTER_TRAINER_SDK_PROCESS_GROUP_DEVICE_MESH_H_
#define MUSTER_TRAINER_SDK_PROCESS_GROUP_DEVICE_MESH_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "trainer_sdk/process_group/process_group.h"

namespace muster {

struct MeshDimension {
  std::string name;  // "dp", "pp", "tp"
  int size = 1;
};

// The coordinates of `rank` in a mesh whose last dimension varies fastest, as
// in PyTorch's DeviceMesh. Pure.
std::vector<int> MeshCoordinates(const std::vector<MeshDimension>& dimensions,
                                 int rank);

// InvalidArgument, one line: the dimensions do not make up `ranks`, or their
// names are empty or not their own. Pure.
absl::Status CheckMesh(const std::vector<MeshDimension>& dimensions, int ranks);

// The ranks of a group in a grid, with a group for each dimension: of those
// that differ from this rank in that dimension only, ranked along it.
//
//   DeviceMesh::Create(*world, {{"dp", 2}, {"pp", 2}})
//   rank 3: coordinate("dp") 1, coordinate("pp") 1,
//           group("dp") of ranks {1, 3}, group("pp") of ranks {2, 3}
//
// Thread-safe as its groups are.
class DeviceMesh {
 public:
  // Collective on `group`, which may go before the mesh does.
  static absl::StatusOr<std::unique_ptr<DeviceMesh>> Create(
      ProcessGroup& group, std::vector<MeshDimension> dimensions,
      CallOptions options = {});

  // The name must be a dimension's: anything else ends the process.
  ProcessGroup& group(const std::string& dimension) const;
  int coordinate(const std::string& dimension) const;
  int size(const std::string& dimension) const;

  const std::vector<MeshDimension>& dimensions() const { return dimensions_; }

 private:
  DeviceMesh() = default;
  size_t IndexOf(const std::string& dimension) const;

  std::vector<MeshDimension> dimensions_;
  std::vector<int> coordinates_;
  std::vector<std::unique_ptr<ProcessGroup>> groups_;  // one a dimension
};

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_PROCESS_GROUP_DEVICE_MESH_H_
