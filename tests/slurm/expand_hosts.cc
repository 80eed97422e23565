// Names the hosts of each line of stdin, between spaces, as
// `scontrol show hostnames` would; "?" for a list that is none.

#include <iostream>
#include <string>

#include "launcher/cluster/slurm/host_list.h"

int main() {
  for (std::string line; std::getline(std::cin, line);) {
    const auto hosts = muster::ExpandHostList(line);
    if (!hosts.ok()) {
      std::cout << "?";
    } else {
      for (const std::string& host : *hosts) std::cout << host << " ";
    }
    std::cout << "\n";
  }
}
