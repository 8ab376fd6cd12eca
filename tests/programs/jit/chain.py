import sys, time
def leaf(x):
    s = x
    for i in range(30): s = (s * 31 + i) & 0xffff
    return s
def small(x): return leaf(x + 1) + 1
def mid(x): return small(x) ^ 3
def outer(until):
    s = 0
    while time.time() < until:
        for i in range(200): s += mid(i)
    return s
outer(time.time() + float(sys.argv[1]))
