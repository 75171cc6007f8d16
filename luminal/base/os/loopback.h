// LoopbackServer: serves one page to browsers on this machine only.
#pragma once

#include <cstdint>
#include <string>

namespace luminal::base {

// Listens on 127.0.0.1 only. Requests whose Host header names another host are refused, which
// prevents DNS rebinding: a foreign page that points its own name here can't read this one.
class LoopbackServer {
 public:
  // Port 0 means any free one. DeviceError if the port is taken.
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

// The response to a request's head: 200 with the page, or a refusal. Public for tests.
std::string answer_to(const std::string& request_head, uint16_t port, const std::string& html);

}  // namespace luminal::base
