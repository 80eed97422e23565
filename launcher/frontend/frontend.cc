#include "launcher/frontend/frontend.h"

#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/bounded_file.h"
#include "launcher/frontend/deepspeed_line.h"
#include "launcher/frontend/torch_line.h"
#include "launcher/hostfile/host_file.h"
#include "launcher/options/command_line.h"

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

constexpr char kDeepSpeedHelp[] =
    R"(deepspeed: launch, with the command line of DeepSpeed's launcher

Usage:
  deepspeed [FLAGS] PROGRAM [ARGUMENTS]

What becomes of each flag; more of them: launch --help.

)";

// Reads DeepSpeed's host file. nullopt: the file does not exist, which
// DeepSpeed allows.
absl::StatusOr<std::optional<std::vector<Host>>> ReadHosts(
    const std::string& path) {
  const auto refuse = [&path](const absl::Status& why) {
    return absl::InvalidArgumentError(
        absl::StrCat("--hostfile=", path, ": ", why.message()));
  };
  const absl::StatusOr<std::string> text =
      ReadBoundedFile(path, kMaxHostFileBytes);
  if (absl::IsNotFound(text.status())) return std::nullopt;
  if (!text.ok()) return refuse(text.status());
  absl::StatusOr<std::vector<Host>> hosts = ParseHostFile(*text);
  if (!hosts.ok()) return refuse(hosts.status());
  return *std::move(hosts);
}

absl::StatusOr<OwnLine> OfDeepSpeed(const std::vector<std::string>& args) {
  const absl::StatusOr<CommandLine> line =
      ParseCommandLine(DeepSpeedFlags(), args);
  if (!line.ok()) return line.status();
  if (line->values.count("help") > 0) {
    OwnLine own;
    own.asks_help = true;
    own.help = absl::StrCat(kDeepSpeedHelp, FlagHelp(DeepSpeedFlags()));
    return own;
  }
  const auto hosts = ReadHosts(HostFileOf(*line));
  if (!hosts.ok()) return hosts.status();
  absl::StatusOr<OwnLine> own = OwnLineOfDeepSpeed(*line, *hosts);
  if (own.ok() && !hosts->has_value() && line->values.count("hostfile") > 0) {
    own->remarks.push_back(absl::StrCat(
        "--hostfile=", HostFileOf(*line),
        ": there is no such file; only this node is used, as DeepSpeed does"));
  }
  return own;
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

absl::StatusOr<OwnLine> ReadOwnLine(const CalledAs& called,
                                    const std::vector<Flag>& flags) {
  switch (called.frontend) {
    case Frontend::kLaunch:
      break;
    case Frontend::kTorchrun:
      return OwnLineOfTorchrun(flags, called.args);
    case Frontend::kTorchLaunch:
      return OwnLineOfTorchLaunch(flags, called.args);
    case Frontend::kDeepSpeed:
      return OfDeepSpeed(called.args);
  }
  OwnLine own;
  own.args = called.args;
  return own;
}

absl::Status WithFrontendFlagNames(Frontend frontend,
                                   const absl::Status& error) {
  return frontend == Frontend::kDeepSpeed ? WithDeepSpeedFlagNames(error)
                                          : error;
}

}  // namespace muster::launcher
