#include "rendezvous/probes/probe_answer.h"

#include "absl/strings/str_cat.h"

namespace muster::rendezvous {

ProbeAnswer AnswerProbe(const Probes& probes, const std::string& method,
                        const std::string& target) {
  const std::string path = target.substr(0, target.find('?'));
  const std::function<absl::Status()>* probe = nullptr;
  if (path == "/livez") probe = &probes.live;
  if (path == "/startupz") probe = &probes.started;
  if (path == "/readyz") probe = &probes.ready;
  if (probe == nullptr) {
    return {404, "there are /livez, /startupz and /readyz\n"};
  }
  if (method != "GET" && method != "HEAD") return {405, "GET and HEAD only\n"};
  const absl::Status status = (*probe)();
  if (status.ok()) return {200, "ok\n"};
  return {503, absl::StrCat(status.message(), "\n")};
}

}  // namespace muster::rendezvous
