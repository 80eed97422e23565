#ifndef MUSTER_AGENT_HEALTH_WORDING_H_
#define MUSTER_AGENT_HEALTH_WORDING_H_

#include <cstdint>
#include <string>
#include <vector>

namespace muster::agent {

// Formats a number of bytes: "80.0 GiB", "512 MiB", "64 KiB". All functions of
// this file are pure.
std::string SizeText(int64_t bytes);

// Formats a CUDA version: 12040 as "12.4".
std::string CudaText(int version);

// Parses a CUDA version: "12.4" as 12040; 0 if invalid.
int CudaNumber(const std::string& text);

// Formats a list: "a, b, c and 5 more"; at most `most` words are shown.
std::string Listed(const std::vector<std::string>& words, size_t most = 6);

// Formats GPU indices: "GPU 3", "GPUs 0, 2-5".
std::string GpusText(const std::vector<int>& indices);

}  // namespace muster::agent

#endif  // MUSTER_AGENT_HEALTH_WORDING_H_
