"""Inspect logs made for tests: archives of any compression, JSON files, and broken ones."""

import json
import struct
import zlib

import pyarrow as pa

STORED, DEFLATED, ZSTD = 0, 8, 93
IDS = ("a/1", 2, "ä 3", 4)


def header(*, ids=IDS, epochs=1, is_finished=True, **spec):
    """Return the header of a log; of a running one only what it begins with."""
    metrics = [{"name": "inspect_ai/accuracy", "options": {}}]
    scorers = [{"name": "match", "options": {}, "metrics": metrics}]
    document = {
        "version": 2,
        "eval": {
            "eval_id": "E1",
            "run_id": "R1",
            "created": "2026-03-01T10:00:00+02:00",
            "task": "capitals",
            "task_id": "T1",
            "task_version": 0,
            "task_args": {"hard": True},
            "dataset": {"name": "d", "samples": len(ids), "sample_ids": list(ids)},
            "model": "mockllm/model",
            "model_generate_config": {},
            "model_args": {},
            "config": {"epochs": epochs},
            "packages": {"inspect_ai": "0.3.285"},
            "revision": {"type": "git", "origin": "x", "commit": "abc123"},
            "scorers": scorers,
            **spec,
        },
        "plan": {
            "name": "plan",
            "steps": [{"solver": "generate", "params": {}}],
            "config": {"temperature": 0.5, "max_connections": 3},
        },
    }
    if is_finished:
        document |= {
            "status": "success",
            "results": {"total_samples": len(ids) * epochs, "completed_samples": len(ids) * epochs},
            "stats": {
                "started_at": "2026-03-01T10:00:01+02:00",
                "completed_at": "2026-03-01T10:05:00+02:00",
            },
        }
    return document


def sample(sample_id=2, epoch=1, **fields):
    """Return a sample, different for each id and epoch."""
    answer = f"Paris {sample_id} {epoch}"
    usage = {"input_tokens": 10, "output_tokens": 3, "total_tokens": 13}
    question = {"id": "m1", "role": "user", "content": f"Capital {sample_id}?", "source": "input"}
    reply = {"id": "m2", "role": "assistant", "content": answer, "model": "mockllm/model"}
    choice = {"message": reply, "stop_reason": "stop"}
    return {
        "id": sample_id,
        "epoch": epoch,
        "input": f"Capital {sample_id}?",
        "target": ["Paris"],
        "messages": [question, reply],
        "output": {"model": "m-2026", "choices": [choice], "completion": answer, "time": 0.5},
        "scores": {"match": {"value": "C", "answer": "Paris", "explanation": answer}},
        "metadata": {"level": 1},
        "store": {},
        "events": [
            {"event": "sample_init", "timestamp": "2026-03-01T10:00:02+02:00"},
            {
                "event": "model",
                "timestamp": "2026-03-01T10:00:03+02:00",
                "model": "mockllm/model",
                "output": {"time": 0.5},
            },
        ],
        "model_usage": {"mockllm/model": usage},
        "total_time": 1.25,
        "working_time": 1.0,
        "uuid": f"u{sample_id}-{epoch}",
        "attachments": {},
        **fields,
    }


def figures(*, value=1.0, n=4, **metrics):
    """Return the results of a header: the accuracy of `match`, and more metrics by name."""
    named = {"accuracy": value, **metrics}
    score = {
        "name": "match",
        "scorer": "match",
        "scored_samples": n,
        "unscored_samples": 0,
        "params": {},
        "metrics": {key: {"name": key, "value": each, "params": {}} for key, each in named.items()},
    }
    return {"total_samples": n, "completed_samples": n, "scores": [score]}


def members(head, samples):
    """Return the members of an archive, by name in their order."""
    start = {key: head[key] for key in ("version", "eval", "plan")}
    named = [("_journal/start.json", start)]
    named += [(f"samples/{s.get('id')}_epoch_{s.get('epoch')}.json", s) for s in samples]
    named += [("header.json", head)] if "status" in head else []
    return [(name, json.dumps(document).encode()) for name, document in named]


def write_eval(path, head, samples, codec=DEFLATED):
    """Write a log as an archive."""
    return write_zip(path, members(head, samples), codec)


def write_json(path, head, samples, **more):
    """Write a log as JSON."""
    path.write_text(json.dumps({**head, "samples": samples, **more}, indent=2, ensure_ascii=False))
    return path


def write_zip(path, named, codec=DEFLATED, changes=lambda _name: {}):
    """Write an archive; `changes` returns what a member's entry states wrongly."""
    data, directory = bytearray(), bytearray()
    for name, content in named:
        packed = _PACK[codec](content)
        entry = {
            "codec": codec,
            "crc": zlib.crc32(content),
            "packed": len(packed),
            "size": len(content),
            "offset": len(data),
            "flags": 0x800,
            **changes(name),
        }
        numbers = (
            [entry[key] for key in ("flags", "codec")],
            [entry[key] for key in ("crc", "packed", "size")],
        )
        raw = name.encode()
        data += struct.pack(
            "<4s3H2H3I2H", b"PK\3\4", 20, *numbers[0], 0, 0, *numbers[1], len(raw), 0
        )
        data += raw + packed
        directory += struct.pack(
            "<4s4H2H3I5H2I", b"PK\1\2", 20, 20, *numbers[0], 0, 0, *numbers[1], len(raw),
            0, 0, 0, 0, 0, entry["offset"],
        ) + raw  # fmt: skip
    end = struct.pack(
        "<4s4H2IH", b"PK\5\6", 0, 0, len(named), len(named), len(directory), len(data), 0
    )
    path.write_bytes(bytes(data + directory + end))
    return path


def _deflated(content):
    packer = zlib.compressobj(wbits=-15)
    return packer.compress(content) + packer.flush()


def _zstd(content):
    half = len(content) // 2
    codec = pa.Codec("zstd")
    # Two frames, as a writer that flushes in between makes them.
    return b"".join(bytes(codec.compress(part)) for part in (content[:half], content[half:]))


_PACK = {STORED: bytes, DEFLATED: _deflated, ZSTD: _zstd}
