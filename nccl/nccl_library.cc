#include "nccl/nccl_library.h"

#include <cstdlib>
#include <cstring>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/dynamic_library.h"

namespace muster::nccl {
namespace {

constexpr char kWhatHelps[] =
    "; install NCCL 2.14 or newer, or name its file in MUSTER_NCCL_LIBRARY";

std::string Dotted(int version) {
  return absl::StrCat(version / 10000, ".", version / 100 % 100, ".",
                      version % 100);
}

constexpr char kDigits[] = "0123456789abcdef";

int ValueOf(char digit) {
  const char* const found =
      digit == '\0' ? nullptr : std::strchr(kDigits, digit);
  return found == nullptr ? -1 : static_cast<int>(found - kDigits);
}

}  // namespace

std::string NcclLibrary::DefaultName() {
  const char* const named = std::getenv("MUSTER_NCCL_LIBRARY");
  return named != nullptr && *named != '\0' ? named : "libnccl.so.2";
}

absl::StatusOr<std::shared_ptr<const NcclLibrary>> NcclLibrary::Load(
    const std::string& name) {
  const absl::StatusOr<DynamicLibrary> file = DynamicLibrary::Load(name);
  if (!file.ok()) {
    return absl::NotFoundError(absl::StrCat(
        "there is no NCCL here: ", file.status().message(), kWhatHelps));
  }
  std::shared_ptr<NcclLibrary> nccl(new NcclLibrary);
  nccl->name_ = name;
  NcclResult (*get_version)(int*) = nullptr;
  if (!file->Find("ncclGetVersion", &get_version) ||
      get_version(&nccl->version_) != kNcclSuccess) {
    return absl::NotFoundError(
        absl::StrCat(name, " is no NCCL: it tells no version", kWhatHelps));
  }
  std::string missing;
  const auto needed = [&](const char* symbol, auto* function) {
    if (!file->Find(symbol, function) && missing.empty()) missing = symbol;
  };
  needed("ncclGetErrorString", &nccl->GetErrorString);
  needed("ncclGetUniqueId", &nccl->GetUniqueId);
  needed("ncclCommInitRankConfig", &nccl->CommInitRankConfig);  // NCCL >= 2.14
  needed("ncclCommFinalize", &nccl->CommFinalize);              // NCCL >= 2.14
  needed("ncclCommDestroy", &nccl->CommDestroy);
  needed("ncclCommAbort", &nccl->CommAbort);
  needed("ncclCommGetAsyncError", &nccl->CommGetAsyncError);
  needed("ncclAllReduce", &nccl->AllReduce);
  needed("ncclReduceScatter", &nccl->ReduceScatter);
  needed("ncclAllGather", &nccl->AllGather);
  needed("ncclBroadcast", &nccl->Broadcast);
  needed("ncclReduce", &nccl->Reduce);
  needed("ncclSend", &nccl->Send);
  needed("ncclRecv", &nccl->Recv);
  needed("ncclGroupStart", &nccl->GroupStart);
  needed("ncclGroupEnd", &nccl->GroupEnd);
  if (!missing.empty()) {
    return absl::NotFoundError(absl::StrCat(name, " is NCCL ",
                                            nccl->VersionText(), " without ",
                                            missing, kWhatHelps));
  }
  file->Find("ncclGetLastError", &nccl->GetLastError);      // NCCL >= 2.13
  file->Find("ncclCommSplit", &nccl->CommSplit);            // NCCL >= 2.18
  file->Find("ncclMemAlloc", &nccl->MemAlloc);              // NCCL >= 2.19
  file->Find("ncclMemFree", &nccl->MemFree);                // NCCL >= 2.19
  file->Find("ncclCommRegister", &nccl->CommRegister);      // NCCL >= 2.19
  file->Find("ncclCommDeregister", &nccl->CommDeregister);  // NCCL >= 2.19
  return std::shared_ptr<const NcclLibrary>(std::move(nccl));
}

std::string NcclLibrary::VersionText() const { return Dotted(version_); }

std::string NcclLibrary::Explain(NcclResult result, NcclComm comm) const {
  const char* const text = GetErrorString(result);
  std::string explained =
      text == nullptr ? absl::StrCat("error ", result) : std::string(text);
  const char* const last =
      GetLastError == nullptr ? nullptr : GetLastError(comm);
  if (last != nullptr && *last != '\0') {
    absl::StrAppend(&explained, ": ", last);
  }
  return explained;
}

std::string HexOf(const NcclUniqueId& id) {
  std::string hex;
  hex.reserve(2 * kNcclUniqueIdBytes);
  for (const char byte : id.internal) {
    hex += kDigits[static_cast<unsigned char>(byte) >> 4];
    hex += kDigits[byte & 0xf];
  }
  return hex;
}

absl::StatusOr<NcclUniqueId> NcclUniqueIdOf(const std::string& hex) {
  NcclUniqueId id;
  const auto invalid = [&] {
    return absl::InvalidArgumentError(
        absl::StrCat("an NCCL id is ", 2 * kNcclUniqueIdBytes,
                     " hexadecimal digits in lower case; this is none, of ",
                     hex.size(), " characters"));
  };
  if (hex.size() != 2 * kNcclUniqueIdBytes) return invalid();
  for (int i = 0; i < kNcclUniqueIdBytes; ++i) {
    const int high = ValueOf(hex[2 * i]);
    const int low = ValueOf(hex[2 * i + 1]);
    if (high < 0 || low < 0) return invalid();
    id.internal[i] = static_cast<char>(high << 4 | low);
  }
  return id;
}

}  // namespace muster::nccl
