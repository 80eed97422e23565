#ifndef MUSTER_LAUNCHER_FRONTEND_DEEPSPEED_FLAGS_H_
#define MUSTER_LAUNCHER_FRONTEND_DEEPSPEED_FLAGS_H_

#include <vector>

#include "absl/status/status.h"
#include "launcher/options/flag.h"

namespace muster::launcher {

// The flags of DeepSpeed's launcher (0.19). The help text of each flag says
// what `launch` does with the flag.
std::vector<Flag> DeepSpeedFlags();

// Rewrites the flag names in `error` as DeepSpeed's users know them:
// --nproc-per-node becomes --num_gpus, --num-gpus becomes --num_gpus.
absl::Status InDeepSpeedsWords(const absl::Status& error);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_FRONTEND_DEEPSPEED_FLAGS_H_
