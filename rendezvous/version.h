#ifndef MUSTER_RENDEZVOUS_VERSION_H_
#define MUSTER_RENDEZVOUS_VERSION_H_

namespace muster::rendezvous {

// The version that `--version` of every Muster program shows, beside the
// protocol version.
inline constexpr char kVersion[] = "0.1.0";

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_VERSION_H_
