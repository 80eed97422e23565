// Serves a store on 127.0.0.1, and a relay that forwards to it, for tests with
// clients of other projects. Prints both ports, and ends when its stdin ends.

#include <unistd.h>

#include <chrono>
#include <iostream>
#include <string>

#include "base/monotonic_clock.h"
#include "store/relay/store_relay.h"
#include "store/server/store_server.h"

namespace {

void Say(const std::string& notice) { std::cerr << notice + "\n"; }

}  // namespace

int main() {
  auto server = muster::store::StoreServer::Start(
      {.address = "127.0.0.1", .on_notice = &Say});
  if (!server.ok()) {
    std::cerr << server.status() << "\n";
    return 1;
  }
  auto relay = muster::store::StoreRelay::Start(
      {.upstream_host = "127.0.0.1",
       .upstream_port = (*server)->port(),
       .deadline = muster::MonotonicNow() + std::chrono::seconds(20),
       .address = "127.0.0.1",
       .on_notice = &Say});
  if (!relay.ok()) {
    std::cerr << relay.status() << "\n";
    return 1;
  }
  std::cout << (*server)->port() << " " << (*relay)->port() << std::endl;
  char byte;
  while (read(STDIN_FILENO, &byte, 1) > 0) {
  }
  return 0;
}
