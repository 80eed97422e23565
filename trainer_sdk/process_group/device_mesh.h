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
  std::string name;  // the dimension's name, such as "dp", "pp" or "tp"
  int size = 1;
};

// The coordinates of `rank` in a mesh whose last dimension varies fastest, as
// in PyTorch's DeviceMesh. Pure.
std::vector<int> MeshCoordinates(const std::vector<MeshDimension>& dimensions,
                                 int rank);

// Returns InvalidArgument with one line if the product of the sizes is not
// `ranks`, or a name is empty or occurs twice. Pure.
absl::Status CheckMesh(const std::vector<MeshDimension>& dimensions, int ranks);

// Arranges the ranks of a group in a grid. For each dimension, this rank forms
// a group with all ranks that have the same coordinates in the other
// dimensions. The ranks of such a group are ordered by their coordinate in this
// dimension. Example:
//
//   DeviceMesh::Create(*world, {{"dp", 2}, {"pp", 2}})
//   rank 3: coordinate("dp") 1, coordinate("pp") 1,
//           group("dp") of ranks {1, 3}, group("pp") of ranks {2, 3}
//
// Thread-safe to the same extent as ProcessGroup.
class DeviceMesh {
 public:
  // Makes a mesh of the ranks of `group`. Collective. `group` may be destroyed
  // before the mesh. InvalidArgument: CheckMesh rejects `dimensions`.
  static absl::StatusOr<std::unique_ptr<DeviceMesh>> Create(
      ProcessGroup& group, std::vector<MeshDimension> dimensions,
      CallOptions options = {});

  // Returns this rank's group in the dimension with the name `dimension`. If
  // there is no such dimension, aborts the process.
  ProcessGroup& group(const std::string& dimension) const;
  int coordinate(const std::string& dimension) const;
  int size(const std::string& dimension) const;

 private:
  DeviceMesh() = default;
  size_t IndexOf(const std::string& dimension) const;

  std::vector<MeshDimension> dimensions_;
  std::vector<int> coordinates_;
  // this rank's group in each dimension, indexed by dimension
  std::vector<std::unique_ptr<ProcessGroup>> groups_;
};

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_PROCESS_GROUP_DEVICE_MESH_H_
