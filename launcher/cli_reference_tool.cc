// Prints docs/CLI.md.
#include <cstdio>

#include "launcher/cli_reference.h"

int main() {
  std::fputs(muster::CliReference().c_str(), stdout);
  return 0;
}
