"""Processes that run programs, and one that watches them: an abort or a hang of theirs is a finding."""

import multiprocessing
import multiprocessing.connection
import time
import traceback

SECONDS_TO_SHRINK = 90.0


def one(options, number) -> dict:
    """What is to be told of one program."""
    from tests.fuzz import check, generate, shrink
    from tests.fuzz.helpers import Unfit
    from tests.fuzz.programs import steps_of

    program = generate.program(options.seed, number, options.bits, options.values, options.most)
    told = {"number": number, "operations": sum(1 for _ in steps_of(program)), "jax": None}
    with_jax = options.jax and check.has_jax()
    try:
        found = check.compare(program, with_jax)
    except Unfit as e:
        return {**told, "unfit": str(e)}
    if with_jax:
        refused = [f for f in found if f.what == "refused"]
        found = [f for f in found if f.what != "refused"]
        told["jax"] = refused[0].message if refused else "compared"
    if found:
        if not options.no_shrink:
            program = shrink.shrunk(program, found[0].signature, with_jax, SECONDS_TO_SHRINK)
            found = [f for f in check.compare(program, with_jax) if f.what != "refused"] or found
        told["failure"] = _failure(
            number, found[0].what, found[0].between, check.script(program, found)
        )
    return told


def _failure(number, what, between, script):
    return {"number": number, "what": what, "between": between, "script": script}


# Processes


def _settings(options):
    import xcore as xc

    if options.hasty:
        xc.config.update("disable_most_optimizations", True)


def _work(options, pipe):
    _settings(options)
    while (number := pipe.recv()) is not None:
        try:
            told = one(options, number)
        except Exception:
            told = {"number": number, "operations": 0, "jax": None}
            told["failure"] = _failure(number, "fuzzer", "itself", traceback.format_exc())
        pipe.send(told)
        if number % 200 == 199:
            _forget()


def _forget():
    import xcore as xc

    xc.clear_caches()


class _Worker:
    def __init__(self, options):
        context = multiprocessing.get_context("spawn")
        self.pipe, theirs = context.Pipe()
        self.process = context.Process(target=_work, args=(options, theirs), daemon=True)
        self.process.start()
        theirs.close()
        self.number, self.since = None, 0.0

    def give(self, number):
        self.number, self.since = number, time.monotonic()
        self.pipe.send(number)

    def lost(self, timeout):
        """Why nothing more is to be expected, if so."""
        if not self.process.is_alive():
            return f"the process ended with {self.process.exitcode}"
        if time.monotonic() - self.since > timeout + SECONDS_TO_SHRINK:
            self.process.kill()
            return f"not done after {timeout} s"
        return None


def run(options, told) -> dict:
    """All programs of the options, by as many processes as they say."""
    summary = {
        "options": vars(options), "programs": 0, "operations": 0, "unfit": 0,
        "compared with jax": 0, "refused by jax": 0, "failures": [], "refusals": {},
    }  # fmt: skip
    results = _in_process(options) if options.jobs <= 1 else _in_workers(options)
    for result in results:
        _count(summary, result, told)
    return summary


def _count(summary, result, told):
    summary["programs"] += 1
    summary["operations"] += result["operations"]
    summary["unfit"] += "unfit" in result
    if result["jax"] == "compared":
        summary["compared with jax"] += 1
    elif result["jax"]:
        summary["refused by jax"] += 1
        reason = result["jax"][:80]
        summary["refusals"][reason] = summary["refusals"].get(reason, 0) + 1
    if "failure" in result:
        summary["failures"].append(result["failure"])
        told(result["failure"])


def _numbers(options):
    end = time.monotonic() + 60 * options.minutes if options.minutes else float("inf")
    for number in range(options.first, options.first + options.count):
        if time.monotonic() > end:
            return
        yield number


def _in_process(options):
    _settings(options)
    for number in _numbers(options):
        try:
            yield one(options, number)
        except Exception:
            failure = _failure(number, "fuzzer", "itself", traceback.format_exc())
            yield {"number": number, "operations": 0, "jax": None, "failure": failure}
        if number % 200 == 199:
            _forget()


def _in_workers(options):
    numbers = _numbers(options)
    workers = []
    for number in [n for _, n in zip(range(options.jobs), numbers)]:
        workers.append(_Worker(options))
        workers[-1].give(number)
    while workers:
        multiprocessing.connection.wait([w.pipe for w in workers], timeout=1.0)
        for k, worker in enumerate(workers):
            result = _result(worker, options)
            if result is None:
                continue
            if worker.process.is_alive() and "lost" not in result:
                workers[k] = _next(worker, numbers)
            else:
                workers[k] = _next(_Worker(options), numbers)
            yield result
        workers = [w for w in workers if w is not None]


def _next(worker, numbers):
    """The worker with another program to run; None if there is none."""
    number = next(numbers, None)
    if number is None:
        worker.pipe.send(None)
        worker.process.join(5)
        return None
    worker.give(number)
    return worker


def _result(worker, options):
    try:
        if worker.pipe.poll():
            return worker.pipe.recv()
    except (EOFError, OSError):  # its end of the pipe is closed: it is gone
        worker.process.join(5)
    why = worker.lost(options.timeout)
    if why is None:
        return None
    command = f"python -m tests.fuzz --seed {options.seed} --first {worker.number} --count 1 --bits {options.bits}"
    failure = _failure(worker.number, "process", "itself", f"# {why}\n# {command}")
    return {"number": worker.number, "operations": 0, "jax": None, "lost": True, "failure": failure}
