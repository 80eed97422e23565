#ifndef MUSTER_LAUNCHER_HOSTFILE_HOST_FILTER_H_
#define MUSTER_LAUNCHER_HOSTFILE_HOST_FILTER_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "launcher/hostfile/host_file.h"

namespace muster::launcher {

// DeepSpeed's --include and --exclude: HOST[:SLOT,...][@HOST[:SLOT,...]...],
// such as worker-0@worker-1:0,2. Slots count from 0. An IPv6 address with slots
// stands in brackets.
//
// Included hosts and slots are kept, or excluded ones left out; hosts keep the
// file's order, and one without slots left goes. A host's last specification
// holds for --include; those of --exclude add up.
//
// InvalidArgument, one line that begins with the flag: both are given, a host
// that is not in the file, a slot that the host does not have, or nothing left.
absl::StatusOr<std::vector<Host>> FilterHosts(std::vector<Host> hosts,
                                              const std::string& include,
                                              const std::string& exclude);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_HOSTFILE_HOST_FILTER_H_
