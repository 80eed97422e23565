// Expands the host list in each line of stdin to names separated by spaces, as
// `scontrol show hostnames` does. Prints "?" for an invalid list.

#include <iostream>
#include <string>

#include "launcher/cluster/slurm/host_list.h"

int main() {
  for (std::string line; std::getline(std::cin, line);) {
    const auto hosts = muster::launcher::ExpandHostList(line);
    if (!hosts.ok()) {
      std::cout << "?";
    } else {
      for (const std::string& host : *hosts) std::cout << host << " ";
    }
    std::cout << "\n";
  }
}
