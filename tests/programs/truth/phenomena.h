// SPDX-License-Identifier: Apache-2.0
#pragma once

// Each spends about `units` x 100 us of CPU time in the chains its own file lists.
namespace plain {
void run(int units);
}
namespace inlined {
void run(int units);
}
namespace two_parents {
void run(int units);
}
namespace linkage {
void run(int units);
}
namespace recursion {
void run(int units);
}
namespace tail_call {
void run(int units);
}
namespace alloca_frame {
void run(int units);
}
namespace cold_part {
void run(int units);
}
namespace qsort_callback {
void run(int units);
}
namespace sort_comparator {
void run(int units);
}
namespace exception {
void run(int units);
}
namespace signal_frame {
void run(int units);
}
namespace vdso {
void run(int units);
}
namespace second_thread {
void run(int units);
// What PaintedStack measured on the second thread, in bytes.
unsigned long deepest_stack();
}  // namespace second_thread
