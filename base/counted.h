#ifndef MUSTER_BASE_COUNTED_H_
#define MUSTER_BASE_COUNTED_H_

#include <cstdint>
#include <string>
#include <string_view>

namespace muster {

// Formats a count with its noun, in the plural unless `count` is 1: "1 node",
// "2 nodes".
inline std::string Counted(int64_t count, std::string_view noun) {
  std::string text = std::to_string(count);
  text.append(" ").append(noun);
  return count == 1 ? text : text + "s";
}

}  // namespace muster

#endif  // MUSTER_BASE_COUNTED_H_
