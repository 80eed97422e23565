#ifndef MUSTER_STORE_SERVER_STORE_LOAD_H_
#define MUSTER_STORE_SERVER_STORE_LOAD_H_

#include <cstdint>

namespace muster::store {

// The load of a store server. After the server has been closed, only
// `requests` is not 0.
struct StoreLoad {
  int64_t requests = 0;     // requests handled since the start
  int64_t keys = 0;         // keys with a value, queues not included
  int64_t bytes = 0;        // memory of keys, values, queues and waits
  int64_t waiting = 0;      // clients that wait for keys or at barriers
  int64_t connections = 0;  // open connections; a relay has one
};

}  // namespace muster::store

#endif  // MUSTER_STORE_SERVER_STORE_LOAD_H_
