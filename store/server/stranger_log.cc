#include "store/server/stranger_log.h"

#include "absl/strings/str_cat.h"

namespace muster::store {

std::string StrangerLog::Refused(const std::string& address) {
  ++connections_;
  if (named_.contains(address)) return "";
  if (named_.size() < kMaxNamed) {
    named_.insert(address);
    ++sentences_;
    return absl::StrCat(
        "the store refused a connection from ", address,
        ": no node of this round has this address; if workers connect from "
        "there, as behind NAT, add it with --store-clients=",
        address);
  }
  if (has_more_) return "";
  has_more_ = true;
  ++sentences_;
  return absl::StrCat("the store refused connections from more than ",
                      kMaxNamed,
                      " addresses outside of the job; the others are counted, "
                      "not named");
}

std::string StrangerLog::Summary() const {
  if (connections_ == sentences_) return "";
  return absl::StrCat("the store refused ", connections_,
                      " connections from addresses outside of the job");
}

}  // namespace muster::store
