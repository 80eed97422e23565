#include "trainer_sdk/process_group/split_meeting.h"

#include <string>

namespace muster {

Operation SplitOperation() {
  Operation operation;
  operation.kind = OperationKind::kSplit;
  return operation;
}

absl::Status MeetToSplit(Transport& transport,
                         const std::shared_ptr<Formation>& formation,
                         const OperationContext& context) {
  const FormationReaction given_up(
      formation, [&transport](const absl::Status& cause) {
        transport.Abort(std::string(cause.message()));
      });
  return transport.Execute(SplitOperation(), context);
}

}  // namespace muster
