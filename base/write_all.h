#ifndef MUSTER_BASE_WRITE_ALL_H_
#define MUSTER_BASE_WRITE_ALL_H_

#include <string_view>

namespace muster {

// Writes `bytes` to `fd`, which blocks, in as many pieces as it takes. False:
// it failed half-way, as on a full disk, and errno says why.
bool WriteAll(int fd, std::string_view bytes);

}  // namespace muster

#endif  // MUSTER_BASE_WRITE_ALL_H_
