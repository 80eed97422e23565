#ifndef MUSTER_TRAINER_SDK_PROCESS_GROUP_FORMING_STORE_H_
#define MUSTER_TRAINER_SDK_PROCESS_GROUP_FORMING_STORE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/time.h"
#include "trainer_sdk/process_group/formation.h"
#include "trainer_sdk/store/store.h"

namespace muster {

// Forwards to another store. If the formation is given up, a blocked call
// returns the formation's cause at once, even if the store hangs; the store may
// still execute the call. Once the formation has ended, calls are forwarded
// directly.
class FormingStore final : public Store {
 public:
  FormingStore(std::shared_ptr<Store> store,
               std::shared_ptr<Formation> formation);

  absl::Status Set(const std::string& key, const std::string& value) override;
  absl::StatusOr<std::string> Get(const std::string& key,
                                  Instant deadline) override;
  absl::Status Wait(const std::vector<std::string>& keys,
                    Instant deadline) override;
  absl::StatusOr<int64_t> Add(const std::string& key, int64_t amount) override;
  absl::StatusOr<std::string> CompareSet(const std::string& key,
                                         const std::string& expected,
                                         const std::string& desired) override;
  absl::StatusOr<bool> Delete(const std::string& key) override;
  absl::StatusOr<bool> Check(const std::vector<std::string>& keys) override;

 private:
  template <typename Result>
  Result Call(std::function<Result(Store& store)> call);
  template <typename Result>
  Result CallUntil(std::function<Result(Store& store, Instant until)> call,
                   Instant deadline);

  const std::shared_ptr<Store> store_;
  const std::shared_ptr<Formation> formation_;
};

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_PROCESS_GROUP_FORMING_STORE_H_
