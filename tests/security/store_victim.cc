// The worker of the attacked job in store_test. Prints the address of its
// round's store. Also prints whether the key "forged" exists, which no worker
// sets. Then waits for the key "go", and exits with the number in its value.

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "base/monotonic_clock.h"
#include "trainer_sdk/store/tcp_store.h"

namespace muster {
namespace {

std::string Variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

int Work() {
  const Instant deadline = MonotonicNow() + std::chrono::seconds(120);
  const std::string host = Variable("MASTER_ADDR");
  const std::string port = Variable("MASTER_PORT");
  auto store = TcpStore::Connect({.host = host,
                                  .port = std::atoi(port.c_str()),
                                  .connect_deadline = deadline});
  if (!store.ok()) {
    std::fprintf(stderr, "%s\n", store.status().ToString().c_str());
    return 20;
  }
  const auto forged = (*store)->Check({"forged"});
  std::printf("up rank=%s round=%s host=%s port=%s forged=%s .\n",
              Variable("RANK").c_str(),
              Variable("TORCHELASTIC_RESTART_COUNT").c_str(), host.c_str(),
              port.c_str(),
              !forged.ok() ? "unknown" : (*forged ? "yes" : "no"));
  std::fflush(stdout);
  const auto go = (*store)->Get("go", deadline);
  return go.ok() ? std::atoi(go->c_str()) : 21;
}

}  // namespace
}  // namespace muster

int main() { return muster::Work(); }
