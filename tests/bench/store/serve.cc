// Runs a store for measurements: prints its port, and ends when its stdin ends.

#include <unistd.h>

#include <cstdio>
#include <string>
#include <utility>

#include "store/server/store_server.h"

int main() {
  muster::store::StoreServerOptions options;
  options.on_notice = [](const std::string& sentence) {
    std::fprintf(stderr, "%s\n", sentence.c_str());
  };
  auto server = muster::store::StoreServer::Start(std::move(options));
  if (!server.ok()) {
    std::fprintf(stderr, "%s\n", server.status().ToString().c_str());
    return 1;
  }
  std::printf("%d\n", (*server)->port());
  std::fflush(stdout);
  char byte;
  while (read(STDIN_FILENO, &byte, 1) > 0) {
  }
  return 0;
}
