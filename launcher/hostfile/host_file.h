#ifndef MUSTER_LAUNCHER_HOSTFILE_HOST_FILE_H_
#define MUSTER_LAUNCHER_HOSTFILE_HOST_FILE_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace muster::launcher {

// One host of a job.
struct Host {
  std::string name;  // a host name, an ssh alias or an address, no brackets
  std::string user;  // empty: ssh's own choice
  // How many workers the file asks for; nullopt: it does not say.
  std::optional<int> slots;
  // After a filter that names slots: those, in its order. Empty: all.
  std::vector<int> chosen_slots;

  // What ssh is given: name, or user@name.
  std::string Destination() const;

  bool operator==(const Host&) const = default;
};

inline constexpr size_t kMaxHosts = 100'000;
inline constexpr size_t kMaxHostFileBytes = 8 << 20;
inline constexpr int kMaxSlots = 4096;

// Reads a host file in any of the forms
//
//   host  host slots=4  host slots=4 max_slots=8      DeepSpeed, Open MPI
//   host:4                                            MPICH
//
// with user@host, user=NAME, IPv6 addresses (in brackets before :4), comments
// after '#' and blank lines. Hosts keep the order of their first line. A host
// on several lines has the sum of their slots, where a line without a number
// counts as one, as in Open MPI; DeepSpeed refuses that.
//
// InvalidArgument, one line: "line 3: what is wrong; what to write".
absl::StatusOr<std::vector<Host>> ParseHostFile(std::string_view text);

// Whether `name` can stand as a host on ssh's command line: no option, no
// character that a shell or ssh's configuration takes for something else.
bool IsHostName(std::string_view name);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_HOSTFILE_HOST_FILE_H_
