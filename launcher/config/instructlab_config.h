#ifndef MUSTER_LAUNCHER_CONFIG_INSTRUCTLAB_CONFIG_H_
#define MUSTER_LAUNCHER_CONFIG_INSTRUCTLAB_CONFIG_H_

#include "absl/status/statusor.h"
#include "launcher/config/config_meaning.h"
#include "launcher/config/yaml_value.h"

namespace muster::launcher {

// Reads InstructLab's config.yaml. From its `train:` section and that section's
// `additional_args:`, takes the keys that InstructLab's training library passes
// to torchrun. These are the fields of TorchrunArgs: nproc_per_node, nnodes,
// node_rank, rdzv_id, and rdzv_endpoint or master_addr and master_port. All
// other keys are for InstructLab's own programs and are listed as ignored.
// Pure. InvalidArgument: "FILE:LINE: what is wrong".
absl::StatusOr<ConfigMeaning> ReadInstructLabConfig(
    const YamlValue& document, const ConfigSurroundings& surroundings);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_CONFIG_INSTRUCTLAB_CONFIG_H_
