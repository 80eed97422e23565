#ifndef MUSTER_AGENT_HEALTH_SMALL_FILE_H_
#define MUSTER_AGENT_HEALTH_SMALL_FILE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace muster::agent {

// The maximum number of bytes read from a file in /proc or /sys.
inline constexpr size_t kMaxKernelFileBytes = 64 << 10;

// The content of a short file, without the blanks and line ends at its
// beginning and end; empty if the file does not exist. Does not block on
// devices and pipes.
std::string ReadWord(const std::string& path);

// The decimal integer at the beginning of a file; nullopt if the file begins
// with other text (a cgroup file may contain "max") or cannot be read.
std::optional<int64_t> ReadCount(const std::string& path);

// The sorted names in a folder, without . and ..; at most `most` of them.
std::vector<std::string> ListFolder(const std::string& path,
                                    size_t most = 4096);

// The integer at the beginning of `text`, after blanks; nullopt if there is
// none.
std::optional<int64_t> LeadingNumber(const std::string& text);

}  // namespace muster::agent

#endif  // MUSTER_AGENT_HEALTH_SMALL_FILE_H_
