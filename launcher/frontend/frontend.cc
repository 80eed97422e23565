#include "launcher/frontend/frontend.h"

#include <utility>

namespace muster::launcher {
namespace {

std::string BaseName(const std::string& path) {
  return path.substr(path.find_last_of('/') + 1);
}

Frontend OfName(const std::string& name) {
  if (name == "torchrun") return Frontend::kTorchrun;
  if (name == "deepspeed" || name == "ds") return Frontend::kDeepSpeed;
  return Frontend::kLaunch;
}

Frontend OfModule(const std::string& module) {
  if (module == "torch.distributed.run") return Frontend::kTorchrun;
  if (module == "torch.distributed.launch") return Frontend::kTorchLaunch;
  if (module == "deepspeed" || module == "deepspeed.launcher.runner") {
    return Frontend::kDeepSpeed;
  }
  return Frontend::kLaunch;
}

}  // namespace

CalledAs DetectFrontend(const std::string& program,
                        std::vector<std::string> args) {
  CalledAs called{
      .frontend = OfName(BaseName(program)), .args = {}, .name = "launch"};
  if (called.frontend != Frontend::kLaunch) {
    called.name = BaseName(program);
  }
  if (called.frontend == Frontend::kLaunch && args.size() >= 2 &&
      args[0] == "-m") {
    called.frontend = OfModule(args[1]);
    if (called.frontend != Frontend::kLaunch) {
      called.name += " -m " + args[1];
      args.erase(args.begin(), args.begin() + 2);
    }
  }
  called.args = std::move(args);
  return called;
}

}  // namespace muster::launcher
