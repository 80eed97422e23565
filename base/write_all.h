#ifndef MUSTER_BASE_WRITE_ALL_H_
#define MUSTER_BASE_WRITE_ALL_H_

#include <string_view>

namespace muster {

// Writes all `bytes` to the blocking descriptor `fd`, in several pieces if
// needed. Returns false with errno if a write fails, for instance because the
// disk is full.
bool WriteAll(int fd, std::string_view bytes);

}  // namespace muster

#endif  // MUSTER_BASE_WRITE_ALL_H_
