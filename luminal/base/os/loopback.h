// LoopbackServer: one page for a browser on this machine, and for nobody else.
#pragma once

#include <cstdint>
#include <string>

namespace luminal::base {

// Listens on 127.0.0.1 alone. Requests that name another host are refused, so that a page from
// elsewhere can't read this one by pointing its own name here.
class LoopbackServer {
 public:
  // Port 0: one that is free. DeviceError where it is taken.
  explicit LoopbackServer(uint16_t port);
  ~LoopbackServer();
  LoopbackServer(const LoopbackServer&) = delete;
  LoopbackServer& operator=(const LoopbackServer&) = delete;

  uint16_t port() const { return port_; }
  std::string address() const;  // "http://127.0.0.1:8080/"

  // Answers every request for "/" with the page, until the process ends.
  [[noreturn]] void serve(std::string html);

 private:
  int socket_ = -1;
  uint16_t port_ = 0;
};

// The answer to a request's head, as sent: 200 with the page, or a refusal. Apart, for tests.
std::string answer_to(const std::string& request_head, uint16_t port, const std::string& html);

}  // namespace luminal::base
