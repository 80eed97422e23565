#include "launcher/personality/personality.h"

#include <utility>

namespace muster::launcher {
namespace {

std::string BaseName(const std::string& path) {
  return path.substr(path.find_last_of('/') + 1);
}

Personality OfName(const std::string& name) {
  if (name == "torchrun") return Personality::kTorchrun;
  if (name == "deepspeed" || name == "ds") return Personality::kDeepSpeed;
  return Personality::kLaunch;
}

Personality OfModule(const std::string& module) {
  if (module == "torch.distributed.run") return Personality::kTorchrun;
  if (module == "torch.distributed.launch") return Personality::kTorchLaunch;
  if (module == "deepspeed" || module == "deepspeed.launcher.runner") {
    return Personality::kDeepSpeed;
  }
  return Personality::kLaunch;
}

}  // namespace

CalledAs WhoIsCalled(const std::string& program,
                     std::vector<std::string> args) {
  CalledAs called{
      .personality = OfName(BaseName(program)), .args = {}, .name = "launch"};
  if (called.personality != Personality::kLaunch) {
    called.name = BaseName(program);
  }
  if (called.personality == Personality::kLaunch && args.size() >= 2 &&
      args[0] == "-m") {
    called.personality = OfModule(args[1]);
    if (called.personality != Personality::kLaunch) {
      called.name += " -m " + args[1];
      args.erase(args.begin(), args.begin() + 2);
    }
  }
  called.args = std::move(args);
  return called;
}

}  // namespace muster::launcher
