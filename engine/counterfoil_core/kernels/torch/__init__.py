"""The same in torch's operators, for devices that no loop of ours reaches."""
