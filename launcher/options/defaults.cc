#include "launcher/options/defaults.h"

namespace muster::launcher {

bool IsEndpointGiven(const FlagValues& given) {
  return given.IsGiven("rdzv-endpoint") || given.IsGiven("master-addr");
}

Defaults Layered(Defaults first, const Defaults& second) {
  const bool names_endpoint = first.flags.count("rdzv-endpoint") > 0 ||
                              first.flags.count("master-addr") > 0;
  if (!first.is_host && !names_endpoint) first.is_host = second.is_host;
  if (first.job_messages == agent::JobMessages::kAll) {
    first.job_messages = second.job_messages;
  }
  if (!first.join_timeout) first.join_timeout = second.join_timeout;
  if (first.cluster == Cluster::kNone) first.cluster = second.cluster;
  if (!first.rejoin_timeout) first.rejoin_timeout = second.rejoin_timeout;
  if (first.absent_hint.empty()) first.absent_hint = second.absent_hint;
  first.flags.insert(second.flags.begin(), second.flags.end());
  first.worker_environment.insert(second.worker_environment.begin(),
                                  second.worker_environment.end());
  if (first.program.empty()) first.program = second.program;
  first.remarks.insert(first.remarks.end(), second.remarks.begin(),
                       second.remarks.end());
  return first;
}

}  // namespace muster::launcher
