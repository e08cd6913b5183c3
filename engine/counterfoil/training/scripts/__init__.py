"""Training scripts as they are: run on the client's machine up to where their training begins, which is ordered."""
