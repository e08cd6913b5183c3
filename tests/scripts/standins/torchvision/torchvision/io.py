"""What is imported from torchvision.io by name."""
