#ifndef MUSTER_LAUNCHER_FRONTEND_FRONTEND_H_
#define MUSTER_LAUNCHER_FRONTEND_FRONTEND_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "launcher/options/flag.h"

namespace muster::launcher {

// The launcher whose command line syntax is used.
enum class Frontend {
  kLaunch,
  kTorchrun,
  kTorchLaunch,  // `python -m torch.distributed.launch`
  kDeepSpeed,
};

struct CalledAs {
  Frontend frontend = Frontend::kLaunch;
  std::vector<std::string> args;  // the arguments, without the program's name
  // The name of the called program in messages: "deepspeed", "launch -m
  // deepspeed".
  std::string name;
};

// Determines the frontend from the name of the program (a link called torchrun,
// deepspeed or ds), or from arguments that begin with -m torch.distributed.run,
// -m torch.distributed.launch or -m deepspeed. Pure.
CalledAs DetectFrontend(const std::string& program,
                        std::vector<std::string> args);

// Another launcher's command line, translated to flags of `launch`.
struct OwnLine {
  std::vector<std::string> args;
  // Environment variables to set in this process.
  std::map<std::string, std::string> variables;
  std::vector<std::string> remarks;  // notices, one line each, printed once
  bool asks_help = false;
  std::string help;  // if asks_help is true: the help text to print
};

// Translates a command line in the syntax of `called.frontend` (torchrun,
// deepspeed) to the syntax of `launch`; a line for `launch` is returned
// unchanged. Reads DeepSpeed's host file if the frontend is kDeepSpeed.
//
// If a translated line names a program to run, the line begins with a flag.
// Therefore `launch` does not take the program's name for one of its
// subcommands.
absl::StatusOr<OwnLine> ReadOwnLine(const CalledAs& called,
                                    const std::vector<Flag>& flags);

// Rewrites an error of `launch` with the flag names of the called launcher.
absl::Status WithFrontendFlagNames(Frontend frontend,
                                   const absl::Status& error);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_FRONTEND_FRONTEND_H_
