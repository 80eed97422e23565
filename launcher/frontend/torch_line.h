#ifndef MUSTER_LAUNCHER_FRONTEND_TORCH_LINE_H_
#define MUSTER_LAUNCHER_FRONTEND_TORCH_LINE_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "launcher/frontend/frontend.h"
#include "launcher/options/flag.h"

namespace muster::launcher {

// Translates torchrun's command line. `launch` has all flags of torchrun. There
// are two differences. The program is always run by Python, whatever its name.
// The variables of a cluster are read only if --cluster, --slurm or --config is
// given; otherwise --cluster=none applies. Pure. Errors: those of
// ParseCommandLine.
absl::StatusOr<OwnLine> OwnLineOfTorchrun(const std::vector<Flag>& flags,
                                          const std::vector<std::string>& args);

// Translates the command line of torch.distributed.launch, which has the
// additional flag --use-env. Without --use-env the program gets the argument
// --local-rank=N. InvalidArgument: --no-python without --use-env, which PyTorch
// rejects as well.
absl::StatusOr<OwnLine> OwnLineOfTorchLaunch(
    const std::vector<Flag>& flags, const std::vector<std::string>& args);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_FRONTEND_TORCH_LINE_H_
