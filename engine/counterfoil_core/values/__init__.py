"""What an audit asks and says, as plain values: neither torch nor HDF5 nor cryptography is loaded for them."""
