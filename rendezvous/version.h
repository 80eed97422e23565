#ifndef MUSTER_RENDEZVOUS_VERSION_H_
#define MUSTER_RENDEZVOUS_VERSION_H_

namespace muster {

// What `--version` of every program of ours shows, besides the protocol's
// version.
inline constexpr char kVersion[] = "0.1.0";

}  // namespace muster

#endif  // MUSTER_RENDEZVOUS_VERSION_H_
