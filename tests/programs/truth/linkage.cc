// SPDX-License-Identifier: Apache-2.0
// Inlined functions of every linkage. Their debug information names them differently: extern ones have a
// linkage name, static and extern "C" ones only a name inside scopes (and g++ spells the template argument
// "long unsigned int").
//
// chain: main;linkage::run;linkage::calls_static;linkage::static_inline_[i]
// chain: main;linkage::run;linkage::calls_extern;linkage::extern_inline_[i]
// chain: main;linkage::run;linkage::calls_extern_c;extern_c_inline_[i]
// chain: main;linkage::run;linkage::calls_anonymous;linkage::(anonymous namespace)::anonymous_inline_[i]
// chain: main;linkage::run;linkage::calls_static_template;linkage::static_template<unsigned long>_[i]
// chain: main;linkage::run;linkage::calls_extern_template;linkage::extern_template<unsigned long>_[i]
// chain: main;linkage::run;linkage::calls_member;linkage::Counter::member_inline_[i]
// chain: main;linkage::run;linkage::static_function

#include "phenomena.h"
#include "spin.h"

extern "C" INLINED void extern_c_inline() { SPIN(1); }

namespace linkage {

static INLINED void static_inline() { SPIN(1); }

INLINED void extern_inline() { SPIN(1); }

namespace {
INLINED void anonymous_inline() { SPIN(1); }
}  // namespace

template <typename Count>
static INLINED void static_template(Count units) {
  SPIN(units);
}

template <typename Count>
INLINED void extern_template(Count units) {
  SPIN(units);
}

struct Counter {
  int units;
  INLINED void member_inline() const { SPIN(units); }
};

KEEP void calls_static() { static_inline(); }
KEEP void calls_extern() { extern_inline(); }
KEEP void calls_extern_c() { extern_c_inline(); }
KEEP void calls_anonymous() { anonymous_inline(); }
KEEP void calls_static_template() { static_template(1ul); }
KEEP void calls_extern_template() { extern_template(1ul); }
KEEP void calls_member(const Counter& counter) { counter.member_inline(); }
KEEP static void static_function() { SPIN(1); }

KEEP void run(int units) {
  const Counter counter{1};
  for (int i = 0; i < units; i += 8) {
    calls_static();
    calls_extern();
    calls_extern_c();
    calls_anonymous();
    calls_static_template();
    calls_extern_template();
    calls_member(counter);
    static_function();
  }
}

}  // namespace linkage
