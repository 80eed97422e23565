#ifndef MUSTER_LAUNCHER_FRONTEND_FRONTEND_H_
#define MUSTER_LAUNCHER_FRONTEND_FRONTEND_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace muster::launcher {

// Whose command line this is.
enum class Frontend {
  kLaunch,
  kTorchrun,
  kTorchLaunch,  // python -m torch.distributed.launch
  kDeepSpeed,
};

struct CalledAs {
  Frontend frontend = Frontend::kLaunch;
  std::vector<std::string> args;  // without the program's name
  std::string name;  // "deepspeed", "launch -m deepspeed": for messages
};

// By the name of the program (a link called torchrun, deepspeed or ds), or by
// what would follow `python` in a command line that begins so: -m
// torch.distributed.run, -m torch.distributed.launch, -m deepspeed. Pure.
CalledAs WhoIsCalled(const std::string& program, std::vector<std::string> args);

// Another launcher's command line in our own words.
struct OwnLine {
  std::vector<std::string> args;
  std::map<std::string, std::string> variables;  // of this process
  std::vector<std::string> remarks;              // one line each, said once
  bool asks_help = false;
  std::string help;  // asks_help: what is to be printed
};

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_FRONTEND_FRONTEND_H_
