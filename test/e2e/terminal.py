"""Runs a program in a pseudo terminal of its own: `terminal.py JSON`, where JSON holds argv, cwd, env, and steps
of what to wait for and what to type then. Answers, in JSON, what the terminal showed, the exit code, and whether the
terminal is afterwards as it was before."""
import fcntl, json, os, pty, select, subprocess, sys, termios, time

told = json.loads(sys.argv[1])
master, slave = pty.openpty()
before = termios.tcgetattr(slave)


def own_terminal():
    os.setsid()
    fcntl.ioctl(slave, termios.TIOCSCTTY, 0)


child = subprocess.Popen(
    told["argv"], cwd=told["cwd"], env=told["env"], stdin=slave, stdout=slave, stderr=slave, preexec_fn=own_terminal
)
shown = b""
since = 0
steps = list(told["steps"])
end = time.time() + told["seconds"]
while time.time() < end:
    ready, _, _ = select.select([master], [], [], 0.05)
    if ready:
        shown += os.read(master, 65536)
    elif child.poll() is not None:
        break
    if steps and steps[0]["wait"].encode() in shown[since:]:
        since = len(shown)
        time.sleep(steps[0].get("pause", 0))
        os.write(master, steps.pop(0)["type"].encode())
else:
    child.kill()
after = termios.tcgetattr(slave)
print(json.dumps({
    "shown": shown.decode("utf8", "replace"),
    "code": child.wait(),
    "typed": len(steps) == 0,
    "echoes": bool(after[3] & termios.ECHO),
    "same": before == after,
}))
