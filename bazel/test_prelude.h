#ifndef MUSTER_BAZEL_TEST_PRELUDE_H_
#define MUSTER_BAZEL_TEST_PRELUDE_H_

// Headers that nearly every test includes. They are compiled once for all
// tests (precompiled_header.bzl), which saves a third of the time of compiling
// a test. A test still includes the headers that it uses.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <functional>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"

#endif  // MUSTER_BAZEL_TEST_PRELUDE_H_
