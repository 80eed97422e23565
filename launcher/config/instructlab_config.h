#ifndef MUSTER_LAUNCHER_CONFIG_INSTRUCTLAB_CONFIG_H_
#define MUSTER_LAUNCHER_CONFIG_INSTRUCTLAB_CONFIG_H_

#include "absl/status/statusor.h"
#include "launcher/config/config_meaning.h"
#include "launcher/config/yaml_value.h"

namespace muster::launcher {

// Reads InstructLab's config.yaml: the keys of its `train:` section and of that
// section's `additional_args:` that InstructLab's training library passes to
// torchrun (TorchrunArgs: nproc_per_node, nnodes, node_rank, rdzv_id,
// rdzv_endpoint or master_addr and master_port). All other keys are for
// InstructLab's own programs and are listed as ignored. Pure. InvalidArgument:
// "FILE:LINE: what is wrong".
absl::StatusOr<ConfigMeaning> ReadInstructLabConfig(
    const YamlValue& document, const ConfigSurroundings& surroundings);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_CONFIG_INSTRUCTLAB_CONFIG_H_
