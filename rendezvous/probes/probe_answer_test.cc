#include "rendezvous/probes/probe_answer.h"

#include <gtest/gtest.h>

namespace muster::rendezvous {
namespace {

TEST(ProbeAnswerTest, EachPathIsItsQuestion) {
  const Probes probes = {
      .live = [] { return absl::OkStatus(); },
      .started = [] { return absl::UnavailableError("not yet"); },
      .ready = [] { return absl::UnavailableError("it waits"); }};
  const struct {
    const char* method;
    const char* target;
    int status;
    const char* body;
  } cases[] = {
      {"GET", "/livez", 200, "ok\n"},
      {"HEAD", "/livez", 200, "ok\n"},
      {"GET", "/livez?verbose", 200, "ok\n"},
      {"GET", "/startupz", 503, "not yet\n"},
      {"GET", "/readyz", 503, "it waits\n"},
      {"POST", "/livez", 405, "GET and HEAD only\n"},
      {"GET", "/", 404, "there are /livez, /startupz and /readyz\n"},
      {"GET", "", 404, "there are /livez, /startupz and /readyz\n"},
      {"GET", "/livezz", 404, "there are /livez, /startupz and /readyz\n"},
  };
  for (const auto& c : cases) {
    const ProbeAnswer answer = AnswerProbe(probes, c.method, c.target);
    EXPECT_EQ(answer.status, c.status) << c.method << " " << c.target;
    EXPECT_EQ(answer.body, c.body) << c.method << " " << c.target;
  }
}

}  // namespace
}  // namespace muster::rendezvous
