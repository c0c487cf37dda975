"""Measuring code of `build.py bench`: plain scripts that a worker process serves one timing at a time."""
