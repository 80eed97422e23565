#ifndef MUSTER_LAUNCHER_FRONTEND_TORCH_LINE_H_
#define MUSTER_LAUNCHER_FRONTEND_TORCH_LINE_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "launcher/frontend/frontend.h"
#include "launcher/options/flag.h"

namespace muster::launcher {

// torchrun's command line: our own flags are a superset of its; but its program
// runs under Python whatever it is called, and the cluster around it says
// nothing (--cluster=none), unless --cluster, --slurm or --config is given.
// Pure. Errors as ParseCommandLine's.
absl::StatusOr<OwnLine> OwnLineOfTorchrun(const std::vector<Flag>& flags,
                                          const std::vector<std::string>& args);

// torch.distributed.launch's: --use-env besides, and without it the program
// finds --local-rank=N.
// InvalidArgument: --no-python without --use-env, as there.
absl::StatusOr<OwnLine> OwnLineOfTorchLaunch(
    const std::vector<Flag>& flags, const std::vector<std::string>& args);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_FRONTEND_TORCH_LINE_H_
