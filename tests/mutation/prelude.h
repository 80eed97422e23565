#ifndef MUSTER_TESTS_MUTATION_PRELUDE_H_
#define MUSTER_TESTS_MUTATION_PRELUDE_H_

// Headers that nearly every source file includes. Only used as a precompiled
// header (build.py).

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <queue>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#endif  // MUSTER_TESTS_MUTATION_PRELUDE_H_
