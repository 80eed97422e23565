// A program that prints the file docs/CLI.md.
#include <cstdio>

#include "launcher/cli_reference.h"

int main() {
  std::fputs(muster::launcher::CliReference().c_str(), stdout);
  return 0;
}
