#ifndef MUSTER_LAUNCHER_HOSTFILE_HOST_FILTER_H_
#define MUSTER_LAUNCHER_HOSTFILE_HOST_FILTER_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "launcher/hostfile/host_file.h"

namespace muster::launcher {

// Applies DeepSpeed's --include or --exclude,
// HOST[:SLOT,...][@HOST[:SLOT,...]...], for example worker-0@worker-1:0,2.
// Slots are numbered from 0. An IPv6 address with slots must be in brackets.
//
// Returns the hosts that remain, in the file's order. A host without remaining
// slots is removed. If --include names a host twice, the last entry counts;
// several entries of --exclude for one host add up.
//
// InvalidArgument, one line that begins with the flag: both flags are given, a
// host is not in the file, a host does not have the slot, or no host remains.
absl::StatusOr<std::vector<Host>> FilterHosts(std::vector<Host> hosts,
                                              const std::string& include,
                                              const std::string& exclude);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_HOSTFILE_HOST_FILTER_H_
