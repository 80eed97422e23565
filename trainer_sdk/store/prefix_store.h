#ifndef MUSTER_TRAINER_SDK_STORE_PREFIX_STORE_H_
#define MUSTER_TRAINER_SDK_STORE_PREFIX_STORE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/time.h"
#include "trainer_sdk/store/store.h"

namespace muster {

// A view of another store that contains only the keys that begin with
// "PREFIX/"; the caller omits the prefix. The prefix separates the keys of
// groups, rounds and users, as PyTorch's PrefixStore does. Thread-safe if the
// underlying store is. Errors are those of the underlying store, with the
// prefix removed from the keys that they name.
class PrefixStore final : public Store {
 public:
  PrefixStore(std::string prefix, std::shared_ptr<Store> store);

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
  std::string Whole(const std::string& key) const { return prefix_ + key; }
  // Returns `status` with the prefix removed from the keys in its message, so
  // that the message names the caller's keys.
  absl::Status WithoutPrefix(const absl::Status& status) const;
  std::vector<std::string> Whole(const std::vector<std::string>& keys) const;

  const std::string prefix_;  // ends with "/"
  const std::shared_ptr<Store> store_;
};

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_STORE_PREFIX_STORE_H_
