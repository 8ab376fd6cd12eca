// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <type_traits>
#include <utility>

namespace jitprof {

template <class Signature>
class FunctionRef;

// A callable that lives elsewhere and longer than the call it is passed to. Never allocates, unlike
// std::function, and costs one indirect call.
template <class Return, class... Arguments>
class FunctionRef<Return(Arguments...)> {
 public:
  template <class Callable, class = std::enable_if_t<!std::is_same_v<std::decay_t<Callable>, FunctionRef>>>
  FunctionRef(Callable&& callable)
      : callable_(const_cast<void*>(static_cast<const void*>(&callable))),
        call_([](void* target, Arguments... arguments) -> Return {
          return (*static_cast<std::remove_reference_t<Callable>*>(target))(
              std::forward<Arguments>(arguments)...);
        }) {}

  Return operator()(Arguments... arguments) const {
    return call_(callable_, std::forward<Arguments>(arguments)...);
  }

 private:
  void* callable_;
  Return (*call_)(void*, Arguments...);
};

}  // namespace jitprof
