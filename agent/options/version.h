#ifndef MUSTER_AGENT_OPTIONS_VERSION_H_
#define MUSTER_AGENT_OPTIONS_VERSION_H_

namespace muster {

// What `--version` shows, besides the protocol's version.
inline constexpr char kVersion[] = "0.1.0";

}  // namespace muster

#endif  // MUSTER_AGENT_OPTIONS_VERSION_H_
