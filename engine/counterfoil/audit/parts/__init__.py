"""Segments that others replay for an audit: processes of this machine, a cluster, or machines that write files.

A worker replays a segment from the state that the trainer stored before it, and says what each step came to. Only a
segment that came out right in every respect is taken from it. Whatever else a worker says, that a step differs, that it
failed, or nothing at all, is no more than a reason for the audit to replay that segment itself; so nobody is accused on
the word of a worker.
"""
