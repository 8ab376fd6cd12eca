// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>
#include <variant>

namespace jitprof {

// Why something could not be done: one line of lower-case prose that names the thing, the reason and,
// where known, the fix. Layers on the way up may put context in front; cli/ prints it once.
struct Error {
  std::string message;
};

// A value or the reason there is none. No operator bool: a Result<bool> would be misread.
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}

  bool ok() const { return state_.index() == 0; }
  T& value() { return std::get<0>(state_); }
  const T& value() const { return std::get<0>(state_); }
  const Error& error() const { return std::get<1>(state_); }

  explicit operator bool() const = delete;

 private:
  std::variant<T, Error> state_;
};

struct Nothing {};
using Status = Result<Nothing>;

}  // namespace jitprof

// Yields the value of a Result or returns its error from the enclosing function.
#define JP_TRY(expression)                                           \
  __extension__({                                                    \
    auto jp_result = (expression);                                   \
    if (!jp_result.ok()) return ::jitprof::Error(jp_result.error()); \
    std::move(jp_result.value());                                    \
  })

// A broken promise inside our own code: never for anything a file or a system call may say.
#define JP_CHECK(condition)                                                                \
  do {                                                                                     \
    if (!(condition)) {                                                                    \
      std::fprintf(stderr, "jitprof: bug: %s at %s:%d\n", #condition, __FILE__, __LINE__); \
      std::abort();                                                                        \
    }                                                                                      \
  } while (0)
