#include "trainer_sdk/process_group/device_mesh.h"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"

namespace muster {

std::vector<int> MeshCoordinates(const std::vector<MeshDimension>& dimensions,
                                 int rank) {
  std::vector<int> coordinates(dimensions.size());
  for (size_t i = dimensions.size(); i-- > 0;) {
    coordinates[i] = rank % dimensions[i].size;
    rank /= dimensions[i].size;
  }
  return coordinates;
}

absl::Status CheckMesh(const std::vector<MeshDimension>& dimensions,
                       int ranks) {
  int64_t product = 1;
  std::set<std::string> names;
  std::string shape;
  for (const MeshDimension& dimension : dimensions) {
    if (dimension.name.empty() || !names.insert(dimension.name).second) {
      return absl::InvalidArgumentError(
          absl::StrCat("a mesh's dimensions need names of their own, not '",
                       dimension.name, "'"));
    }
    if (dimension.size < 1 || dimension.size > ranks) {
      return absl::InvalidArgumentError(
          absl::StrCat("mesh dimension ", dimension.name, " of ",
                       dimension.size, " in a group of ", ranks));
    }
    // The multiplication cannot overflow an int64_t: both factors were checked
    // to be at most `ranks`, which is an int.
    product *= dimension.size;
    absl::StrAppend(&shape, shape.empty() ? "" : " x ", dimension.name, "=",
                    dimension.size);
    if (product > ranks) break;
  }
  if (product != ranks || dimensions.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "a mesh of ", shape, " does not make up a group of ", ranks));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<DeviceMesh>> DeviceMesh::Create(
    ProcessGroup& group, std::vector<MeshDimension> dimensions,
    CallOptions options) {
  const absl::Status status = CheckMesh(dimensions, group.size());
  if (!status.ok()) return status;
  std::unique_ptr<DeviceMesh> mesh(new DeviceMesh());
  mesh->dimensions_ = std::move(dimensions);
  mesh->coordinates_ = MeshCoordinates(mesh->dimensions_, group.rank());
  int stride = group.size();
  for (size_t i = 0; i < mesh->dimensions_.size(); i++) {
    const MeshDimension& dimension = mesh->dimensions_[i];
    stride /= dimension.size;
    // The ranks that differ only in their coordinate in this dimension form a
    // group, which is a line of the grid. Split needs a color that is equal for
    // all ranks of a line and differs between lines: the first rank of the
    // line.
    const int color = group.rank() - mesh->coordinates_[i] * stride;
    auto line =
        group.Split(color, mesh->coordinates_[i], dimension.name, options);
    if (!line.ok()) return line.status();
    mesh->groups_.push_back(*std::move(line));
  }
  return mesh;
}

size_t DeviceMesh::IndexOf(const std::string& dimension) const {
  for (size_t i = 0; i < dimensions_.size(); i++) {
    if (dimensions_[i].name == dimension) return i;
  }
  // An unknown name is an error of the calling program, so print a message with
  // the valid names before aborting. MUSTER_CHECK would blame a line of this
  // file instead.
  std::string names;
  for (const MeshDimension& known : dimensions_) {
    absl::StrAppend(&names, names.empty() ? "" : ", ", known.name);
  }
  std::fprintf(stderr,
               "DeviceMesh: no dimension is called '%s'; this mesh has: %s\n",
               dimension.c_str(), names.c_str());
  std::fflush(stderr);
  std::abort();
}

ProcessGroup& DeviceMesh::group(const std::string& dimension) const {
  return *groups_[IndexOf(dimension)];
}

int DeviceMesh::coordinate(const std::string& dimension) const {
  return coordinates_[IndexOf(dimension)];
}

int DeviceMesh::size(const std::string& dimension) const {
  return dimensions_[IndexOf(dimension)].size;
}

}  // namespace muster
