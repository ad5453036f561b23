#!/usr/bin/python3
"""Messages against protobuf's own library, along the schemas in src/wire: all that programs of tests wrote, runs of each family among
them, and much of what they took, damaged messages among them, is read and written again as the same bytes, with nothing unknown.
Debian's interpreter, for its package python3-protobuf.

usage: protobuf_oracle.py PROGRAM...          each is linked with tests/support/wire_record.c
"""
import collections
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

SCHEMAS = pathlib.Path(os.environ["TACIT_SOURCE"]) / "src/wire"
PROGRAMS = sys.argv[1:]


def schema():
    """All schemas in one pool, as protoc describes them."""
    files = sorted(path.name for path in SCHEMAS.glob("*.proto"))
    with tempfile.NamedTemporaryFile() as out:
        subprocess.run(["protoc", f"--proto_path={SCHEMAS}", f"--descriptor_set_out={out.name}", *files], check=True)
        found = descriptor_pb2.FileDescriptorSet.FromString(pathlib.Path(out.name).read_bytes())
    pool = descriptor_pool.DescriptorPool()
    for file in found.file:
        pool.Add(file)
    return pool, [f"{file.package}.{message.name}" for file in found.file for message in file.message_type]


def record(program):
    """Lines of what it wrote and took, while its tests passed."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "record"
        subprocess.run([pathlib.Path(program).resolve()], check=True, env=os.environ | {"TACIT_WIRE_RECORD": str(path)}, cwd=folder,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        return set(path.read_text().splitlines()) if path.exists() else set()


class Protobuf(unittest.TestCase):
    def test_every_message_is_read_and_written_again_as_it_is(self):
        pool, names = schema()
        factory = message_factory.MessageFactory(pool)
        kinds = {name: factory.GetPrototype(pool.FindMessageTypeByName(name)) for name in names}
        seen = collections.Counter()
        for line in sorted(set().union(*map(record, PROGRAMS))):
            name, digits = line.split(" ")
            message = kinds[f"tacit.v2.{name}"]()
            message.ParseFromString(bytes.fromhex(digits))
            self.note(message, seen)
            self.assertEqual(message.SerializeToString(deterministic=True).hex(), digits, name)
        missing = sorted(name for name in names if seen[name] == 0)
        self.assertEqual(missing, [])
        self.assertGreater(sum(seen.values()), 10000)
        print(sum(seen.values()), "messages of", len(names), "kinds", file=sys.stderr)

    def note(self, message, seen):
        """It, and all that is in it."""
        seen[message.DESCRIPTOR.full_name] += 1
        self.assertEqual(len(message.UnknownFields()), 0)
        for field, value in message.ListFields():
            if field.message_type is not None:
                for part in value if field.label == field.LABEL_REPEATED else [value]:
                    self.note(part, seen)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
