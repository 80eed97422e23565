#ifndef MUSTER_LAUNCHER_OPTIONS_HELP_TEXT_H_
#define MUSTER_LAUNCHER_OPTIONS_HELP_TEXT_H_

#include <string>
#include <vector>

#include "launcher/options/flag.h"

namespace muster::launcher {

// The flags by group, no line longer than 80 columns: what stands between the
// head and the examples of a help text. Ends in a newline. Pure.
std::string FlagHelp(const std::vector<Flag>& flags);

// "--redirects STREAMS, -r STREAMS" of a flag.
std::string FlagUsage(const Flag& flag);

// `text` in lines of at most `columns`, each after `indent` blanks. Pure.
std::string Filled(const std::string& text, int indent, int columns);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_OPTIONS_HELP_TEXT_H_
