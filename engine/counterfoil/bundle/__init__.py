"""The bundle: one HDF5 format for orders and runs, with its guard, reader and writer."""
