"""A strict reader of the HDF5 that Counterfoil writes, from the HDF5 File Format Specification 3.0.

No library reads a stranger's file: libhdf5 wrote outside its memory for one wrong byte (ADR 10).

``checksum`` computes lookup3; ``format`` parses superblocks and object headers, ``dense`` the structures of groups of
many members, both from bytes alone; ``walk`` follows a file from its root and lists what it holds; ``source`` is the
only module that touches the file.
"""
