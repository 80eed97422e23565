#include "trainer_sdk/process_group/local_transport.h"

#include <cstring>
#include <mutex>
#include <string>

#include "absl/strings/str_cat.h"

namespace muster {
namespace {

class LocalTransport final : public Transport {
 public:
  const char* name() const override { return "local"; }

  absl::Status Execute(const Operation& operation,
                       const OperationContext&) override {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      if (!aborted_.ok()) return aborted_;
    }
    const size_t bytes =
        Elements(operation, 1) * static_cast<size_t>(SizeOf(operation.dtype));
    if (bytes > 0 && operation.output != operation.input &&
        operation.kind != OperationKind::kBatch) {
      std::memcpy(operation.output, operation.input, bytes);
    }
    return absl::OkStatus();
  }

  void Abort(const std::string& reason) override {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (aborted_.ok()) aborted_ = absl::AbortedError(reason);
  }

  absl::StatusOr<std::unique_ptr<TransportMemory>> Allocate(
      int64_t, const OperationContext&) override {
    return absl::UnimplementedError("a group of one needs no special memory");
  }

 private:
  std::mutex mutex_;
  absl::Status aborted_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Transport>> NewLocalTransport(
    const GroupPlace& place) {
  if (place.size != 1) {
    return absl::InvalidArgumentError(
        absl::StrCat(place.size, " ranks: the local transport is for one"));
  }
  return std::make_unique<LocalTransport>();
}

}  // namespace muster
