"""The bundle: one HDF5 format for orders and runs, read by our own strict reader; nothing here writes one."""
