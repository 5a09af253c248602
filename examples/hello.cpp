// SPDX-License-Identifier: Apache-2.0
//
// The first program: an actor that adds, and a question to it.
#include <tactus/tactus.hpp>
using namespace std::chrono_literals;

struct add   { int value; };
struct total { tactus::actor_ref<int> reply_to; };

class sum : public tactus::actor<add, total> {          // the protocol
 public:
  void on(const add& m)   { total_ += m.value; }
  void on(const total& m) { m.reply_to.tell(total_); }
 private:
  int total_ = 0;
};

int main() {
  tactus::actor_system system{"demo"};
  auto ref = system.spawn<sum>("sum");                    // actor_ref<add, total>
  for (int i = 1; i <= 100; ++i) ref.tell(add{i});
  auto answer = system.ask<int>(ref, [](auto me) { return total{me}; }, 1s);   // blocking outside actors
  return answer.value() == 5050 ? 0 : 1;
}
