#ifndef MUSTER_TRAINER_SDK_NETWORK_NETWORK_TRANSPORT_H_
#define MUSTER_TRAINER_SDK_NETWORK_NETWORK_TRANSPORT_H_

#include <memory>
#include <mutex>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "trainer_sdk/network/mesh.h"
#include "trainer_sdk/network/scratch.h"
#include "trainer_sdk/process_group/failure_record.h"
#include "trainer_sdk/process_group/signature.h"
#include "trainer_sdk/process_group/transport.h"

namespace muster {

// A Transport over any Mesh: the algorithms, and the one cause for which the
// group is broken. Aborts and errors reach every rank because whoever fails
// writes the cause into the group's store and then cuts its connections.
class NetworkTransport final : public Transport {
 public:
  // `name`: of the transport, a literal.
  NetworkTransport(const char* name, GroupPlace place,
                   std::unique_ptr<Mesh> mesh);

  const char* name() const override { return name_; }
  absl::Status Execute(const Operation& operation,
                       const OperationContext& context) override;
  // Does `operation` as a step of another: what peers are told, compare and
  // see in errors is `signature`. One step for each of its numbers.
  absl::Status ExecuteAs(const Operation& operation,
                         const OperationSignature& signature, Instant deadline);
  void Abort(const std::string& reason) override;
  // Unimplemented: a network's memory is memory.
  absl::StatusOr<std::unique_ptr<TransportMemory>> Allocate(
      int64_t bytes, const OperationContext& context) override;

  // For the end of an operation that went well here: OK, or why another rank
  // has given the group up since, although all that this rank needed of it had
  // come before. Asks the store only where a peer has hung up.
  absl::Status BrokenElsewhere();

  // As Abort, for any cause; the group's cause, which may be an earlier one.
  // Any thread.
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
  absl::Status broken_;  // guarded by mutex_
};

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_NETWORK_NETWORK_TRANSPORT_H_
