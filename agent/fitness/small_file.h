#ifndef MUSTER_AGENT_FITNESS_SMALL_FILE_H_
#define MUSTER_AGENT_FITNESS_SMALL_FILE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace muster {

// The beginning of a file of /proc, /sys or a package, at most `most` bytes
// (embedded zeros kept); nullopt where it cannot be read. Devices and pipes do
// not make it wait.
std::optional<std::string> ReadSmallFile(const std::string& path,
                                         size_t most = 64 << 10);

// The same without blanks and line ends around it; empty where there is none.
std::string ReadWord(const std::string& path);

// A whole decimal number at the beginning of a file; nullopt where there is
// none ("max", an error).
std::optional<int64_t> ReadCount(const std::string& path);

// The names in a folder, sorted, without . and ..; at most `most` of them.
std::vector<std::string> ListFolder(const std::string& path,
                                    size_t most = 4096);

// A number at the beginning of `text`, blanks before it skipped.
std::optional<int64_t> LeadingNumber(const std::string& text);

}  // namespace muster

#endif  // MUSTER_AGENT_FITNESS_SMALL_FILE_H_
