#ifndef MUSTER_LAUNCHER_HOSTFILE_HOST_FILE_H_
#define MUSTER_LAUNCHER_HOSTFILE_HOST_FILE_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace muster::launcher {

// One host of a job, from a host file.
struct Host {
  std::string name;  // host name, ssh alias or address (without brackets)
  std::string user;  // user name for ssh; empty: ssh chooses it
  // Number of workers on the host; nullopt: the file gives no number.
  std::optional<int> slots;
  // The slots that --include names, in its order, or that --exclude leaves,
  // ascending. Empty: all slots.
  std::vector<int> chosen_slots;

  // The destination argument for ssh: NAME or USER@NAME.
  std::string Destination() const;

  bool operator==(const Host&) const = default;
};

inline constexpr size_t kMaxHosts = 100'000;
inline constexpr size_t kMaxHostFileBytes = 8 << 20;
inline constexpr int kMaxSlots = 4096;

// Reads a host file in any of these formats:
//
//   host  host slots=4  host slots=4 max_slots=8      DeepSpeed, Open MPI
//   host:4                                            MPICH
//
// also with user@host, user=NAME, IPv6 addresses (in brackets if :4 follows),
// comments after '#' and blank lines. Hosts keep the order of their first line.
// The slots of a host that is on several lines are added; a line without a
// number counts as one slot, as in Open MPI. (DeepSpeed rejects a repeated
// host.)
//
// InvalidArgument, one line: "line 3: what is wrong; what to write".
absl::StatusOr<std::vector<Host>> ParseHostFile(std::string_view text);

// Whether `name` is safe as a host on ssh's command line. `name` must not be an
// option, and must have no character that is special for a shell or in ssh's
// configuration.
bool IsHostName(std::string_view name);

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

#endif  // MUSTER_LAUNCHER_HOSTFILE_HOST_FILE_H_
