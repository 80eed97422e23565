#ifndef MUSTER_AGENT_HEALTH_WORDING_H_
#define MUSTER_AGENT_HEALTH_WORDING_H_

#include <cstdint>
#include <string>
#include <vector>

namespace muster::agent {

// How findings say numbers and lists. Pure.

// "80.0 GiB", "512 MiB", "64 KiB".
std::string SizeText(int64_t bytes);

// 12040 as "12.4".
std::string CudaText(int version);

// "12.4" as 12040; 0 where it is none.
int CudaNumber(const std::string& text);

// "a, b, c and 5 more"; at most `most` are written out.
std::string Listed(const std::vector<std::string>& words, size_t most = 6);

// "GPU 3", "GPUs 0, 2-5".
std::string GpusText(const std::vector<int>& indices);

}  // namespace muster::agent

#endif  // MUSTER_AGENT_HEALTH_WORDING_H_
