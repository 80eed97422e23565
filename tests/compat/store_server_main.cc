// A store on 127.0.0.1 for the tests of its foreign clients: prints its port,
// and serves until its standard input ends.

#include <unistd.h>

#include <iostream>

#include "store/server/store_server.h"

int main() {
  auto server = muster::StoreServer::Start(
      {.address = "127.0.0.1", .on_notice = [](const std::string& notice) {
         std::cerr << notice + "\n";
       }});
  if (!server.ok()) {
    std::cerr << server.status() << "\n";
    return 1;
  }
  std::cout << (*server)->port() << std::endl;
  char byte;
  while (read(STDIN_FILENO, &byte, 1) > 0) {
  }
  return 0;
}
