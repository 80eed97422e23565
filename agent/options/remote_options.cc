#include "agent/options/remote_options.h"

#include "agent/options/option_values.h"

namespace muster {

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
  values.Into("ssh-timeout", ReadSeconds, options.ssh_timeout);
  const auto fan_out = [](const std::string& text) {
    return ReadNumber(text, 1, 1024);
  };
  values.Into("ssh-fan-out", fan_out, options.ssh_fan_out);
  options.given = values.Given();
  if (slurm) options.start = RemoteStart::kSlurm;
  if (options.host_file.empty()) return options;
  if (slurm) {
    values.Refuse("hostfile",
                  absl::InvalidArgumentError(
                      "does not go with --slurm, which takes the allocation's "
                      "nodes; give one of the two"));
  }
  options.start = RemoteStart::kHostFile;
  return options;
}

}  // namespace muster
