#ifndef MUSTER_TRAINER_SDK_SHARED_MEMORY_MEMORY_ROOM_H_
#define MUSTER_TRAINER_SDK_SHARED_MEMORY_MEMORY_ROOM_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/status.h"

namespace muster {

// Whether this host, and this process's control groups, have `bytes` of memory
// left. ResourceExhausted says what has how much. A file that cannot be read
// is no reason to refuse.
absl::Status CheckMemoryRoom(int64_t bytes);

// Bytes, from the text of /proc/meminfo: MemAvailable and SwapFree.
std::optional<int64_t> AvailableIn(const std::string& meminfo);

// This process's control group of `controller`, from /proc/self/cgroup
// ("" for version 2): a path that starts with a slash.
std::optional<std::string> GroupIn(const std::string& cgroups,
                                   const std::string& controller);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_SHARED_MEMORY_MEMORY_ROOM_H_
