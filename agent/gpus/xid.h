#ifndef MUSTER_AGENT_GPUS_XID_H_
#define MUSTER_AGENT_GPUS_XID_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

namespace muster::agent {

// The kind of problem that an Xid, an error code of NVIDIA's driver, indicates.
// XidCounts::by_kind has the kinds in this order.
enum class XidKind {
  // The GPU, its memory or a link does not work until the GPU is reset,
  // repaired or replaced.
  kHardware,
  // The usual cause is a fault of the program, according to NVIDIA's catalogue
  // of Xids.
  kApplication,
  kOther,
};
inline constexpr size_t kXidKinds = 3;

// The kind in one word, for labels and messages: hardware, application, other.
const char* NameOf(XidKind kind);

// The kind of an Xid; kOther for an unknown number. Pure.
XidKind KindOf(int xid);

// The meaning of an Xid in a few words. Empty if the Xid is not in the table of
// Xids that mean broken hardware. Pure.
const char* MeaningOf(int xid);

// An Xid of one GPU, as the driver reported it.
struct XidSeen {
  int xid = 0;
  int gpu = -1;      // index of the GPU; -1: unknown
  std::string uuid;  // UUID of the GPU; empty: unknown
};

// A sentence for the agent's log, such as "GPU 3 (GPU-5fdf…): XID 79, hardware:
// the GPU has fallen off the bus". Pure.
std::string XidText(const XidSeen& seen);

// Counts of one GPU's Xids since the GpuWatch, which listens for Xids, was
// constructed.
struct XidCounts {
  std::array<int64_t, kXidKinds> by_kind = {};
  int last = 0;  // the newest Xid; 0: none

  bool operator==(const XidCounts&) const = default;
};

void Count(int xid, XidCounts& counts);

}  // namespace muster::agent

#endif  // MUSTER_AGENT_GPUS_XID_H_
