#include "trainer_sdk/ddp/broadcast_parameters.h"

#include <cstddef>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "trainer_sdk/ddp/parameter.h"
#include "trainer_sdk/ddp/same_parameters.h"
#include "trainer_sdk/process_group/operations.h"

namespace muster {
namespace {

// Values that are smaller are packed into messages of at most this size, as a
// message of a few bytes costs as much as one of thousands.
constexpr int64_t kPacked = 1 << 20;

int64_t BytesOf(const ParameterValue& value) {
  return value.count * SizeOf(value.dtype);
}

absl::Status CheckSame(ProcessGroup& group,
                       const std::vector<ParameterValue>& values) {
  std::vector<DdpParameter> parameters;
  for (const ParameterValue& value : values) {
    if (value.count < 0 || (value.count > 0 && value.data == nullptr)) {
      return absl::InvalidArgumentError(
          absl::StrCat("parameter '", value.name, "' has ", value.count,
                       " elements", value.data == nullptr ? " nowhere" : ""));
    }
    parameters.push_back(
        {.name = value.name, .count = value.count, .dtype = value.dtype});
  }
  return CheckSameParameters(group, parameters);
}

// Bytes, whatever they mean: nothing is computed.
absl::Status Send(ProcessGroup& group, void* data, int64_t bytes,
                  const std::string& what) {
  absl::Status status =
      group.Run(Broadcast(data, data, bytes, DType::kInt8, 0));
  if (status.ok()) return status;
  return absl::Status(status.code(), absl::StrCat("sending rank 0's ", what,
                                                  ": ", status.message()));
}

// Values [first, last), one behind the other.
absl::Status SendPacked(ProcessGroup& group,
                        const std::vector<ParameterValue>& values, size_t first,
                        size_t last) {
  std::vector<char> packed;
  for (size_t i = first; i < last; ++i) {
    const char* const data = static_cast<const char*>(values[i].data);
    packed.insert(packed.end(), data, data + BytesOf(values[i]));
  }
  absl::Status status =
      Send(group, packed.data(), static_cast<int64_t>(packed.size()),
           absl::StrCat("parameters '", values[first].name, "' to '",
                        values[last - 1].name, "'"));
  if (!status.ok()) return status;
  const char* from = packed.data();
  for (size_t i = first; i < last; ++i) {
    const auto bytes = static_cast<size_t>(BytesOf(values[i]));
    if (bytes > 0) std::memcpy(values[i].data, from, bytes);
    from += bytes;
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status BroadcastParameters(ProcessGroup& group,
                                 const std::vector<ParameterValue>& values) {
  absl::Status status = CheckSame(group, values);
  for (size_t i = 0; i < values.size() && status.ok();) {
    const int64_t bytes = BytesOf(values[i]);
    if (bytes >= kPacked) {
      status = Send(group, values[i].data, bytes,
                    absl::StrCat("parameter '", values[i].name, "'"));
      ++i;
      continue;
    }
    const size_t first = i;
    int64_t packed = 0;
    for (; i < values.size() && packed + BytesOf(values[i]) <= kPacked; ++i) {
      packed += BytesOf(values[i]);
    }
    status = SendPacked(group, values, first, i);
  }
  return status;
}

}  // namespace muster
