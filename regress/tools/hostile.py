#!/usr/bin/python3 -I
"""Takes the place of one of sbxd's processes and misbehaves.  test_ipc.py
puts it there, with a file beside it that says how:

    {"role": the process that this one stands for,
     "types": {name: number},       of common/msg.h
     "when": "boot" | "ready" | "start",
     "where": "parent" | "spawner" | "reporter" | "frontend",
     "send": [[type, payload in hex, {"len", "nfds", "fds", "times"}], ...],
     "then": "wait" | "read" | "exit" | "kill" | "close"}

It behaves until the moment named, then sends what it was told to send, and
then waits for its end without reading, goes on reading, or goes.
"""

import array
import json
import os
import signal
import socket
import struct
import sys
import time

PROCS = ("parent", "frontend", "spawner", "reporter")
HEADER = "=IIII"


class Hostile:
    def __init__(self, plan):
        self.plan = plan
        self.types = plan["types"]
        self.names = {v: k for k, v in self.types.items()}
        self.channels = {"parent": socket.socket(fileno=3)}
        self.channels["parent"].setblocking(True)
        self.kept = []

    def receive(self):
        """The name of the next message; peers are kept."""
        try:
            data, fds, _, _ = socket.recv_fds(self.channels["parent"], 65536,
                                              8)
        except ConnectionResetError:
            data = b""
        if not data:
            sys.exit(0)
        kind = self.names[struct.unpack_from(HEADER, data)[0]]
        if kind == "MSG_PEER":
            name = PROCS[struct.unpack_from("=I", data, 16)[0]]
            self.channels[name] = socket.socket(fileno=fds[0])
            self.channels[name].setblocking(True)
        else:
            self.kept += fds
        return kind

    def until(self, kind):
        while self.receive() != kind:
            pass

    def send(self, channel, kind, payload=b"", options=None):
        options = options or {}
        fds = [0] * options.get("fds", 0)
        number = self.types[kind] if kind in self.types else int(kind)
        data = struct.pack(HEADER, number,
                           options.get("len", len(payload)), 0x77,
                           options.get("nfds", len(fds))) + payload
        if options.get("raw"):
            data = payload
        ancillary = [(socket.SOL_SOCKET, socket.SCM_RIGHTS,
                      array.array("i", fds))] if fds else []
        for _ in range(options.get("times", 1)):
            self.channels[channel].sendmsg([data], ancillary)

    def behave(self):
        """As the real one, up to the moment."""
        when = self.plan["when"]
        self.until("MSG_BOOT")
        if when == "boot":
            return
        self.until("MSG_CONF_END")
        if when == "ready":
            return
        self.send("parent", "MSG_READY",
                  struct.pack("=IIIH", 0, 0, 0, 5) + b"stdio")
        self.until("MSG_START")

    def go(self):
        then = self.plan["then"]
        if then == "exit":
            os._exit(3)
        if then == "kill":
            os.kill(os.getpid(), signal.SIGTERM)
        if then == "close":
            for channel in self.channels.values():
                channel.close()
            time.sleep(60)
        if then == "wait":
            time.sleep(60)
        while True:
            self.receive()

    def run(self):
        self.behave()
        try:
            for kind, payload, *options in self.plan["send"]:
                self.send(self.plan["where"], kind, bytes.fromhex(payload),
                          *options)
        except (BrokenPipeError, ConnectionResetError):
            pass
        self.go()


def main():
    plan = os.path.join(os.path.dirname(os.path.abspath(sys.argv[0])), "plan")
    with open(plan) as f:
        Hostile(json.load(f)).run()


if __name__ == "__main__":
    main()
