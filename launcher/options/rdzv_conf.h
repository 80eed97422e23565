#ifndef MUSTER_LAUNCHER_OPTIONS_RDZV_CONF_H_
#define MUSTER_LAUNCHER_OPTIONS_RDZV_CONF_H_

#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "base/time.h"

namespace muster::launcher {

// What --rdzv-conf says; what it does not say is not set.
struct RdzvConf {
  std::optional<Duration> join_timeout;
  std::optional<Duration> rejoin_timeout;
  std::optional<Duration> last_call_timeout;
  std::optional<Duration> close_timeout;
  std::optional<Duration> keep_alive_interval;
  std::optional<int> keep_alive_max_attempt;
  std::optional<Duration> read_timeout;
  std::optional<Duration> timeout;
  std::optional<bool> is_host;
  std::optional<bool> mixed_nodes;  // JobSpec::mixed_nodes
  bool meets_in_file = false;       // store_type=file, which is not done here
};

// Reads "key=value,key=value". Keys of torchrun's that steer its own rendezvous
// are taken without effect. InvalidArgument: what was wrong and what to
// write, without the flag's name; an unknown key lists the known ones.
absl::StatusOr<RdzvConf> ReadRdzvConf(const std::string& text);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_OPTIONS_RDZV_CONF_H_
