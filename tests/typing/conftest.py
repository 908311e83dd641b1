"""The programs here are checked, not run."""

collect_ignore_glob = ["ok_*.py", "bad_*.py"]
