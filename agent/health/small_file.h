#ifndef MUSTER_AGENT_HEALTH_SMALL_FILE_H_
#define MUSTER_AGENT_HEALTH_SMALL_FILE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace muster::agent {

// As much of a file of /proc or /sys as is read: more than all of it.
inline constexpr size_t kMaxKernelFileBytes = 64 << 10;

// A short file without blanks and line ends around it; empty where there is
// none. Devices and pipes do not make it wait.
std::string ReadWord(const std::string& path);

// A whole decimal number at the beginning of a file; nullopt where there is
// none ("max", an error).
std::optional<int64_t> ReadCount(const std::string& path);

// The names in a folder, sorted, without . and ..; at most `most` of them.
std::vector<std::string> ListFolder(const std::string& path,
                                    size_t most = 4096);

// A number at the beginning of `text`, blanks before it skipped.
std::optional<int64_t> LeadingNumber(const std::string& text);

}  // namespace muster::agent

#endif  // MUSTER_AGENT_HEALTH_SMALL_FILE_H_
