#include <time.h>
static inline __attribute__((always_inline)) unsigned leaf(unsigned x) { for (int i = 0; i < 50; i++) x = x * 1664525 + 1013904223; return x; }
static inline __attribute__((always_inline)) unsigned small_(unsigned x) { return leaf(x) ^ 17; }
static inline __attribute__((always_inline)) unsigned hot(unsigned x) { unsigned s = 0; for (int i = 0; i < 20; i++) s += small_(x + i); return s; }
__attribute__((noinline)) unsigned mid(unsigned x) { return hot(x) + 1; }
__attribute__((noinline)) unsigned outer(unsigned n) { unsigned s = 0; for (unsigned i = 0; i < n; i++) s += mid(i); return s; }
int main(int argc, char **argv) { volatile unsigned s = 0; time_t end = time(0) + 4; while (time(0) < end) s += outer(1000 + (s & 7)); return 0; }
