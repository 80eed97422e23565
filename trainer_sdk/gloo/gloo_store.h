#ifndef MUSTER_TRAINER_SDK_GLOO_GLOO_STORE_H_
#define MUSTER_TRAINER_SDK_GLOO_GLOO_STORE_H_

#include <gloo/rendezvous/store.h>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "base/time.h"
#include "trainer_sdk/store/store.h"

namespace muster {

// A store of ours as Gloo asks for one. Fails as Gloo expects it: by throwing
// gloo::IoException, with the status's words. Waits until `deadline` at most,
// whatever Gloo's own patience is.
class GlooStore final : public gloo::rendezvous::Store {
 public:
  GlooStore(std::shared_ptr<muster::Store> store, Instant deadline);

  void set(const std::string& key, const std::vector<char>& data) override;
  std::vector<char> get(const std::string& key) override;
  void wait(const std::vector<std::string>& keys) override;
  void wait(const std::vector<std::string>& keys,
            const std::chrono::milliseconds& timeout) override;

 private:
  const std::shared_ptr<muster::Store> store_;
  const Instant deadline_;
};

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_GLOO_GLOO_STORE_H_
