#ifndef MUSTER_TRAINER_SDK_SHARED_MEMORY_MEMORY_ROOM_H_
#define MUSTER_TRAINER_SDK_SHARED_MEMORY_MEMORY_ROOM_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/status.h"

namespace muster {

// Checks that this host and this process's control groups have `bytes` of
// memory left. ResourceExhausted names the limit and the amount left. A file
// that cannot be read is ignored.
absl::Status CheckMemoryRoom(int64_t bytes);

// Available bytes, parsed from /proc/meminfo: MemAvailable plus SwapFree.
std::optional<int64_t> AvailableIn(const std::string& meminfo);

// The path, with a leading slash, of this process's control group for
// `controller` ("" for version 2), parsed from /proc/self/cgroup.
std::optional<std::string> GroupIn(const std::string& cgroups,
                                   const std::string& controller);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_SHARED_MEMORY_MEMORY_ROOM_H_
