#include "trainer_sdk/ddp/broadcast_parameters.h"

#include <cstddef>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "trainer_sdk/ddp/same_parameters.h"
#include "trainer_sdk/process_group/operations.h"

namespace muster {
namespace {

// Values smaller than this are packed into messages of at most this size in
// bytes, because a message of a few bytes costs as much as one of thousands.
constexpr int64_t kPacked = 1 << 20;

int64_t BytesOf(const TensorData& value) {
  return value.count * SizeOf(value.dtype);
}

absl::Status CheckSame(Device& device, ProcessGroup& group,
                       const std::vector<Tensor>& tensors) {
  for (const Tensor& tensor : tensors) {
    absl::Status wrong = CheckData(tensor, tensor.value, "value");
    if (!wrong.ok()) return wrong;
  }
  return CheckSameParameters(device, group, tensors, &Tensor::value);
}

// Broadcasts from rank 0. The type is int8 for every value, because nothing is
// computed.
absl::Status Send(Device& device, ProcessGroup& group, void* data,
                  int64_t bytes, const std::string& what) {
  Operation operation = Broadcast(data, data, bytes, DType::kInt8, 0);
  operation.stream = device.handle(Device::Stream::kCommunication);
  absl::Status status = group.Run(operation);
  if (status.ok()) return status;
  return absl::Status(status.code(), absl::StrCat("sending rank 0's ", what,
                                                  ": ", status.message()));
}

// Broadcasts the values [first, last), in host memory, as one message.
absl::Status SendPacked(ProcessGroup& group, const std::vector<Tensor>& tensors,
                        size_t first, size_t last) {
  std::vector<char> packed;
  for (size_t i = first; i < last; ++i) {
    const char* const data = static_cast<const char*>(tensors[i].value.data);
    packed.insert(packed.end(), data, data + BytesOf(tensors[i].value));
  }
  absl::Status status = Send(
      HostDevice(), group, packed.data(), static_cast<int64_t>(packed.size()),
      absl::StrCat("parameters '", tensors[first].name, "' to '",
                   tensors[last - 1].name, "'"));
  if (!status.ok()) return status;
  const char* from = packed.data();
  for (size_t i = first; i < last; ++i) {
    const auto bytes = static_cast<size_t>(BytesOf(tensors[i].value));
    if (bytes > 0) std::memcpy(tensors[i].value.data, from, bytes);
    from += bytes;
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status BroadcastParameters(ProcessGroup& group,
                                 const std::vector<Tensor>& tensors,
                                 Device& device) {
  absl::Status status = CheckSame(device, group, tensors);
  device.WaitForOther(Device::Stream::kCommunication);
  for (size_t i = 0; i < tensors.size() && status.ok();) {
    const int64_t bytes = BytesOf(tensors[i].value);
    if (bytes >= kPacked || !device.is_host()) {
      status = Send(device, group, tensors[i].value.data, bytes,
                    absl::StrCat("parameter '", tensors[i].name, "'"));
      ++i;
      continue;
    }
    const size_t first = i;
    int64_t packed = 0;
    for (; i < tensors.size() && packed + BytesOf(tensors[i].value) <= kPacked;
         ++i) {
      packed += BytesOf(tensors[i].value);
    }
    status = SendPacked(group, tensors, first, i);
  }
  device.WaitForOther(Device::Stream::kCompute);
  if (status.ok()) status = ConfirmIntact(device, group);
  return status;
}

}  // namespace muster
