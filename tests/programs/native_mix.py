# SPDX-License-Identifier: Apache-2.0
"""The interpreter's own C code at work: callbacks from C into Python and back, so that native frames of the
interpreter nest (sorted with a key, re.sub with a function, json with an object hook, recursive repr and
comparison). Usage: native_mix.py CPU_SECONDS; prints a checksum."""
import json
import re
import sys
import time


def nested(depth, width):
    return [nested(depth - 1, width) for _ in range(width)] if depth else list(range(width))


class Key:
    def __init__(self, text):
        self.text = text

    def __lt__(self, other):
        return min([self.text, other.text], key=len) < max(self.text, other.text)

    def __repr__(self):
        return f"Key({[self.text]!r})"


def sort_with_keys(words):
    return len(repr(sorted(map(Key, words))))


def substitute(text):
    return len(re.sub(r"([a-z]+)(\d+)", lambda match: re.sub("[aeiou]", lambda vowel: vowel.group().upper(), match.group()), text))


def decode(text):
    return len(json.loads(text, object_hook=lambda pairs: sorted(pairs.items(), key=lambda item: str(item[1]))))


def compare(one, other):
    return sum(one == other for _ in range(20))


def main():
    limit = float(sys.argv[1])
    words = [f"word{(n * 7919) % 1000}" for n in range(200)]
    text = " ".join(words)
    document = json.dumps([{word: {"size": len(word), "parts": list(word)}} for word in words])
    one, other = nested(5, 4), nested(5, 4)
    checksum = 0
    while time.process_time() < limit:
        checksum += sort_with_keys(words) + substitute(text) + decode(document) + compare(one, other)
        checksum += len(str(one))
    print("checksum:", checksum)


main()
