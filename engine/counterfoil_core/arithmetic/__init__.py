"""The arithmetic of the profiles: what a step computes, how it is rounded or defined, and what the log says of it."""
