#include "agent/gpus/xid.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace muster::agent {
namespace {

struct Meaning {
  int xid;
  const char* text;
};

// The source is NVIDIA's Xid catalogue of 2025
// (https://docs.nvidia.com/deploy/xid-errors/analyzing-xid-catalog.html). The
// table has the Xids of A100 or newer GPUs for which the catalogue names a part
// of the GPU and demands one of these actions: reset the GPU, reboot the
// machine, check its cables, or repair an NVLink. Not in the table:
//   - 94 (a memory error that ended one program): the GPU continues to work,
//   - 92, 63, 156, 157 (rows or parts taken out of use): the catalogue says to
//     continue to use the GPU,
//   - 109 (a context switch that timed out): programs cause this error, too,
//   - 144 to 150 (NVLink of Blackwell): the number alone does not say whether
//     the GPU needs a reset. A GPU that needs a reset then also reports Xid 48,
//     95 or 154.
constexpr Meaning kHardware[] = {
    {46, "the GPU has stopped processing"},
    {48, "a memory error could not be corrected"},
    {54, "the GPU's power cable is not connected"},
    {62, "a micro-controller of the GPU has halted"},
    {64, "bad memory could not be taken out of use"},
    {74, "an NVLink of the GPU has failed"},
    {79, "the GPU has fallen off the bus"},
    {95, "a memory error has reached several programs"},
    {110, "a security fault of the GPU"},
    {119, "the GPU's system processor does not answer the driver"},
    {120, "the GPU's system processor has failed"},
    {136, "an NVLink could not be trained"},
    {140, "a memory error has escaped the correction"},
    {143, "the GPU could not be initialised"},
    {158, "the GPU has timed out and needs a reset"},
};

// The Xids that NVIDIA's catalogue lists as caused by programs.
constexpr int kApplication[] = {13, 31, 43, 45, 68};

}  // namespace

const char* NameOf(XidKind kind) {
  switch (kind) {
    case XidKind::kHardware:
      return "hardware";
    case XidKind::kApplication:
      return "application";
    case XidKind::kOther:
      return "other";
  }
  return "";
}

XidKind KindOf(int xid) {
  if (*MeaningOf(xid) != '\0') return XidKind::kHardware;
  return std::ranges::count(kApplication, xid) > 0 ? XidKind::kApplication
                                                   : XidKind::kOther;
}

const char* MeaningOf(int xid) {
  for (const Meaning& meaning : kHardware) {
    if (meaning.xid == xid) return meaning.text;
  }
  return "";
}

std::string XidText(const XidSeen& seen) {
  const std::string meaning = MeaningOf(seen.xid);
  return absl::StrCat(
      seen.gpu < 0 ? "a GPU" : absl::StrCat("GPU ", seen.gpu),
      seen.uuid.empty() ? "" : absl::StrCat(" (", seen.uuid, ")"), ": XID ",
      seen.xid, ", ", NameOf(KindOf(seen.xid)),
      meaning.empty() ? "" : absl::StrCat(": ", meaning));
}

void Count(int xid, XidCounts& counts) {
  ++counts.by_kind[static_cast<size_t>(KindOf(xid))];
  counts.last = xid;
}

}  // namespace muster::agent
