#ifndef MUSTER_NCCL_UNIQUE_ID_H_
#define MUSTER_NCCL_UNIQUE_ID_H_

#include <string>

#include "absl/status/statusor.h"
#include "nccl/nccl_abi.h"

namespace muster::nccl {

// Convert an id to 256 lower-case hexadecimal digits and back. InvalidArgument:
// `hex` does not have this form.
std::string HexOf(const NcclUniqueId& id);
absl::StatusOr<NcclUniqueId> NcclUniqueIdOf(const std::string& hex);

}  // namespace muster::nccl

#endif  // MUSTER_NCCL_UNIQUE_ID_H_
