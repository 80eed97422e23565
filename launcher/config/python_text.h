#ifndef MUSTER_LAUNCHER_CONFIG_PYTHON_TEXT_H_
#define MUSTER_LAUNCHER_CONFIG_PYTHON_TEXT_H_

#include <string>

#include "launcher/config/yaml_value.h"

namespace muster::launcher {

// The text that Python's str() returns for a value that yaml.safe_load has
// read: "None" for null, "True" for yes, "0.1" for 0.10, and a list in Python's
// notation. The text of any other scalar is returned unchanged. Unlike in
// Python, every map gives "{}".
std::string PythonText(const YamlValue& value);

std::string Lower(std::string text);
std::string Upper(std::string text);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_CONFIG_PYTHON_TEXT_H_
