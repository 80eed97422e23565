#ifndef MUSTER_LAUNCHER_CONFIG_INSTRUCTLAB_CONFIG_H_
#define MUSTER_LAUNCHER_CONFIG_INSTRUCTLAB_CONFIG_H_

#include "absl/status/statusor.h"
#include "launcher/config/config_meaning.h"
#include "launcher/config/yaml_value.h"

namespace muster::launcher {

// InstructLab's config.yaml: of its `train:` section and that section's
// `additional_args:` what its training library hands to torchrun (TorchrunArgs:
// nproc_per_node, nnodes, node_rank, rdzv_id, rdzv_endpoint or master_addr and
// master_port). The rest is for its own programs and is listed as ignored.
// Pure. InvalidArgument: "FILE:LINE: what is wrong".
absl::StatusOr<ConfigMeaning> ReadInstructLabConfig(
    const YamlValue& document, const ConfigSurroundings& surroundings);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_CONFIG_INSTRUCTLAB_CONFIG_H_
