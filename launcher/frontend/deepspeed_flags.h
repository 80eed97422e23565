#ifndef MUSTER_LAUNCHER_FRONTEND_DEEPSPEED_FLAGS_H_
#define MUSTER_LAUNCHER_FRONTEND_DEEPSPEED_FLAGS_H_

#include <vector>

#include "absl/status/status.h"
#include "launcher/options/flag.h"

namespace muster::launcher {

// The flags of DeepSpeed's launcher (0.19), --help with what becomes of each.
std::vector<Flag> DeepSpeedFlags();

// `error` with DeepSpeed's spelling of its flags and of those that they have
// become: --num_gpus.
absl::Status InDeepSpeedsWords(const absl::Status& error);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_FRONTEND_DEEPSPEED_FLAGS_H_
