#include "launcher/personality/own_line.h"

#include <fstream>
#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "agent/options/command_line.h"
#include "agent/options/help_text.h"
#include "launcher/hostfile/host_file.h"
#include "launcher/personality/deepspeed_flags.h"
#include "launcher/personality/deepspeed_line.h"
#include "launcher/personality/torch_line.h"

namespace muster {
namespace {

constexpr char kDeepSpeedHelp[] =
    R"(deepspeed: launch, with the command line of DeepSpeed's launcher

Usage:
  deepspeed [FLAGS] PROGRAM [ARGUMENTS]

What becomes of each flag; more of them: launch --help.

)";

// Nothing: there is no such file, as DeepSpeed allows it.
absl::StatusOr<std::optional<std::vector<Host>>> ReadHosts(
    const std::string& path) {
  std::ifstream file(path);
  if (!file) return std::nullopt;
  std::string text(kMostHostFileBytes + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<size_t>(file.gcount()));
  absl::StatusOr<std::vector<Host>> hosts = ParseHostFile(text);
  if (!hosts.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat("--hostfile=", path, ": ", hosts.status().message()));
  }
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

absl::StatusOr<OwnLine> ReadOwnLine(const CalledAs& called,
                                    const std::vector<Flag>& flags) {
  switch (called.personality) {
    case Personality::kLaunch:
      break;
    case Personality::kTorchrun:
      return OwnLineOfTorchrun(flags, called.args);
    case Personality::kTorchLaunch:
      return OwnLineOfTorchLaunch(flags, called.args);
    case Personality::kDeepSpeed:
      return OfDeepSpeed(called.args);
  }
  OwnLine own;
  own.args = called.args;
  return own;
}

}  // namespace muster
