#include "launcher/options/remote_options.h"

#include "launcher/options/option_values.h"

namespace muster::launcher {
namespace {

absl::StatusOr<Duration> ReadTimeout(const std::string& text) {
  absl::StatusOr<Duration> timeout = ReadSeconds(text);
  if (timeout.ok() && *timeout < std::chrono::milliseconds(1)) {
    return absl::InvalidArgumentError("is no time; write for example 30");
  }
  return timeout;
}

// Whoever gives one of these means other machines. Without the host file the
// program would run here, where nobody wants it.
void RefuseHostFilesFlags(RemoteStart start, FlagValues& values) {
  const absl::Status why = absl::InvalidArgumentError(
      start == RemoteStart::kSlurm
          ? "is for --hostfile and has no effect on --slurm; leave it out"
          : "is for --hostfile, without which the program runs on this machine "
            "alone; name the host file, or leave this out");
  for (const char* name : {"include", "exclude", "export", "ssh-args",
                           "ssh-timeout", "ssh-fan-out"}) {
    if (values.IsGiven(name)) values.RefuseFlag(name, why);
  }
}

}  // namespace

RemoteOptions ReadRemoteOptions(FlagValues& values) {
  RemoteOptions options;
  // `agent` has none of these flags.
  if (values.Text("ssh-timeout").empty()) return options;
  bool slurm = false;
  values.Into("slurm", ReadSwitch, slurm);
  options.host_file = values.Text("hostfile");
  options.include = values.Text("include");
  options.exclude = values.Text("exclude");
  options.exports = ReadList(values.Text("export"));
  options.ssh_args = values.Text("ssh-args");
  values.Into("ssh-timeout", ReadTimeout, options.ssh_timeout);
  const auto fan_out = [](const std::string& text) {
    return ReadNumber(text, 1, 1024);
  };
  values.Into("ssh-fan-out", fan_out, options.ssh_fan_out);
  options.given = values.Given();
  if (slurm) options.start = RemoteStart::kSlurm;
  if (options.host_file.empty()) {
    RefuseHostFilesFlags(options.start, values);
    return options;
  }
  if (slurm) {
    values.Refuse("hostfile",
                  absl::InvalidArgumentError(
                      "does not go with --slurm, which takes the allocation's "
                      "nodes; give one of the two"));
  }
  options.start = RemoteStart::kHostFile;
  return options;
}

}  // namespace muster::launcher
