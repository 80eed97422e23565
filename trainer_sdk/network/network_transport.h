#ifndef MUSTER_TRAINER_SDK_NETWORK_NETWORK_TRANSPORT_H_
#define MUSTER_TRAINER_SDK_NETWORK_NETWORK_TRANSPORT_H_

#include <memory>
#include <mutex>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "trainer_sdk/network/mesh.h"
#include "trainer_sdk/network/primitives.h"
#include "trainer_sdk/process_group/failure_record.h"
#include "trainer_sdk/process_group/signature.h"
#include "trainer_sdk/process_group/transport.h"

namespace muster {

// A Transport over any Mesh. It adds the collective algorithms, and makes all
// ranks report the same cause if the group breaks: a rank that fails writes the
// cause to the group's store and then closes its connections. Its peers notice
// the closed connections and read the cause.
class NetworkTransport final : public Transport {
 public:
  // `name`: the transport's name, such as "tcp". It must be a string literal,
  // because the transport keeps the pointer.
  NetworkTransport(const char* name, GroupPlace place,
                   std::unique_ptr<Mesh> mesh);

  const char* name() const override { return name_; }
  absl::Status Execute(const Operation& operation,
                       const OperationContext& context) override;
  // Performs `operation` as one step of a larger operation, which has the
  // signature `signature`. Errors name the larger operation. The ranks compare
  // `signature` to detect that they have called different operations. At most
  // one step of each larger operation may be performed by this transport.
  absl::Status ExecuteAs(const Operation& operation,
                         const OperationSignature& signature, Instant deadline);
  void Abort(const std::string& reason) override;
  // Always Unimplemented: a network transport has no special memory.
  absl::StatusOr<std::unique_ptr<TransportMemory>> Allocate(
      int64_t bytes, const OperationContext& context) override;

  // Called after an operation that succeeded on this rank. If another rank has
  // broken the group, marks the group as broken on this rank as well, and
  // returns the cause; otherwise returns OK. Asks the store only if a peer has
  // closed its connection.
  absl::Status BrokenElsewhere();

  // Breaks the group like Abort, but with any cause. Returns the cause on which
  // the ranks agreed: `cause`, or an earlier one of any rank. Any thread.
  absl::Status Break(const absl::Status& cause);

 private:
  absl::Status broken() const;
  std::string OthersThatAreLate(const std::string& operation) const;

  const char* const name_;
  const GroupPlace place_;
  const FailureRecord record_;
  const std::unique_ptr<Mesh> mesh_;
  Scratch scratch_;

  mutable std::mutex mutex_;
  absl::Status broken_;  // why the group is broken, or OK; guarded by mutex_
};

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_NETWORK_NETWORK_TRANSPORT_H_
